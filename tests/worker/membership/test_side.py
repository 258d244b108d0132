"""Effects of the network settings on a node: proxy, local network, seed list; and none of them in silo."""

import asyncio
import contextlib
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace

import msgspec
import psutil
import pytest

from sapo_desktop.core.errors import IdentityError, KeyringClosed, UsageError
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.why import Training
from sapo_desktop.swarm.clock import Now
from sapo_desktop.swarm.link import Link
from sapo_desktop.swarm.protocol.envelope import StatsBody
from sapo_desktop.swarm.protocol.messages import Stats
from sapo_desktop.swarm.sockets.certificate import self_signed
from sapo_desktop.swarm.trust import claims
from sapo_desktop.system.identity import Identity
from sapo_desktop.worker.control.messages.requests import GetStatus, SetSettings
from sapo_desktop.worker.governor import Decision
from sapo_desktop.worker.membership import settings as swarm_settings
from sapo_desktop.worker.membership import side as side_module
from sapo_desktop.worker.membership.entering import begin_with_seeds, look_on_lan
from sapo_desktop.worker.membership.joining import PUBLIC_SWARM, Joined
from sapo_desktop.worker.membership.settings import check, place_on_lan
from sapo_desktop.worker.membership.side import SwarmSide
from sapo_desktop.worker.membership.view import SHOWN_ON_LAN
from tests.swarm.sockets.nodes import until
from tests.worker.control.handlers.test_requests import requests, side_of
from tests.worker.membership.test_joining import Seat
from tests.worker.test_node import SETTINGS, Scene

SECRET = "s3cret"
PROXY = f"socks5h://volunteer:{SECRET}@127.0.0.1:9"


def decided(**changes: object) -> Decision:
    return msgspec.convert({"state": "working", "why": Training(round=1), "threads": 1} | changes, Decision)


def sockets() -> int:
    return len(psutil.Process().net_connections("inet"))


def side_that_enters(folder: Path, monkeypatch: pytest.MonkeyPatch, *, listens: bool = False) -> SwarmSide:
    """One whose membership is that of a seat."""
    side = side_of(folder, Scene(folder, SETTINGS, 1e9))

    async def enter(settings: Settings, stack: contextlib.AsyncExitStack) -> Joined:
        joined = Seat(folder / "seat", 1, skill=1).joined
        stack.push_async_callback(joined.close)
        if listens:
            await joined.listen("127.0.0.1", 0, self_signed(folder))
        return joined

    monkeypatch.setattr(side, "_enter", enter)
    return side


async def test_in_silo_nothing_of_it_has_a_socket(tmp_path: Path) -> None:
    settings = Settings(silo=True, lan=True, listen="127.0.0.1:0", proxy=PROXY)
    before = sockets()
    side = side_of(tmp_path, Scene(tmp_path, SETTINGS, 1e9))
    await side.follow(settings)
    assert side.info().state == "silo" and sockets() == before
    await side.close()


async def test_silo_closes_what_was_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = sockets()
    side = side_that_enters(tmp_path, monkeypatch, listens=True)
    await side.follow(Settings(silo=False))
    await until(lambda: side.member)
    assert sockets() == before + 1
    await side.follow(Settings(silo=True))
    assert side.member is None and sockets() == before


async def test_the_announced_address_is_shown_as_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    side = side_that_enters(tmp_path, monkeypatch)
    monkeypatch.setattr(side, "_address", "wss://0.0.0.0:8765")
    await side.follow(Settings(silo=False, listen="0.0.0.0:8765", announce="wss://192.168.1.7:8765"))
    await until(lambda: side.member)
    assert side.info().address.startswith("wss://192.168.1.7:8765#"), "nobody can dial all addresses of a computer"
    await side.close()


async def test_caps_of_traffic_hold_at_once_without_joining_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    side = side_that_enters(tmp_path, monkeypatch)
    await side.follow(Settings(silo=False))
    await until(lambda: side.member)
    network = side.network
    assert network is not None and (network.upload.rate, network.download.rate) == (0, 0)
    await side.obey(decided(upload=50, download=70))
    assert side.network is network and (network.upload.rate, network.download.rate) == (50_000, 70_000)
    await side.follow(Settings(silo=False, label="other"))
    assert (network.upload.rate, network.download.rate) == (50_000, 70_000), "another setting lifts no cap"
    await side.close()


async def test_a_metered_link_is_left_alone_and_taken_up_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    side = side_of(tmp_path, Scene(tmp_path, SETTINGS, 1e9))
    joined: list[Settings] = []

    async def take_part(settings: Settings) -> None:
        joined.append(settings)

    monkeypatch.setattr(side, "_take_part", take_part)
    await side.obey(decided(network=False))
    await side.follow(Settings(silo=False))
    await asyncio.sleep(0)
    assert not joined and "metered" in str(side.reason)
    await side.obey(decided(network=True))
    await asyncio.sleep(0)
    assert len(joined) == 1


async def test_what_keeps_it_out_says_its_commands_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    side = side_of(tmp_path, Scene(tmp_path, SETTINGS, 1e9))

    async def refused(*_: object) -> Joined:
        raise IdentityError("There is no {name}. Make one.", in_terminal="sapo-desktop identity new", name="key")

    monkeypatch.setattr(side, "_enter", refused)
    await side.follow(Settings(silo=False))
    await until(lambda: str(side.reason).startswith("The swarm"))
    assert str(side.reason) == (
        "The swarm cannot be joined: There is no key. Make one. Training continues alone. In a terminal: sapo-desktop "
        "identity new"
    )
    await side.close()


@pytest.mark.parametrize("answered", [True, False])
async def test_while_the_keyring_waits_for_its_password_the_reason_is_shown_and_then_it_tries_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answered: bool
) -> None:
    side = side_of(tmp_path, Scene(tmp_path, SETTINGS, 1e9))
    question, asked = Future[object](), 0

    async def identify() -> Identity:
        nonlocal asked
        asked += 1
        raise KeyringClosed("It waits for its password.") if asked == 1 else IdentityError("There is no key.")

    monkeypatch.setattr(side.identity, "identify", identify)
    monkeypatch.setattr(side_module, "late_call", lambda: None if question.done() else question)
    await side.follow(Settings(silo=False))
    await until(lambda: "once the keyring is unlocked" in str(side.reason))
    assert side.info().state == "failed" and "It waits for its password." in str(side.reason)
    if answered:
        question.set_result(None)
    else:
        question.set_exception(OSError("dismissed"))
    await until(lambda: "cannot be joined" in str(side.reason))
    assert asked == (2 if answered else 1), "who turned the question down is not asked again"
    await side.close()


@pytest.mark.parametrize("listens", ["127.0.0.1:0", ""], ids=["listening", "without a port of their own"])
async def test_neighbours_find_each_other_and_go_silent_when_they_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listens: str
) -> None:
    monkeypatch.setattr(swarm_settings, "home_addresses", lambda: ["127.0.0.1"])
    said: list[str] = []
    before = sockets()
    seats = [Seat(tmp_path / str(n), n, skill=1) for n in (1, 2)]
    async with contextlib.AsyncExitStack() as stack:
        for seat in seats:
            joined, folder, port = seat.joined, seat.folder, 0
            if listens:
                port = (await joined.listen("127.0.0.1", 0, self_signed(folder))).port
            await look_on_lan(joined, listens, port, folder, lambda level, text: said.append(text), stack)
        running = [asyncio.create_task(seat.joined.links.run()) for seat in seats]
        for seat in seats:
            await until(lambda seat=seat: any(link.key for link in seat.joined.network.exchange.links))  # type: ignore[misc]
        for task in running:
            task.cancel()
        assert said == [SHOWN_ON_LAN] * 2
    await asyncio.gather(*(seat.joined.close() for seat in seats))
    await asyncio.sleep(0)
    assert sockets() == before


@pytest.mark.parametrize(
    ("listen", "place"),
    [
        ("", (["10.0.0.7"], None)),
        ("0.0.0.0:8765", (["10.0.0.7"], 8765)),
        ("10.0.0.7:8765", (["10.0.0.7"], 8765)),
        ("127.0.0.1:8765", (["127.0.0.1"], 8765)),
        ("[::]:8765", (["10.0.0.7"], None)),
        ("[fd00::1]:8765", (["10.0.0.7"], None)),
        ("8.8.8.8:8765", (["10.0.0.7"], None)),
        ("node.example:8765", (["10.0.0.7"], None)),
    ],
)
def test_where_a_node_is_shown(
    monkeypatch: pytest.MonkeyPatch, listen: str, place: tuple[list[str], int | None]
) -> None:
    monkeypatch.setattr(swarm_settings, "home_addresses", lambda: ["10.0.0.7"])
    assert place_on_lan(listen, 8765) == place


async def test_the_seed_list_is_of_the_public_swarm(tmp_path: Path) -> None:
    path = tmp_path / "seeds.txt"
    path.write_text(f"wss://relay.example:8765#{'ab' * 32}\n")
    seat = Seat(tmp_path / "seat", 1, skill=1)
    assert seat.joined.network_id == PUBLIC_SWARM
    begin_with_seeds(seat.joined, path)
    assert len(seat.joined.links._book) == 1
    await seat.joined.close()


@pytest.mark.parametrize("proxy", [f"https://u:{SECRET}@h:1", f"u:{SECRET}@h:1", f"socks5h://:{SECRET}@h:1"])
def test_a_proxy_that_cannot_be_used_is_refused_without_its_login(proxy: str) -> None:
    with pytest.raises(UsageError, match="proxy") as refused:
        check(Settings(proxy=proxy))
    assert SECRET not in str(refused.value)


async def test_neither_status_nor_log_tells_the_login(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    it, served = requests(tmp_path)
    await served.handle(SetSettings(values={"proxy": PROXY}))
    assert it.node.settings.proxy == PROXY
    with pytest.raises(UsageError) as refused:
        await served.handle(SetSettings(values={"proxy": PROXY + "/path"}))
    status = msgspec.json.encode(await served.handle(GetStatus()))
    assert SECRET not in str(refused.value) + status.decode()
    assert SECRET not in caplog.text


async def test_what_peers_say_they_used_is_counted_and_kept(tmp_path: Path) -> None:
    scene = Scene(tmp_path, SETTINGS, 1e9)
    side = side_of(tmp_path, scene)
    side._lasting = scene.keeper.lasting
    link = Link(None, b"", key=b"k" * 32)  # type: ignore[arg-type]
    claimed = iter((2, 5, 5))

    def heard(link: Link, event: object) -> None:
        link.claim = StatsBody(network=b"n" * 32, key=link.key, time=1, used=next(claimed))

    joined = SimpleNamespace(links=SimpleNamespace(heard=heard))
    for _ in range(3):
        side._heard(joined, link, Stats(envelope=b""))  # type: ignore[arg-type]
    assert scene.keeper.lasting.used == 3
    scene.keeper.lasting.keep()
    await scene.keeper.call(lambda: None)  # whatever it had to keep is kept
    assert scene.keeper.history.claims() == {"6b" * 32: 5}


async def test_nothing_is_claimed_of_a_round_before_one_has_ended_here(tmp_path: Path) -> None:
    scene = Scene(tmp_path, SETTINGS, 1e9)
    side = side_of(tmp_path, scene)
    side._settings = SETTINGS
    claimed: list[claims.About] = []
    joined = SimpleNamespace(member=SimpleNamespace(sharing=True), tell_claims=lambda about, at: claimed.append(about))
    progress: list[tuple[int, float | None]] = [(14, None), (15, 0.25)]  # a node that continued, then its first round
    side._progress = lambda: progress.pop(0)
    side._tell_claims(joined, Now(0.0, 0.0))  # type: ignore[arg-type]
    assert claimed == []
    side._tell_claims(joined, Now(1.0, 1.0))  # type: ignore[arg-type]
    assert [(about.round, about.reward) for about in claimed] == [(15, 0.25)]

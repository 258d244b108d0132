"""A private swarm as its people see it: founding, admitting, joining by link, and rounds over websockets."""

import asyncio
import time
from pathlib import Path

import msgspec
import pytest

from sapo_desktop.core.errors import KeyringClosed, PassphraseNeeded, UsageError
from sapo_desktop.core.link.requests import Request
from sapo_desktop.core.network.invite import Invite
from sapo_desktop.core.settings import Settings
from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.protocol.handshake import Me
from sapo_desktop.swarm.protocol.refusals import Reason
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.swarm.sockets import network
from sapo_desktop.swarm.sockets.certificate import self_signed
from sapo_desktop.swarm.trust.admission import Members, admit, network_of
from sapo_desktop.swarm.trust.rotation import old_key
from sapo_desktop.system import identity
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.secrets import system_keyring
from sapo_desktop.worker.control.handlers.requests import Requests
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.replies import IdentityIs, InviteIs
from sapo_desktop.worker.control.messages.requests import (
    AdmitPeer,
    ChangeIdentity,
    CreateSwarm,
    GetIdentity,
    GetInvite,
    JoinSwarm,
    ResetSettings,
    SetSettings,
    SetSilo,
)
from sapo_desktop.worker.membership import asking as asking_module
from sapo_desktop.worker.membership.joining import PUBLIC_SWARM
from sapo_desktop.worker.membership.private import admission_link, invite, joined, members_of, own_address
from sapo_desktop.worker.membership.settings import rejoins
from tests.swarm.sockets.nodes import until
from tests.system.test_identity import Memory, in_memory
from tests.worker.control.handlers.test_requests import requests
from tests.worker.membership.test_joining import Seat

FOUNDER, ALICE, BOB = Signer(b"F" * 32), Signer(b"a" * 32), Signer(b"b" * 32)
SWARM = FOUNDER.key.hex()
NOW = 1_700_000_000.0
AT_HOME = Settings(swarm=SWARM, announce="wss://relay.example:8765")
ADMITTED = admit(FOUNDER, ALICE.key).hex()


# -- what the settings become --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("admission", "why"),
    [
        ("", "no admission"),
        (admit(FOUNDER, BOB.key).hex(), "for another key"),
        (admit(ALICE, ALICE.key).hex(), "another swarm"),
        (admit(FOUNDER, ALICE.key, int(NOW)).hex(), "has ended"),
    ],
    ids=["none", "another's", "another swarm's", "ended"],
)
def test_who_is_not_admitted_is_shown_the_key_to_be_admitted(admission: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as refused:
        members_of(SWARM, admission, ALICE.key, NOW)
    assert ALICE.key.hex() in str(refused.value) and "peers admit KEY" in str(refused.value)
    link = Invite(SWARM, ("wss://a.example:8765",), admission)
    if admission:
        with pytest.raises(UsageError, match=why):
            joined(Settings(), link, ALICE.key, NOW)
    else:
        assert joined(Settings(), link, ALICE.key, NOW)["admission"] == ""


def test_days_end_the_admission() -> None:
    link = admission_link(AT_HOME, FOUNDER, BOB.key, ALICE.key.hex(), 2, NOW)
    assert Members(FOUNDER.key).check(ALICE.key, bytes.fromhex(link.admission), NOW) == NOW + 2 * 86400


@pytest.mark.parametrize(
    ("settings", "key", "why"),
    [
        (AT_HOME, "hello", "64 hex digits"),
        (AT_HOME, "ab" * 31, "64 hex digits"),
        (Settings(announce=AT_HOME.announce), ALICE.key.hex(), "not in the swarm that it founded"),
        (Settings(swarm=SWARM), ALICE.key.hex(), "needs an address"),
        (Settings(swarm=SWARM, listen="0.0.0.0:8765"), ALICE.key.hex(), "needs an address"),
        (Settings(swarm=SWARM, listen="[::]:8765"), ALICE.key.hex(), "needs an address"),
        (Settings(swarm=SWARM, listen="192.168.1.5:0"), ALICE.key.hex(), "needs an address"),
    ],
)
def test_what_keeps_one_from_admitting(settings: Settings, key: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        admission_link(settings, FOUNDER, BOB.key, key, 0, NOW)


def test_an_invite_names_where_we_are_and_whom_we_keep_to() -> None:
    settings = msgspec.structs.replace(AT_HOME, announce="", listen="[2001:db8::1]:8765", peers="wss://a.example:8765")
    own = f"wss://[2001:db8::1]:8765#{BOB.key.hex()}"
    assert invite(settings, BOB.key) == Invite(SWARM, (own, "wss://a.example:8765"))
    assert str(own_address(settings, BOB.key)) == own
    with pytest.raises(UsageError, match="public swarm"):
        invite(Settings(), BOB.key)


def test_joining_another_swarm_gives_the_addresses_of_the_first_up() -> None:
    """They would be dialled for nothing, and see where we went."""
    link = Invite(SWARM, ("wss://a.example:8765", "wss://b.example:8766"), ADMITTED)
    before = Settings(peers="wss://public.example:1")
    assert joined(before, link, ALICE.key, NOW)["peers"] == "wss://a.example:8765, wss://b.example:8766"
    same = Settings(swarm=SWARM, admission=ADMITTED, peers="wss://mine.example:8767 wss://a.example:8765")
    assert joined(same, Invite(SWARM, link.peers), ALICE.key, NOW) == {
        "swarm": SWARM,
        "admission": ADMITTED,
        "peers": "wss://mine.example:8767, wss://a.example:8765, wss://b.example:8766",
        "invited": "wss://b.example:8766",
    }, "what was typed before stays so"


def test_an_invite_to_this_computer_or_a_local_network_asks_first() -> None:
    link = Invite(SWARM, ("wss://a.example:8765", "wss://169.254.169.254:8765"), ADMITTED)
    with pytest.raises(UsageError, match=r"leads to wss://169\.254\.169\.254:8765.*peers join --nearby"):
        joined(Settings(), link, ALICE.key, NOW)
    values = joined(Settings(), link, ALICE.key, NOW, nearby=True)
    assert values["peers"] == "wss://a.example:8765, wss://169.254.169.254:8765"
    assert values["invited"] == "wss://a.example:8765", "a name that is public to check must lead there"


def test_an_address_that_cannot_be_dialled_is_refused() -> None:
    with pytest.raises(UsageError, match="Write an address like"):
        joined(Settings(), Invite(SWARM, ("javascript:alert(1)",)), ALICE.key, NOW)


def test_another_swarm_or_admission_means_joining_again() -> None:
    for change in ({"swarm": SWARM}, {"admission": ADMITTED}):
        assert rejoins(Settings(), msgspec.structs.replace(Settings(), **change))
    assert not rejoins(AT_HOME, AT_HOME)


# -- what is asked of a node ---------------------------------------------------------------------------------


ring = pytest.fixture(in_memory)


def node(folder: Path) -> Requests:
    DataFolder.open(folder)
    return requests(folder)[1]


async def identity_of(served: Requests, request: Request) -> IdentityIs:
    reply = await served.handle(request)
    assert isinstance(reply, IdentityIs)
    return reply


async def link_of(served: Requests, request: Request) -> str:
    reply = await served.handle(request)
    assert isinstance(reply, InviteIs)
    return reply.link


async def test_a_swarm_is_founded_and_a_newcomer_let_in_by_link(tmp_path: Path, ring: Memory) -> None:
    founder, newcomer = node(tmp_path / "founder"), node(tmp_path / "newcomer")
    reply = await founder.handle(CreateSwarm())
    swarm = founder.settings.swarm
    assert isinstance(reply, Ok) and swarm in str(reply.text) and "in silo" in str(reply.text)
    assert any(name.endswith(" admission key") for _, name in ring.kept)
    await founder.handle(SetSettings(values={"announce": "wss://relay.example:8765"}))

    reply = await newcomer.handle(JoinSwarm(link=await link_of(founder, GetInvite())))
    shown = await identity_of(newcomer, GetIdentity())
    assert isinstance(reply, Ok)
    assert f"It asks the founder to admit it. Tell the founder its key: {shown.key[:16]}" in str(reply.text)
    assert (newcomer.settings.swarm, newcomer.settings.admission) == (swarm, "")

    reply = await newcomer.handle(JoinSwarm(link=await link_of(founder, AdmitPeer(key=shown.key))))
    assert isinstance(reply, Ok) and "peers admit" not in str(reply.text)
    settings = newcomer.settings
    assert members_of(settings.swarm, settings.admission, bytes.fromhex(shown.key), time.time()) is not None

    with pytest.raises(UsageError, match="This node did not found a private swarm"):
        await newcomer.handle(AdmitPeer(key=shown.key))
    before = newcomer.settings
    other = await link_of(founder, AdmitPeer(key="ab" * 32))
    with pytest.raises(UsageError, match="for another key"):
        await newcomer.handle(JoinSwarm(link=other))
    assert newcomer.settings == before


async def test_founding_twice_goes_back_to_the_swarm_that_is_there(tmp_path: Path, ring: Memory) -> None:
    founder = node(tmp_path)
    await founder.handle(CreateSwarm())
    first = founder.settings
    await founder.handle(ResetSettings(keys=["swarm", "admission"]))
    assert founder.settings.swarm == ""
    await founder.handle(CreateSwarm())
    assert (founder.settings.swarm, founder.settings.admission) == (first.swarm, first.admission)


async def test_without_keyring_a_passphrase_it_is(
    tmp_path: Path, ring: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system_keyring, "SEALED", ())
    founder = node(tmp_path)
    with pytest.raises(PassphraseNeeded, match="no keyring"):
        await founder.handle(CreateSwarm())
    assert founder.settings.swarm == ""
    await founder.handle(CreateSwarm(passphrase="correct horse"))
    file = tmp_path / "control" / "admission-key"
    assert file.is_file() and ring.kept == {}
    await founder.handle(SetSettings(values={"announce": "wss://relay.example:8765"}))
    with pytest.raises(PassphraseNeeded, match="admission key"):
        await founder.handle(AdmitPeer(key="ab" * 32))
    link = await link_of(founder, AdmitPeer(key="ab" * 32, passphrase="correct horse"))
    assert Invite.parse(link).swarm == founder.settings.swarm


async def test_what_cannot_be_kept_is_not_made(tmp_path: Path, ring: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    one = node(tmp_path / "one")
    assert await one.handle(GetIdentity()) == IdentityIs(key="", kept="")
    made = await identity_of(one, GetIdentity(create=True))
    assert (made.kept, made.created) == ("keyring", True)
    assert await one.handle(GetIdentity(create=True)) == msgspec.structs.replace(made, created=False)
    monkeypatch.setattr(system_keyring, "SEALED", ())
    two = node(tmp_path / "two")
    assert await two.handle(GetIdentity(create=True)) == IdentityIs(key="", kept="")


async def test_a_node_that_is_not_admitted_asks_and_joins_nobody(
    tmp_path: Path, ring: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    async def nobody(me: Me, address: Address, label: str, *, proxy: str, named_by_stranger: bool) -> None:
        asked.append(f"{address.host} {named_by_stranger}")

    monkeypatch.setattr(asking_module, "ask_to_join", nobody)
    served = node(tmp_path)
    await served.handle(JoinSwarm(link=str(Invite(SWARM, ("wss://a.example:8765",)))))
    await served.handle(SetSilo(on=False))
    side = served._side
    await until(lambda: side.info().state == "failed")
    assert "nobody who can admit this node answers now" in str(side.info().reason)
    assert asked == ["a.example True"], "an invite's address leads nowhere but to the public internet"
    await served.handle(SetSilo(on=True))
    assert side.info().state == "silo"
    await side.close()


# -- over websockets -----------------------------------------------------------------------------------------


async def test_members_learn_from_each_other_no_stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "TICK_SECONDS", 0.02)

    def seat(name: str, number: int, skill: int, *, member: bool = True) -> Seat:
        key = Signer(number.to_bytes(32, "big")).key
        shown = admit(FOUNDER if member else ALICE, key)
        return Seat(tmp_path / name, number, skill, members=Members(FOUNDER.key), admission=shown)

    relay, weak, strong = seat("relay", 1, 0), seat("weak", 2, 1), seat("strong", 3, 4)
    stranger, public = seat("stranger", 4, 4, member=False), Seat(tmp_path / "public", 5, 4)
    tls = tmp_path / "tls"
    tls.mkdir()
    address = await relay.joined.listen("127.0.0.1", 0, self_signed(tls))
    everybody = (relay, weak, strong, stranger, public)
    for one in everybody[1:]:
        one.joined.links.keep([address])
    links = relay.joined.network.exchange
    await until(lambda: sum(link.session.is_open for link in links.links) == 2)
    await until(lambda: links.refusals[Reason.NOT_ADMITTED])
    assert public.joined.network_id == PUBLIC_SWARM
    await asyncio.gather(weak.play(1), strong.play(1))
    await until(lambda: len(weak.joined.network.exchange.pool) >= 2)
    second = await weak.play(2)
    assert {group.author for group in second.groups[2:]} == {strong.key}
    assert not stranger.joined.network.exchange.pool and not public.joined.network.exchange.pool
    assert {link.key.hex() for link in links.links if link.session.is_open} == {weak.key, strong.key}
    await asyncio.gather(*(one.joined.close() for one in everybody))
    assert [path.name for path in weak.folder.glob("peers*")] == [f"peers-{network_of(FOUNDER.key).hex()[:16]}.json"]


async def test_a_rotated_key_shows_whose_it_was_and_a_new_identity_does_not(tmp_path: Path, ring: Memory) -> None:
    one = node(tmp_path)
    with pytest.raises(UsageError, match="no identity yet"):
        await one.handle(ChangeIdentity(action="rotate"))
    old = await identity_of(one, GetIdentity(create=True))
    new = await identity_of(one, ChangeIdentity(action="rotate"))
    assert old.key != new.key
    assert (await one.handle(GetIdentity())) == new
    shown = (tmp_path / "control" / "rotation").read_bytes()
    assert old_key(shown, bytes.fromhex(new.key), PUBLIC_SWARM, time.time()).hex() == old.key
    await one.handle(ChangeIdentity(action="protect", passphrase="eight characters"))
    assert (tmp_path / "control" / "rotation").read_bytes() == shown, "it is the same key"
    await one.handle(ChangeIdentity(action="new"))
    assert not (tmp_path / "control" / "rotation").exists(), "the tie is cut"


async def test_another_identity_shares_no_number_with_the_one_before(tmp_path: Path, ring: Memory) -> None:
    one, drawn = node(tmp_path), list[bytes]()
    await one.handle(GetIdentity(create=True))
    file = tmp_path / "control" / "instance"
    assert not file.exists(), "the first identity has the data folder's own number"
    for change in (
        ChangeIdentity(action="new"),
        ChangeIdentity(action="export", passphrase="a long horse"),
        ChangeIdentity(action="rotate"),
    ):
        reply = await identity_of(one, change)
        drawn.append(file.read_bytes())
        if change.action == "export":
            sealed = reply.sealed
    assert len(set(drawn)) == 1 and len(drawn[0]) == 16
    await one.handle(ChangeIdentity(action="import", sealed=sealed, passphrase="a long horse"))
    assert file.read_bytes() != drawn[0]


async def test_the_passphrase_shows_an_identity(tmp_path: Path, ring: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_keyring, "SEALED", ())
    monkeypatch.setenv("SAPO_PASSPHRASE", "correct horse")
    first = await identity_of(node(tmp_path), GetIdentity(create=True))
    monkeypatch.setenv("SAPO_PASSPHRASE", "correct horse")  # each worker takes it out of its environment
    again = await identity_of(node(tmp_path), GetIdentity())
    assert again.key == first.key != ""
    closed = await node(tmp_path).handle(GetIdentity())
    assert closed == IdentityIs(key="", kept="file")


async def test_without_keyring_the_file_is_kept(tmp_path: Path, ring: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_keyring, "SEALED", ())
    one = node(tmp_path / "one")
    first = await identity_of(one, ChangeIdentity(action="protect", passphrase="correct horse"))
    with pytest.raises(PassphraseNeeded, match="no keyring here"):
        await one.handle(ChangeIdentity(action="new"))
    new = await identity_of(one, ChangeIdentity(action="new", passphrase="correct horse"))
    assert new.key != first.key
    exported = await identity_of(one, ChangeIdentity(action="export", passphrase="another horse"))

    two = node(tmp_path / "two")
    taken = await two.handle(ChangeIdentity(action="import", sealed=exported.sealed, passphrase="another horse"))
    assert taken == IdentityIs(key=new.key, kept="file"), "kept behind the passphrase that opened it"
    again = node(tmp_path / "two")
    assert (await identity_of(again, ChangeIdentity(action="unlock", passphrase="another horse"))).key == new.key


async def test_where_the_keyring_stays_closed_a_new_identity_is_protected(tmp_path: Path, ring: Memory) -> None:
    before = await identity_of(node(tmp_path), GetIdentity(create=True))
    ring.locked = OSError("locked")
    one = node(tmp_path)
    with pytest.raises(KeyringClosed, match="identity protect"):
        await one.handle(GetIdentity(create=True))
    made = await identity_of(one, ChangeIdentity(action="protect", passphrase="correct horse"))
    assert made.kept == "file" and made.key not in ("", before.key) and "new identity" in str(made.note)
    assert (await identity_of(one, GetIdentity())).key == made.key


async def test_the_passphrase_can_be_changed(tmp_path: Path, ring: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_keyring, "SEALED", ())
    monkeypatch.delenv("SAPO_PASSPHRASE", raising=False)
    first = await identity_of(node(tmp_path), ChangeIdentity(action="protect", passphrase="correct horse"))
    again = node(tmp_path)
    with pytest.raises(PassphraseNeeded, match="locked"):
        await again.handle(ChangeIdentity(action="protect", passphrase="another horse"))
    assert await again.handle(ChangeIdentity(action="unlock", passphrase="correct horse")) == first
    assert await again.handle(ChangeIdentity(action="protect", passphrase="another horse")) == first
    monkeypatch.setenv("SAPO_PASSPHRASE", "another horse")
    exported = await identity_of(node(tmp_path), ChangeIdentity(action="export", passphrase="a third horse"))
    assert Signer(identity.unseal(exported.sealed, "a third horse")).key.hex() == first.key

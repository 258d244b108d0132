"""Links through proxies: which one, who looks up names, and what a bad one can do. The proxies are real ones."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.network.proxies import check_environment, check_proxy, proxy_for
from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.protocol import limits
from sapo_desktop.worker.membership.entering import greet
from tests.swarm.proxies import proxy
from tests.swarm.sockets.nodes import Node, until
from tests.swarm.sockets.test_certificate import listener

KINDS = ("http", "socks5h")
SECRET = "s3cret"
LOGIN = ("volunteer", f"{SECRET}@home")
TYPED_LOGIN = f"volunteer:{SECRET}%40home@"
PEER = Address("peer.example", 8765)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ws", "wss", "socks", "http", "https", "all", "no"):
        for word in (f"{name}_proxy", f"{name}_proxy".upper()):
            monkeypatch.delenv(word, raising=False)


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The hosts that this process asks its resolver for."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def getaddrinfo(host: Any, *rest: Any, **more: Any) -> Any:
        asked.append(str(host))
        return real(host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return asked


@contextlib.asynccontextmanager
async def dialler_and_peer(folder: Path, setting: str) -> AsyncIterator[tuple[Node, Node]]:
    alice, bob = Node(1, proxy=setting), await listener(folder, 2)
    try:
        yield alice, bob
    finally:
        await asyncio.gather(alice.network.close(), bob.network.close())


@pytest.mark.parametrize("stranger", [False, True], ids=["typed", "named by a stranger"])
@pytest.mark.parametrize("login", [None, LOGIN], ids=["open", "login"])
@pytest.mark.parametrize("kind", KINDS)
async def test_a_link_goes_through_and_the_proxy_looks_up_the_name(
    tmp_path: Path, looked_up: list[str], kind: str, login: tuple[str, str] | None, stranger: bool
) -> None:
    async with (
        proxy(kind, login=login) as through,
        dialler_and_peer(tmp_path, through.url(TYPED_LOGIN if login else "")) as (alice, bob),
    ):
        named = Address("peer.example", bob.port, key=bob.signer.key)
        link = await alice.network.link(named, named_by_stranger=stranger, only_greet=True)
        assert link is not None and link.key == bob.signer.key
        assert through.asked == [("peer.example", bob.port)]
        assert "peer.example" not in looked_up
        assert link.part == alice.network._part("peer.example")  # not the proxy's network


@pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.1", "127.1", "2130706433", "0x7f.1", "localhost", "nas.local"])
@pytest.mark.parametrize("kind", KINDS)
async def test_a_stranger_aims_no_proxy_at_our_own_network(tmp_path: Path, kind: str, host: str) -> None:
    async with proxy(kind) as through, dialler_and_peer(tmp_path, through.url()) as (alice, bob):
        aimed = Address(host, bob.port, key=bob.signer.key)
        assert await alice.network.link(aimed, named_by_stranger=True, only_greet=True) is None
        assert through.connections == 0


@pytest.mark.parametrize("mood", ["refuse", "hang up", "garbage", "silent", "wrong login"])
@pytest.mark.parametrize("kind", KINDS)
async def test_what_a_bad_proxy_can_do_is_no_link_for_a_while(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    looked_up: list[str],
    kind: str,
    mood: str,
) -> None:
    monkeypatch.setattr(limits, "HANDSHAKE_SECONDS", 0.3)
    caplog.set_level("DEBUG")
    login = ("volunteer", "another") if mood == "wrong login" else None
    async with (
        proxy(kind, login=login, mood=mood) as through,
        dialler_and_peer(tmp_path, through.url(TYPED_LOGIN)) as (alice, bob),
    ):
        named = Address("peer.example", bob.port, key=bob.signer.key)
        async with asyncio.timeout(10):
            assert await alice.network.link(named, only_greet=True) is None
        assert (through.connections, through.asked) == (1, [])
        assert "peer.example" not in looked_up  # nor is there a way around it
    assert SECRET not in caplog.text and "volunteer" not in caplog.text


async def test_without_a_setting_the_environment_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with proxy("socks5h") as through, dialler_and_peer(tmp_path, "") as (alice, bob):
        monkeypatch.setenv("ALL_PROXY", f"socks5://127.0.0.1:{through.port}")
        link = await alice.network.link(Address("peer.example", bob.port, key=bob.signer.key), only_greet=True)
        assert link is not None and link.key and len(through.asked) == 1
        # It gets names even where the environment says socks5, and left out where the environment says so.
        monkeypatch.setenv("NO_PROXY", "peer.example")
        assert await alice.network.link(Address("peer.example", bob.port), only_greet=True) is None
        assert through.connections == 1


def used(setting: str, address: Address = PEER) -> str | None:
    found = proxy_for(setting, address.host, address.port, tls=address.tls)
    return found.url if found else None


def test_the_order_of_what_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Address("peer.example", 8765, tls=False)
    assert used("") is None
    monkeypatch.setenv("all_proxy", "socks5h://all.example:1080")
    assert used("") == used("", plain) == "socks5h://all.example:1080"
    monkeypatch.setenv("HTTP_PROXY", "http://plain.example:3128")
    monkeypatch.setenv("HTTPS_PROXY", "tls.example:3128")
    assert used("") == "http://tls.example:3128" and used("", plain) == "http://plain.example:3128"
    assert used("off") is None
    assert used("http://typed.example:1") == "http://typed.example:1"
    monkeypatch.setenv("NO_PROXY", ".example")
    assert used("") is None
    assert used("http://typed.example:1") == "http://typed.example:1"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
@pytest.mark.parametrize("setting", ["", "http://typed.example:1"])
def test_no_proxy_leads_to_this_computer(monkeypatch: pytest.MonkeyPatch, setting: str, host: str) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://all.example:1")
    assert used(setting, Address(host, 8765)) is None


@pytest.mark.parametrize(
    ("listed", "host", "excepted"),
    [
        ("10.0.0.0/8", "10.1.2.3", True),
        ("10.0.0.0/8", "11.1.2.3", False),
        ("fd00::/8", "fd12::1", True),
        ("a.example, peer.example", "peer.example", True),
        ("a.example peer.example", "peer.example", True),
        (" .example", "peer.example", True),
        ("*.example", "peer.example", True),
        ("peer.example", "other-peer.example", False),
        ("PEER.example", "peer.example", True),
        ("peer.example:8765", "peer.example", True),
        ("peer.example:443", "peer.example", False),
        ("10.0.0.0/8:443", "10.1.2.3", False),
        ("[fd12::1]:8765", "fd12::1", True),
        ("fd12::1", "fd12::1", True),
        ("a.example, *", "peer.example", True),
        ("10.0.0.0/99,,", "10.1.2.3", False),
        ("", "peer.example", False),
    ],
)
def test_no_proxy_takes_names_addresses_and_networks(
    monkeypatch: pytest.MonkeyPatch, listed: str, host: str, excepted: bool
) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://all.example:1")
    monkeypatch.setenv("NO_PROXY", listed)
    assert (used("", Address(host, 8765)) is None) is excepted


def test_desktops_write_socks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks://all.example:1080/")
    assert used("") == "socks5h://all.example:1080"


@pytest.mark.parametrize(
    ("mood", "kind", "said"),
    [
        ("wrong login", "http", "requires a user name and a password"),
        ("wrong login", "socks5h", "does not connect to peer.example"),
        ("refuse", "http", "does not connect to peer.example:{port}: HTTP 403"),
        ("refuse", "socks5h", "does not connect to peer.example:{port}: Connection not allowed by ruleset"),
        ("dead", "http", "cannot be reached"),
        ("dead", "socks5h", "cannot be reached"),
    ],
)
async def test_a_proxys_fault_names_the_proxy_and_is_not_the_peers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mood: str, kind: str, said: str
) -> None:
    login = ("volunteer", "another") if mood == "wrong login" else None
    async with (
        proxy(kind, login=login, mood=mood) as through,
        dialler_and_peer(tmp_path, "") as (alice, bob),
    ):
        if mood == "dead":
            through.port = 9
        monkeypatch.setenv("HTTPS_PROXY", through.url(TYPED_LOGIN))
        named = Address("peer.example", bob.port, key=bob.signer.key)
        with pytest.raises(UsageError) as refused:
            await greet(alice.network, str(named), "")
        words = str(refused.value)
        assert said.format(port=bob.port) in words and SECRET not in words
        assert f"The proxy {kind}://127.0.0.1:{through.port} (the environment's HTTPS_PROXY)" in words
        keeping = alice.network.dial(named)
        await until(lambda: named in alice.network.proxy_faults)
        assert alice.network.kept.silent == {}, "nobody knows whether the peer answers"
        keeping.cancel()


@pytest.mark.parametrize("kind", KINDS)
async def test_a_peer_that_is_away_behind_a_proxy_is_at_fault_itself(tmp_path: Path, kind: str) -> None:
    async with (
        proxy(kind, mood="nobody there") as through,
        dialler_and_peer(tmp_path, through.url()) as (alice, _),
    ):
        with pytest.raises(UsageError, match=rf"does not answer \(through the proxy {kind}://127.* the setting"):
            await greet(alice.network, "wss://peer.example:9", "")


@pytest.mark.parametrize(
    ("typed", "used"),
    [
        ("", ""),
        (" off ", "off"),
        ("http://127.0.0.1:3128", "http://127.0.0.1:3128"),
        ("http://[::1]:3128/", "http://[::1]:3128"),
        ("socks5://u:p@tor.example:9050", "socks5h://u:p@tor.example:9050"),
    ],
)
def test_proxies_are_read(typed: str, used: str) -> None:
    assert check_proxy(typed) == used


@pytest.mark.parametrize(
    "typed",
    [
        "none",
        "127.0.0.1:3128",
        "https://{}@h:1",
        "ftp://{}@h:1",
        "socks4://{}@h:1",
        "http://{}@h",
        "http://{}@h:port",
        "http://{}@h:99999",
        "http://{}@[::1:1",
        "http://{}@h:1/path",
        "http://{}@h:1?query",
        "http://user@h:1",
        "http://:{}@h:1",
        "http://us%3Aer:{}@h:1",
        "http://user:%ff{}@h:1",
        "http://user:{}" + 250 * "x" + "@h:1",
        "http://user:{}@hö.example:1",
    ],
)
def test_what_is_no_proxy_is_refused_without_saying_it_again(typed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = typed.format(SECRET)
    with pytest.raises(UsageError, match="setting `proxy`") as refused:
        check_proxy(text)
    assert SECRET not in str(refused.value) and refused.value.__cause__ is None
    if "://" in text:
        monkeypatch.setenv("HTTPS_PROXY", text)
        with pytest.raises(UsageError, match="HTTPS_PROXY") as refused:
            check_environment()
        assert SECRET not in str(refused.value)


async def test_an_unusable_proxy_of_the_environment_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "https://proxy.example:443")
    async with dialler_and_peer(tmp_path, "") as (alice, bob):
        link = await alice.network.link(Address("peer.example", bob.port, key=bob.signer.key), only_greet=True)
        assert link is None and bob.heard == []


async def test_on_the_local_network_there_is_no_proxy(tmp_path: Path) -> None:
    async with proxy("http") as through, dialler_and_peer(tmp_path, through.url()) as (alice, bob):
        link = await alice.network.link(Address("127.0.0.1", bob.port), on_lan=True, only_greet=True)
        assert link is not None and link.key == bob.signer.key and link.lan
        assert through.connections == 0

"""Invite links: written and read back, and what people or strangers may send instead of one; which of their addresses a
person is asked about before they are dialled.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.network.invite import LONGEST_LINK, MOST_PEERS, Invite, asks_first

SWARM, KEY, ADMISSION = "5a" * 32, "c0" * 32, "0f" * 72
PEERS = (f"wss://relay.example:8765#{KEY}", f"wss://[2001:db8::1]:443#{KEY}", "wss://other.example:1")
PLAIN = f"sapo://join?swarm={SWARM}&peer=wss://a.example:1"


@pytest.mark.parametrize("admission", ["", ADMISSION])
@pytest.mark.parametrize("peers", [PEERS[:1], PEERS])
def test_what_is_written_is_read_back(peers: tuple[str, ...], admission: str) -> None:
    invite = Invite(SWARM, peers, admission)
    assert Invite.parse(str(invite)) == invite
    assert Invite.parse(f"  {invite}\n") == invite, "as it is pasted"
    assert "#" not in str(invite), "what is behind a # gets lost on the way through browsers"


def test_a_link_by_hand() -> None:
    link = f"sapo://join?swarm={SWARM.upper()}&peer=wss%3A%2F%2Fa.example%3A1%23{KEY}&admission={ADMISSION}"
    assert Invite.parse(link) == Invite(SWARM, (f"wss://a.example:1#{KEY}",), ADMISSION)


def test_fields_of_later_versions_are_passed_over() -> None:
    link = f"sapo://join?v=2&{PLAIN.partition('?')[2]}&mood=%00%ff%0A&flag&=x"
    assert Invite.parse(link) == Invite(SWARM, ("wss://a.example:1",))


def test_an_address_named_twice_is_one() -> None:
    assert Invite.parse(f"{PLAIN}&peer=wss://a.example:1").peers == ("wss://a.example:1",)


@pytest.mark.parametrize(
    ("link", "complaint"),
    [
        ("", "this one does not"),
        ("hello", "this one does not"),
        ("https://join?swarm=1", "this one does not"),
        ("sapo://join?", "64 hex digits"),
        ("sapo://join?&&&;;;===", "64 hex digits"),
        (f"sapo://join?swarm={SWARM}", "0 addresses"),
        (PLAIN.replace(SWARM, SWARM[:-1]), "64 hex digits"),
        (PLAIN.replace(SWARM, SWARM + "00"), "64 hex digits"),
        (PLAIN.replace(SWARM, "zz" * 32), "64 hex digits"),
        (PLAIN.replace(SWARM, f"%0a{SWARM}"), "64 hex digits"),
        (PLAIN + f"&swarm={SWARM}", "has swarm 2 times"),
        (PLAIN + f"&admission={ADMISSION}&admission={ADMISSION}", "has admission 2 times"),
        (PLAIN + f"&admission={ADMISSION[:-2]}", "144 hex digits"),
        (PLAIN + f"&admission={ADMISSION}{ADMISSION}", "144 hex digits"),
        (PLAIN + "&peer=", "an address in this one has characters that"),
        (PLAIN + "&peer=wss://b.example:1%0aevil", "an address in this one has characters that"),
        (PLAIN + "&peer=wss://b.example:1%1b[2J", "an address in this one has characters that"),
        (PLAIN + "&peer=wss://b.example:1,wss://c.example:1", "an address in this one has characters that"),
        (PLAIN + "&peer=wss://b.example:1+wss://c.example:1", "an address in this one has characters that"),
        (PLAIN + "&peer=wss://%E2%80%AEb.example:1", "an address in this one has characters that"),
        (PLAIN + f"&peer=wss://{'b' * 255}:1", "an address in this one has characters that"),
        (PLAIN + "".join(f"&peer=wss://b.example:{n}" for n in range(MOST_PEERS)), f"{MOST_PEERS + 1} addresses"),
        (PLAIN + "&x=y" * 40, "more than 32 fields"),
        (PLAIN + "\x00", "this one has characters that a link cannot"),
        (PLAIN + "\x1b[2J", "this one has characters that a link cannot"),
        (PLAIN + "\u202e", "this one has characters that a link cannot"),
        (PLAIN + "&x=" + "y" * LONGEST_LINK, "longer than 4,000 characters"),
    ],
)
def test_what_is_no_link_is_refused_in_one_sentence(link: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint) as refused:
        Invite.parse(link)
    message = str(refused.value)
    assert message.isprintable() and len(message) < 300, "nothing of a stranger's link reaches the terminal"


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(noise: str) -> None:
    for link in (noise, f"sapo://join?{noise}", f"{PLAIN}&{noise}"):
        try:
            found = Invite.parse(link)
        except UsageError:
            continue
        assert Invite.parse(str(found)) == found and str(found).isprintable()


@pytest.mark.parametrize(
    "peer",
    ["ws://localhost:8765", "wss://192.168.1.1:8765", "wss://printer:9100", "wss://relay.example:22"],
)
def test_what_no_stranger_may_have_dialled_is_asked_about(peer: str) -> None:
    invite = Invite(SWARM, ("wss://relay.example:8765", peer))
    assert invite.nearby == (peer,)
    assert peer in str(asks_first(invite))


@pytest.mark.parametrize(
    "peer", ["wss://relay.example:8765", "wss://8.8.8.8:443", "wss://[2606:4700::1111]:8765#" + "ab" * 32]
)
def test_the_public_internet_is_not(peer: str) -> None:
    assert Invite(SWARM, (peer,)).nearby == ()

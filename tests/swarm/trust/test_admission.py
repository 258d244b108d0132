"""Private swarms: who is admitted, and every way in that must be closed."""

from collections.abc import Callable
from random import Random

import msgspec
import pytest

from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.addresses.announcement import Announcement
from sapo_desktop.swarm.exchange import Exchange
from sapo_desktop.swarm.protocol import codec, events, limits
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.envelope import Answer, GroupBody, PeerBody, open_envelope, seal
from sapo_desktop.swarm.protocol.handshake import Me
from sapo_desktop.swarm.protocol.refusals import OF_THE_AUTHOR, Reason, Refused, kind_of
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.swarm.sockets.network import now
from sapo_desktop.swarm.trust import admission as ad
from sapo_desktop.swarm.trust.admission import Members, admit, network_of
from sapo_desktop.swarm.trust.standing import Standing
from tests.swarm.mesh import SLOT, Mesh, Peer, check
from tests.swarm.peers import ALICE, BOB, TASK, Link, group, group_body, me, opened, session
from tests.swarm.protocol.test_session import closed_because
from tests.swarm.test_exchange import push

FOUNDER, OTHER_FOUNDER = Signer(b"F" * 32), Signer(b"G" * 32)
NOW = 1_700_000_000
MEMBERS = Members(FOUNDER.key)


def forged_for(key: bytes, ends: int = 0) -> bytes:
    """Signed by Bob, who founded nothing."""
    end = ends.to_bytes(8, "big")
    return end + BOB.sign(ad.LABEL, MEMBERS.network, key + end)


def prolonged(key: bytes) -> bytes:
    """One that has ended, with a later end written over it."""
    return (NOW + 1000).to_bytes(8, "big") + admit(FOUNDER, key, NOW - 1)[8:]


BAD: dict[str, Callable[[bytes], bytes]] = {
    "none": lambda key: b"",
    "zeros": lambda key: bytes(72),
    "short": lambda key: admit(FOUNDER, key)[:-1],
    "long": lambda key: admit(FOUNDER, key) + b"\0",
    "forged": forged_for,
    "self-signed": lambda key: admit(BOB, key),
    "another key's": lambda key: admit(FOUNDER, FOUNDER.key),
    "another network's": lambda key: admit(OTHER_FOUNDER, key),
    "signed for another label": lambda key: bytes(8) + FOUNDER.sign("group", MEMBERS.network, key + bytes(8)),
    "ended": lambda key: admit(FOUNDER, key, NOW),
    "prolonged": prolonged,
}


def member(signer: Signer, admission: bytes | None = None, founder: Signer = FOUNDER) -> Me:
    shown = admit(founder, signer.key) if admission is None else admission
    return me(signer, network=network_of(founder.key), admission=shown, members=Members(founder.key))


class PrivatePeer(Peer):
    """An exchange in the private swarm."""

    def __init__(self, name: int, admission: bytes | None = None) -> None:
        super().__init__(name)
        self.me = member(self.signer, admission)
        self.exchange = Exchange(
            self.signer.key, MEMBERS.network, check, Standing(), Random(name), members=Members(FOUNDER.key)
        )

    def share_one(self, mesh: Mesh) -> bytes:
        return self.share(mesh.now, network=MEMBERS.network, admission=self.me.admission)[0]


# -- admissions ----------------------------------------------------------------------------------------------


def test_an_admission_holds_until_its_end() -> None:
    assert MEMBERS.check(ALICE.key, admit(FOUNDER, ALICE.key), NOW) == float("inf")
    ending = admit(FOUNDER, ALICE.key, NOW)
    assert MEMBERS.check(ALICE.key, ending, NOW - 0.5) == NOW
    with pytest.raises(Refused, match="has ended"):
        MEMBERS.check(ALICE.key, ending, NOW)


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_key_that_was_not_admitted_is_refused(bad: Callable[[bytes], bytes]) -> None:
    for _ in range(2):  # nothing bad is taken for known the second time
        with pytest.raises(Refused) as refused:
            MEMBERS.check(ALICE.key, bad(ALICE.key), NOW)
        assert refused.value.reason is Reason.NOT_ADMITTED
    assert kind_of(Reason.NOT_ADMITTED) == "invalid" and Reason.NOT_ADMITTED in OF_THE_AUTHOR


def test_a_known_member_is_not_known_by_another_admission_or_under_another_key() -> None:
    good = admit(FOUNDER, ALICE.key)
    members = Members(FOUNDER.key)
    members.check(ALICE.key, good, NOW)
    members.check(ALICE.key, good, NOW)
    for key, shown in ((BOB.key, good), (ALICE.key, forged_for(ALICE.key))):
        with pytest.raises(Refused):
            members.check(key, shown, NOW)


def test_what_is_remembered_of_members_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ad, "_MOST_KNOWN", 4)
    members = Members(FOUNDER.key)
    for n in range(1, 10):
        members.check(ALICE.key, admit(FOUNDER, ALICE.key, NOW + n), NOW)
    assert len(members._known) == 4


# -- the handshake -------------------------------------------------------------------------------------------


def test_two_members_talk() -> None:
    link = Link(session("client", member(ALICE)), session("server", member(BOB))).run()
    assert [type(event) for event in link.events("client") + link.events("server")] == [events.Opened] * 2


@pytest.mark.parametrize("side", ["client", "server"])
@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_who_is_no_member_gets_no_link_and_the_reason(side: str, bad: Callable[[bytes], bytes]) -> None:
    stranger = member(ALICE, bad(ALICE.key))
    sides = {"client": member(BOB), "server": member(BOB), side: stranger}
    link = Link(session("client", sides["client"]), session("server", sides["server"])).run()
    for reason in closed_because(link):
        assert reason.startswith("not a member of this private swarm: ")
    assert not link.client.is_open and not link.server.is_open


def test_a_stranger_learns_nothing_but_why() -> None:
    server = session("server", member(BOB))
    stranger = session("client", member(ALICE, b""))
    reported = server.receive(stranger.take()[0], 0)
    assert [type(event) for event in reported] == [events.RefusedMessage, events.Closed]
    (goodbye,) = (codec.decode(frame) for frame in server.take())
    assert isinstance(goodbye, m.Goodbye) and goodbye.reason == "not a member of this private swarm: no admission"


def test_an_admission_that_was_overheard_serves_nobody_else() -> None:
    """Bob shows what Alice showed him: under his own key, and under hers."""
    shown = admit(FOUNDER, ALICE.key)
    link = Link(session("client", member(BOB, shown)), session("server", member(Signer(b"C" * 32)))).run()
    assert "for another key" in closed_because(link)[1]
    server = session("server", member(Signer(b"C" * 32)))
    server.receive(session("client", member(ALICE)).take()[0], 0)
    assert len(server.take()) == 2
    reported = server.receive(codec.encode(m.Auth(signature=BOB.sign("auth", MEMBERS.network, b"whatever"))), 0)
    assert [event.reason for event in reported] == [Reason.BAD_SIGNATURE, "handshake: bad_signature"]


def test_an_oversized_admission_is_no_hello() -> None:
    client = session("client", member(ALICE, bytes(limits.MAX_ADMISSION + 1)))
    server = session("server", member(BOB))
    reported = server.receive(client.take()[0], 0)
    assert [event.reason for event in reported] == [Reason.MALFORMED, "handshake: malformed"]


def test_the_largest_hello_fits() -> None:
    hello = m.Hello(
        versions=[2**53] * 8,
        network=bytes(32),
        key=bytes(32),
        nonce=bytes(32),
        time=2**53,
        catalogue=bytes(32),
        previous=bytes(32),
        examiner=bytes(32),
        program="\U0001f438" * 64,
        admission=bytes(limits.MAX_ADMISSION),
    )
    assert len(codec.encode(hello)) <= limits.MAX_HELLO


def test_the_public_swarm_asks_for_no_admission() -> None:
    link = Link(session("client", me(ALICE, admission=b"whatever")), session("server", me(BOB))).run()
    assert [type(event) for event in link.events("server")] == [events.Opened]
    assert opened().client.is_open


def test_a_link_ends_with_the_admission() -> None:
    ending = member(ALICE, admit(FOUNDER, ALICE.key, NOW + 30))
    link = Link(session("client", ending, now=7.0), session("server", member(BOB), now=7.0)).run(7.0)
    link.events("server")
    assert link.server.tick(36.9) == []
    (reported,) = link.server.tick(37.0)
    assert isinstance(reported, events.Closed) and reported.reason == "the admission to this private swarm has ended"


# -- groups and records --------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_body_of_somebody_else_is_its_authors_fault(bad: Callable[[bytes], bytes]) -> None:
    envelope = group(network=MEMBERS.network, slot=NOW // 600 + 1, admission=bad(ALICE.key))
    with pytest.raises(Refused) as refused:
        open_envelope(envelope, GroupBody, MEMBERS.network, MEMBERS)
    assert (refused.value.reason, refused.value.author) == (Reason.NOT_ADMITTED, ALICE.key)
    assert open_envelope(envelope, GroupBody, MEMBERS.network).body.admission == bad(ALICE.key)


def test_a_body_is_judged_by_the_time_it_was_written_at() -> None:
    """Else a relay would be blamed for an admission that ended on the way."""
    ending = admit(FOUNDER, ALICE.key, SLOT * 600 + 1)
    good = group(network=MEMBERS.network, slot=SLOT, admission=ending)
    assert open_envelope(good, GroupBody, MEMBERS.network, MEMBERS).body.slot == SLOT
    with pytest.raises(Refused, match="has ended"):
        late = group(network=MEMBERS.network, slot=SLOT + 1, admission=ending)
        open_envelope(late, GroupBody, MEMBERS.network, MEMBERS)


def test_an_oversized_admission_is_no_body() -> None:
    content = msgspec.msgpack.encode(group_body(network=MEMBERS.network, admission=bytes(limits.MAX_ADMISSION + 1)))
    envelope = msgspec.msgpack.encode([1, content, ALICE.sign("group", MEMBERS.network, content)])
    with pytest.raises(Refused) as refused:
        open_envelope(envelope, GroupBody, MEMBERS.network, MEMBERS)
    assert (refused.value.reason, refused.value.author) == (Reason.BAD_BODY, ALICE.key)


def test_what_surrounds_the_answers_of_a_group_has_a_bound() -> None:
    """A node shares a group only where that much is left in addition to the texts; all of it at its longest here."""
    envelope = group(
        network=MEMBERS.network,
        admission=admit(FOUNDER, ALICE.key),
        label="x" * 64,
        slot=2**53,
        index=63,
        answers=[Answer(text="y" * 300, tokens=2**53)] * 16,
    )
    assert len(envelope) - 16 * 300 <= limits.GROUP_OVERHEAD


def test_a_relay_passes_on_members_groups_to_members_whom_it_never_met() -> None:
    mesh, alice, relay, carol = Mesh(), PrivatePeer(1), PrivatePeer(2), PrivatePeer(3)
    mesh.join(alice, relay)
    mesh.join(carol, relay)
    envelope = alice.share_one(mesh)
    mesh.settle()
    carol.exchange.want([TASK], 8)
    mesh.wait(5)
    assert carol.held() == [envelope]


def test_a_member_that_publishes_without_its_admission_is_shut_out() -> None:
    mesh, alice, bob = Mesh(), PrivatePeer(1), PrivatePeer(2)
    wire = mesh.join(alice, bob)
    for n in range(6):
        push(wire, mesh, group(alice.signer, network=MEMBERS.network, slot=SLOT, index=n))
    goodbye = wire.ends[1][1].goodbye
    assert bob.held() == []
    assert goodbye is not None and goodbye.reason == "shut out: not_admitted"


def test_an_address_is_a_members_or_none() -> None:
    address = Address("relay.example", 8765, key=ALICE.key)
    shown = Announcement(ALICE, MEMBERS.network, address, relay=False, admission=admit(FOUNDER, ALICE.key))
    record = open_envelope(shown.record(now()), PeerBody, MEMBERS.network, MEMBERS)
    assert record.body.address == str(address)
    body = PeerBody(network=MEMBERS.network, key=ALICE.key, time=NOW, address=str(address))
    with pytest.raises(Refused) as refused:
        open_envelope(seal(ALICE, body), PeerBody, MEMBERS.network, MEMBERS)
    assert refused.value.reason is Reason.NOT_ADMITTED

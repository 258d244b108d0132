"""A newcomer asks until it is answered; a founder's node lists requests and answers for its person."""

import asyncio
from pathlib import Path

import pytest

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.sentences import Text
from sapo_desktop.core.settings import Settings
from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.protocol.events import Closed
from sapo_desktop.swarm.protocol.handshake import Me
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.swarm.trust import asking
from sapo_desktop.swarm.trust.admission import admit
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.replies import InviteIs
from sapo_desktop.worker.control.messages.requests import AdmitPeer, CreateSwarm, RefuseJoin, SetSettings
from sapo_desktop.worker.membership.asking import Ask, be_admitted, founders_porch, is_founder, shown
from tests.system.test_identity import Memory, in_memory
from tests.worker.membership.test_private import node

FOUNDER, NEWCOMER = Signer(b"F" * 32), Signer(b"N" * 32)
SETTINGS = Settings(swarm=FOUNDER.key.hex(), peers="wss://a.example:8765, wss://b.example:8765", label="anna")
ring = pytest.fixture(in_memory)


def answers(*replies: tuple[str, bytes] | None) -> Ask:
    """Peers that say these, one after the other."""
    left = iter(replies)

    async def ask(me: Me, address: Address, label: str, *, proxy: str, named_by_stranger: bool) -> Closed | None:
        assert me.admission == b"" and label == "anna"
        answer = next(left)
        return None if answer is None else Closed(answer[0], 60, True, answer[1])

    return ask


async def asked(*replies: tuple[str, bytes] | None) -> tuple[bytes, list[tuple[str, str]], list[float]]:
    """What admits it in the end, what was shown meanwhile, and how long it rested each time."""
    said: list[tuple[str, str]] = []
    rested: list[float] = []

    async def rest(seconds: float) -> None:
        rested.append(seconds)

    def show(state: str, text: Text) -> None:
        said.append((state, str(text)))

    return await be_admitted(SETTINGS, NEWCOMER, show, answers(*replies), rest), said, rested


async def test_it_asks_until_the_founder_answers() -> None:
    admission = admit(FOUNDER, NEWCOMER.key)
    found, said, rested = await asked(
        *(None, ("not a member of this private swarm: no admission", b"")),
        *(None, (asking.WAITING, b"")),
        *(None, (asking.FULL, b"")),
        *(None, (asking.ADMITTED, admission)),
    )
    assert found == admission
    assert [state for state, _ in said] == ["failed", "joining", "joining"]
    assert "peers admit KEY" in said[0][1] and NEWCOMER.key.hex()[:16] in said[1][1] and "Too many" in said[2][1]
    assert rested[0] >= 300 and 60 <= rested[1] < 90


@pytest.mark.parametrize("forged", [b"", bytes(72), admit(NEWCOMER, NEWCOMER.key), admit(FOUNDER, FOUNDER.key)])
async def test_nobody_but_the_founder_admits(forged: bytes) -> None:
    admission = admit(FOUNDER, NEWCOMER.key)
    found, *_ = await asked((asking.ADMITTED, forged), None, (asking.ADMITTED, admission))
    assert found == admission


async def test_a_refusal_ends_it_and_says_so() -> None:
    with pytest.raises(UsageError, match="did not admit this node"):
        await asked((asking.REFUSED, b""), None)


async def test_a_person_is_notified_of_newcomers_but_not_of_each_in_a_crowd() -> None:
    now, notices = 0.0, list[str]()
    porch = founders_porch(lambda level, text: notices.append(str(text)), lambda: now)
    for number in range(8):
        porch.knock(number.to_bytes(32, "big"), "anna", number.to_bytes(8, "big"), now)
    assert len(notices) == 1 and notices[0].startswith("anna (key 0000000000000000) asks to join your private swarm.")
    now = 601.0
    porch.knock(b"z" * 32, "", b"part", now)
    assert len(notices) == 2 and notices[1].startswith("Somebody")


async def test_who_asks_is_admitted_or_refused_by_key(tmp_path: Path, ring: Memory) -> None:
    founder = node(tmp_path)
    side = founder._side
    assert not await is_founder(side.identity, FOUNDER.key.hex())
    await founder.handle(CreateSwarm())
    assert await is_founder(side.identity, founder.settings.swarm) and not await is_founder(side.identity, "ab" * 32)
    await founder.handle(SetSettings(values={"announce": "wss://relay.example:8765"}))
    now = asyncio.get_running_loop().time()
    for signer in (NEWCOMER, FOUNDER):
        side.porch.knock(signer.key, "anna", b"part", now)
    assert [one.key for one in shown(side.porch)] == [NEWCOMER.key.hex(), FOUNDER.key.hex()]
    reply = await founder.handle(AdmitPeer(key=NEWCOMER.key.hex()))
    assert isinstance(reply, InviteIs) and reply.waits
    answer = side.porch.knock(NEWCOMER.key, "anna", b"part", now + 1)
    assert answer.admission.hex() in reply.link
    assert isinstance(await founder.handle(RefuseJoin(key=FOUNDER.key.hex())), Ok)
    assert side.porch.knock(FOUNDER.key, "anna", b"part", now + 1).reason == asking.REFUSED
    for key in ("ab" * 32, "not hex"):
        with pytest.raises(UsageError, match="Nobody with this key"):
            await founder.handle(RefuseJoin(key=key))
    reply = await founder.handle(AdmitPeer(key="ab" * 32))
    assert isinstance(reply, InviteIs) and not reply.waits, "who did not ask needs the link"

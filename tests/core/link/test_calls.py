"""A link without a transport: each reply finds its request, and the end of the link fails what waits."""

import asyncio

import msgspec
import pytest

from sapo_desktop.core.errors import ControlError, HostCancelled, ModelError, SapoError
from sapo_desktop.core.link.calls import Calls, reading
from sapo_desktop.core.link.handlers import Handlers, failure
from sapo_desktop.core.link.requests import (
    Call,
    Cancel,
    Message,
    Note,
    Reply,
    Request,
    ToServer,
    packed,
)


class Said(Message, frozen=True):
    text: str


class Say(Request[Said], frozen=True):
    text: str


class Link:
    """Calls whose messages are kept in place of being sent."""

    def __init__(self) -> None:
        self.sent: list[ToServer] = []
        self.notes: list[str] = []
        self.calls = Calls(
            self._send, reading(msgspec.msgpack.Decoder(Said), lambda said: self.notes.append(said.text))
        )

    def _hear(self, said: Said) -> None:
        self.notes.append(said.text)

    async def _send(self, message: ToServer) -> None:
        self.sent.append(message)

    async def asked(self, *texts: str) -> list[asyncio.Task[Said]]:
        """Requests that were sent and wait."""
        tasks = [asyncio.create_task(self.calls.ask(Say(text=text))) for text in texts]
        await asyncio.sleep(0)
        return tasks

    def reply(self, number: int, text: str) -> None:
        self.calls.take(Reply(id=number, body=packed(Said(text=text))))


@pytest.fixture
async def link() -> Link:
    return Link()


async def test_each_reply_finds_its_request_in_any_order(link: Link) -> None:
    first, second = await link.asked("a", "b")
    assert [one.id for one in link.sent if isinstance(one, Call)] == [1, 2]
    link.reply(2, "B")
    link.reply(1, "A")
    link.reply(7, "nobody waits for this")
    assert [said.text for said in await asyncio.gather(first, second)] == ["A", "B"]


async def test_the_end_of_the_link_fails_what_waits_and_what_comes_later(link: Link) -> None:
    answered, waiting = await link.asked("a", "b")
    link.reply(1, "A")
    assert link.calls.end(ControlError("It has ended."))
    assert (await answered).text == "A"
    for task in (waiting, *await link.asked("c")):
        with pytest.raises(ControlError, match="It has ended"):
            await task
    assert not link.calls.end(ControlError("again"))


async def test_errors_keep_their_class_and_bugs_get_the_servers(link: Link) -> None:
    known, bug = await link.asked("a", "b")
    link.calls.take(failure(1, ModelError("It is missing."), SapoError))
    link.calls.take(failure(2, ZeroDivisionError("oops"), ControlError))
    with pytest.raises(ModelError, match="missing"):
        await known
    with pytest.raises(ControlError, match="ZeroDivisionError: oops"):
        await bug


async def test_a_caller_that_leaves_cancels_its_request_alone(link: Link) -> None:
    left, stays = await link.asked("a", "b")
    left.cancel()
    with pytest.raises(asyncio.CancelledError):
        await left
    await asyncio.wait(link.calls.cancels)
    assert link.sent[-1] == Cancel(id=1)
    link.reply(1, "too late")
    link.reply(2, "B")
    assert (await stays).text == "B"


async def test_what_is_given_up_is_not_answered_any_more(link: Link) -> None:
    call = link.calls.open()
    asking = asyncio.create_task(link.calls.ask(Say(text="a"), call))
    await asyncio.sleep(0)
    call.give_up(HostCancelled("On purpose."))
    link.reply(1, "A")
    with pytest.raises(HostCancelled, match="On purpose"):
        await asking


async def test_notes_reach_their_call_or_the_link(link: Link) -> None:
    heard: list[msgspec.Raw] = []
    call = link.calls.open(heard.append)
    link.calls.take(Note(id=call.number, body=packed("progress")))
    link.calls.take(Note(body=packed(Said(text="event"))))
    assert [msgspec.msgpack.decode(body) for body in heard] == ["progress"] and link.notes == ["event"]
    with pytest.raises(msgspec.DecodeError):
        link.calls.take(Note(body=packed(3)))


async def test_a_listeners_mistake_fails_its_own_call(link: Link) -> None:
    call = link.calls.open(lambda body: 1 / 0)
    link.calls.take(Note(id=call.number, body=packed("progress")))
    with pytest.raises(ZeroDivisionError):
        await link.calls.ask(Say(text="a"), call)


async def test_a_table_answers_by_the_kind_of_request_and_takes_in_other_tables() -> None:
    async def say(request: Say) -> Said:
        return Said(text=request.text.upper())

    one = Handlers()
    one.on(Say).by(say)
    both = Handlers(one)
    assert both.kinds == {Say} and (await both.answer(Say(text="a"))).text == "A"

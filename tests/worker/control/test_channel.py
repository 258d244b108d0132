"""The control channel with real sockets: only our own clients get through, and none holds up the
worker."""

import asyncio
import contextlib
import json
import os
import stat
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as ws_connect
from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.protocol import State

from sapo_desktop.core.errors import ControlError, ModelError, NotRunning, SapoError, UsageError
from sapo_desktop.core.link.requests import Call, Cancel, Message, Request, packed
from sapo_desktop.core.sentences import sentence
from sapo_desktop.system.folders import DataFolder, FolderError
from sapo_desktop.worker.control import channel
from sapo_desktop.worker.control.channel import Client as Served
from sapo_desktop.worker.control.channel import ControlServer, open_link
from sapo_desktop.worker.control.client import Client, connect
from sapo_desktop.worker.control.messages.asking import Ask, Asked, AskProgressed
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.events import Answered, Progressed, Stopping
from sapo_desktop.worker.control.messages.facts import Examine, Notice
from sapo_desktop.worker.control.messages.models import GetModels
from sapo_desktop.worker.control.messages.replies import Evaluated
from sapo_desktop.worker.control.messages.requests import Evaluate, GetSettings, GetStatus, GetWeek, ListTasks, Pause
from sapo_desktop.worker.control.proof import (
    FILE,
    Attach,
    ClientSide,
    Greeting,
    WorkerSide,
    read_control_file,
)
from tests.builders import eval_report

MISSING = sentence("The model {name} is missing; download it.", name="little")


EVALUATED = Evaluated(report=eval_report("last", 0.5))


class Worker:
    """A worker that answers a few requests and remembers who came and went."""

    def __init__(self, root: Path) -> None:
        self.folder = DataFolder.open(root)
        self.server = ControlServer(self.folder.control, self.handle, self.attached, self.detached)
        self.present: list[bool] = []
        self.waiting = asyncio.Event()
        self.go_on = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.gone = asyncio.Event()
        self.starting: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def port(self) -> int:
        return read_control_file(self.folder.control).port

    def attached(self, client: Served, owner: bool) -> None:
        self.present.append(owner)

    def detached(self, client: Served, owner: bool) -> None:
        self.present.remove(owner)
        self.gone.set()

    async def handle(self, client: Served, request: Request) -> Message:
        match request:
            case Evaluate():
                self.waiting.set()
                try:
                    await self.go_on.wait()
                except asyncio.CancelledError:
                    self.cancelled.set()
                    raise
                return EVALUATED
            case Pause():
                return Ok(text="paused")
            case GetSettings():
                raise UsageError("Not like this.")
            case GetModels():
                raise ModelError(MISSING)
            case Examine():
                raise ZeroDivisionError("oops")
            case GetStatus():
                await asyncio.shield(self.starting)
            case ListTasks():
                return Ok(text="x" * (channel.MAX_MESSAGE + 1))
            case Ask(question=question):
                return Asked(text=question, tokens=1, seconds=0.1)
        return Ok()


@contextlib.asynccontextmanager
async def listening(root: Path) -> AsyncIterator[Worker]:
    """A worker that listens."""
    worker = Worker(root)
    await worker.server.start()
    try:
        yield worker
    finally:
        await worker.server.close()


@pytest.fixture
async def worker(tmp_path: Path) -> AsyncIterator[Worker]:
    async with listening(tmp_path) as worker:
        yield worker


@pytest.fixture
async def client(worker: Worker) -> AsyncIterator[Client]:
    async with await connect(worker.folder.root) as client:
        yield client


async def evaluating(worker: Worker, client: Client) -> asyncio.Task[Message]:
    """A call that the worker has begun to answer."""
    call = asyncio.create_task(client.call(Evaluate()))
    await worker.waiting.wait()
    return call


# -- our own clients --------------------------------------------------------------------------------------------


async def test_a_client_asks_and_is_answered(worker: Worker) -> None:
    async with await connect(worker.folder.root, owner=True) as client:
        assert await client.call(Pause()) == Ok(text="paused")
        assert (worker.present, client.worker_pid) == ([True], os.getpid())


async def test_a_sentence_arrives_as_it_was_raised(client: Client) -> None:
    with pytest.raises(ModelError, match="The model little is missing") as failed:
        await client.call(GetModels())
    assert failed.value.text == MISSING


async def test_pause_gets_through_while_an_evaluation_runs(worker: Worker, client: Client) -> None:
    evaluation = await evaluating(worker, client)
    assert await client.call(Pause()) == Ok(text="paused")
    assert not evaluation.done()
    worker.go_on.set()
    assert await evaluation == EVALUATED


async def test_a_reply_of_another_release_is_said(client: Client) -> None:
    with pytest.raises(ControlError, match="from another release"):
        await client.call(GetWeek())


async def test_many_calls_at_once_find_their_answers(client: Client) -> None:
    answers = await asyncio.gather(*(client.call(Ask(question=str(n))) for n in range(200)))
    assert [answer.text for answer in answers] == [str(n) for n in range(200)]


async def test_a_client_that_leaves_takes_its_calls_with_it(worker: Worker, tmp_path: Path) -> None:
    client = await connect(tmp_path)
    evaluation = await evaluating(worker, client)
    await client.close()
    await worker.cancelled.wait()
    await worker.gone.wait()
    assert worker.present == []
    with pytest.raises(ControlError):
        await evaluation
    with pytest.raises(ControlError):
        await client.call(Pause())


async def test_errors_keep_their_class_and_bugs_are_logged(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    for request, error, words in (
        (GetSettings(), UsageError, "Not like this"),
        (Examine(), SapoError, r"internal error.*ZeroDivisionError: oops"),
        (ListTasks(), SapoError, "too many for one message"),
    ):
        with pytest.raises(error, match=words):
            await client.call(request)
    assert await client.call(Pause()) == Ok(text="paused")
    assert "ZeroDivisionError" in caplog.text


async def test_a_call_that_the_worker_gives_up_is_answered(worker: Worker, client: Client) -> None:
    asking = asyncio.create_task(client.call(GetStatus()))
    await client.call(Pause())
    worker.starting.cancel()
    with pytest.raises(NotRunning, match="The worker is stopping"):
        await asking


async def test_events_reach_those_who_want_them_until_the_end(worker: Worker, tmp_path: Path) -> None:
    listener, quiet = await connect(tmp_path), await connect(tmp_path, events=False)
    await listener.call(Pause())
    await quiet.call(Pause())
    worker.server.publish(Notice(level="info", text="hello"))
    worker.server.publish(Stopping(failed=False, reason="Stopped as requested."))
    await worker.server.close()
    assert [type(event) async for event in listener.events()] == [Notice, Stopping]
    assert [event async for event in quiet.events()] == []


async def test_a_client_that_does_not_look_gets_no_progress(worker: Worker, tmp_path: Path) -> None:
    listener = await connect(tmp_path)
    await listener.watch(False)
    await listener.call(Pause())  # behind it in the channel: now it holds
    worker.server.publish(Progressed(round=1, phase="train", done=1, total=2))
    worker.server.publish(Notice(level="info", text="hello"))
    await worker.server.close()
    assert [type(event) async for event in listener.events()] == [Notice]


async def test_who_does_not_read_loses_progress_then_answers_then_its_place(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "QUEUE_FOR_ANSWERS", 80)
    monkeypatch.setattr(channel, "QUEUE", 100)

    link = await open_link(worker.folder.control)
    await link.send(Attach())
    await link.send(Call(id=1, body=packed(Pause())))
    await link.receive()
    (served,) = worker.server._clients
    long = "x" * 1_000_000
    # The client reads nothing: the socket's buffers fill up, then the queue does.
    for _ in range(1000):
        worker.server.publish(AskProgressed(stream=1, text=long, tokens=1))
    assert served._queue.qsize() == channel.QUEUE_FOR_PROGRESS
    for _ in range(100):
        worker.server.publish(Answered(round=1, task="gcd/easy", question="", completion=long, solved=True))
    assert served._queue.qsize() == 80
    for _ in range(101):
        worker.server.publish(Notice(level="info", text=long))
    await worker.gone.wait()
    assert worker.present == []
    await link.close()


async def test_a_window_that_freezes_while_it_closes_keeps_no_worker_from_ending(tmp_path: Path) -> None:
    async with listening(tmp_path) as worker:
        link = await open_link(worker.folder.control)
        await link.send(Attach())
        await link.send(Call(id=1, body=packed(Pause())))
        await link.receive()
        (served,) = worker.server._clients
        frozen = link._connection
        frozen.transport.pause_reading()
        frozen.protocol.send_close(1000)
        frozen.send_data()
        while served._connection.state is State.OPEN:
            await asyncio.sleep(0)
        await asyncio.wait_for(worker.server.close(), 20)
        assert worker.present == []


# -- the control file -------------------------------------------------------------------------------------------


async def test_the_control_file_is_private_and_removed_at_exit(tmp_path: Path) -> None:
    async with listening(tmp_path) as worker:
        path = worker.folder.control / FILE
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(worker.folder.control.stat().st_mode) == 0o700
        assert [entry.name for entry in worker.folder.control.iterdir()] == [FILE]
    assert list((tmp_path / "control").iterdir()) == []


async def test_without_a_worker_the_client_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotRunning, match=r"No node is running in .* In a terminal: sapo-desktop run"):
        await connect(tmp_path)


async def test_what_a_killed_worker_left_is_replaced(client: Client, tmp_path: Path) -> None:
    control = DataFolder.open(tmp_path).control
    stale = {"port": 1, "secret": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "pid": 1}
    (control / FILE).write_text(json.dumps(stale))
    with pytest.raises(NotRunning, match="has stopped"):
        await connect(tmp_path)

    assert await client.call(Pause()) == Ok(text="paused")


async def test_a_folder_that_others_may_enter_is_used_by_neither_side(worker: Worker, tmp_path: Path) -> None:
    worker.folder.control.chmod(0o755)
    with pytest.raises(FolderError, match="can enter"):
        await connect(tmp_path)
    another = ControlServer(worker.folder.control, worker.handle, worker.attached, worker.detached)
    with pytest.raises(FolderError, match="can enter"):
        await another.start()
    worker.folder.control.chmod(0o700)


async def test_a_damaged_file_is_explained(tmp_path: Path) -> None:
    (DataFolder.open(tmp_path).control / FILE).write_text("{")
    with pytest.raises(ControlError, match="damaged"):
        await connect(tmp_path)


# -- strangers --------------------------------------------------------------------------------------------------


async def strange(worker: Worker) -> ClientConnection:
    return await ws_connect(f"ws://127.0.0.1:{worker.port}", proxy=None)


async def test_a_wrong_secret_is_refused(worker: Worker) -> None:
    """The client continues as if it were accepted."""
    connection = await strange(worker)
    own, imposter = ClientSide(b"x" * 32), WorkerSide(b"x" * 32)
    await connection.send(msgspec.msgpack.encode(own.greet()))
    await connection.recv()
    await connection.send(msgspec.msgpack.encode(own.prove(imposter.prove(own.greet()))))
    with pytest.raises(ConnectionClosed):
        await connection.send(msgspec.msgpack.encode(Attach()))
        await connection.send(msgspec.msgpack.encode(Call(id=1, body=packed(Pause()))))
        await connection.recv()
    assert worker.present == []


@contextlib.asynccontextmanager
async def in_its_place(root: Path, stranger: Callable[[Any], Awaitable[None]]) -> AsyncIterator[None]:
    """Something else listens where the control file says that the worker does."""
    control = DataFolder.open(root).control
    async with serve(stranger, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        content = {"port": port, "secret": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "pid": 1}
        (control / FILE).write_text(json.dumps(content))
        yield


async def test_an_impostor_on_the_workers_port_learns_nothing(tmp_path: Path) -> None:
    """It greets back with a proof it cannot have; the client leaves without having shown one of its own."""
    heard: list[bytes] = []

    async def impostor(connection: Any) -> None:
        greeting = msgspec.msgpack.decode(await connection.recv(), type=Greeting)
        await connection.send(msgspec.msgpack.encode(WorkerSide(b"guess" + b"x" * 27).prove(greeting)))
        async for message in connection:
            heard.append(message)

    async with in_its_place(tmp_path, impostor):
        with pytest.raises(ControlError, match="not the worker"):
            await connect(tmp_path)
    assert heard == []


@pytest.mark.parametrize("answer", [b"\xc1", msgspec.msgpack.encode(Pause()), "text"])
async def test_something_else_on_the_port_is_not_taken_for_the_worker(tmp_path: Path, answer: bytes | str) -> None:
    async def other(connection: Any) -> None:
        await connection.send(answer)
        await connection.wait_closed()

    async with in_its_place(tmp_path, other):
        with pytest.raises(ControlError, match="The program at the worker's port does not"):
            await connect(tmp_path)


async def test_web_pages_and_other_names_are_refused(worker: Worker) -> None:
    here = f"ws://127.0.0.1:{worker.port}"
    for origin in ("https://example.org", "null", f"http://127.0.0.1:{worker.port}"):
        with pytest.raises(InvalidStatus, match="403"):
            await ws_connect(here, origin=origin, proxy=None)
    for host in (f"localhost:{worker.port}", f"evil.example:{worker.port}", "127.0.0.1"):
        with pytest.raises(InvalidStatus, match="403"):
            await ws_connect(f"ws://{host}/", host="127.0.0.1", port=worker.port, proxy=None)


@pytest.mark.parametrize(
    ("garbage", "code"),
    [
        *((one, "1008") for one in (b"", b"\xc1", b"\x90" * 100, "text", msgspec.msgpack.encode(Attach()))),
        (b"\x81\xa4\xff\xff\xff\xff\x01", "1008"),
        (b"\x81\xa1a" * 1200, "1008"),
        (b"x" * (channel.MAX_PROOF + 1), "1009"),
    ],
    ids=["empty", "no msgpack", "lists", "text", "no greeting", "no text", "nested", "large"],
)
async def test_garbage_before_the_proof_ends_it(worker: Worker, garbage: bytes | str, code: str) -> None:
    connection = await strange(worker)
    await connection.send(garbage)
    with pytest.raises(ConnectionClosed, match=code):
        await connection.recv()


async def test_an_unknown_message_after_the_proof_ends_the_connection(worker: Worker) -> None:
    link = await open_link(worker.folder.control)
    await link.send(Attach())
    await link.send(Attach())
    with pytest.raises(ControlError):
        await link.receive()
    await worker.gone.wait()


async def test_without_a_proof_the_connection_ends_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "STRANGER_SECONDS", 0.2)
    async with listening(tmp_path) as worker:
        silent, writer = await asyncio.open_connection("127.0.0.1", worker.port)
        assert await silent.read() == b""
        writer.close()
        connection = await strange(worker)
        with pytest.raises(ConnectionClosed, match="1008"):
            await connection.recv()


@pytest.mark.parametrize("frame", [0x89, 0x8A], ids=["ping", "pong"])
async def test_a_stranger_that_floods_before_its_proof_is_cut_off(worker: Worker, frame: int) -> None:
    connection = await strange(worker)
    connection.transport.write((bytes([frame, 0x80]) + bytes(4)) * 1000)
    with pytest.raises(ConnectionClosed):
        await connection.recv()


async def test_two_hundred_half_open_connections_do_not_keep_a_client_out(worker: Worker, tmp_path: Path) -> None:
    ends = [await asyncio.open_connection("127.0.0.1", worker.port) for _ in range(200)]
    async with await connect(tmp_path) as client:
        assert await client.call(Pause()) == Ok(text="paused")
        for end, _ in ends[: 200 - channel.MAX_UNPROVEN]:
            assert await end.read() == b"", "the oldest are pushed out"
        assert len(worker.server._unproven) <= channel.MAX_UNPROVEN
    for _, writer in ends:
        writer.close()


# -- giving up, and beginning -------------------------------------------------------------------------------------


async def test_a_cancelled_call_is_given_up_and_the_client_goes_on(worker: Worker, client: Client) -> None:
    evaluation = await evaluating(worker, client)
    evaluation.cancel()
    await asyncio.wait([evaluation])
    assert evaluation.cancelled()
    await worker.cancelled.wait()
    assert await client.call(Pause()) == Ok(text="paused")


async def test_only_the_call_that_was_given_up_ends(worker: Worker, client: Client) -> None:
    kept = await evaluating(worker, client)
    await client._link.send(Cancel(id=99))
    assert await client.call(Pause()) == Ok(text="paused")
    assert not worker.cancelled.is_set()
    worker.go_on.set()
    assert await kept == EVALUATED


async def test_an_order_and_a_cancel_are_read_however_many_calls_are_unanswered(worker: Worker, client: Client) -> None:
    calls = [asyncio.create_task(client.call(Evaluate())) for _ in range(channel.MAX_CALLS + 2)]
    await worker.waiting.wait()
    waits = asyncio.create_task(client.call(Ask(question="after them")))
    assert await client.call(Pause()) == Ok(text="paused")
    assert not waits.done()
    calls[0].cancel()
    await worker.cancelled.wait()
    worker.go_on.set()
    assert (await waits).text == "after them"
    assert await asyncio.gather(*calls[1:]) == [EVALUATED] * (channel.MAX_CALLS + 1)


async def test_calls_without_end_are_refused(worker: Worker, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "MAX_WAITING", 1)

    calls = [asyncio.create_task(client.call(Evaluate())) for _ in range(channel.MAX_CALLS + 1)]
    await worker.waiting.wait()
    with pytest.raises(ControlError, match="Wait for some answers"):
        await client.call(Evaluate())
    worker.go_on.set()
    await asyncio.gather(*calls)


async def test_calls_that_are_given_up_leave_their_places_to_others(worker: Worker, client: Client) -> None:
    calls = [asyncio.create_task(client.call(Evaluate())) for _ in range(channel.MAX_CALLS)]
    await worker.waiting.wait()
    for call in calls:
        call.cancel()
    await asyncio.wait(calls)
    assert await client.call(Pause()) == Ok(text="paused")


async def test_a_client_gets_something_before_all_others(worker: Worker, tmp_path: Path) -> None:
    """What is sent to a new client reaches it before any event, however soon that follows."""

    def attached(client: Served, owner: bool) -> None:
        worker.server.tell(client, Notice(level="info", text="first"))
        worker.server.publish(Notice(level="info", text="second"))

    worker.server._on_attach = attached
    async with await connect(tmp_path) as client, await connect(tmp_path, events=False) as quiet:
        await quiet.call(Pause())
        events = client.events()
        texts = [event.text for event in [await anext(events), await anext(events)] if isinstance(event, Notice)]
        assert texts == ["first", "second"]
        assert quiet._events.empty()

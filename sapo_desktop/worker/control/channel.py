"""Both ends of the control channel: a websocket on this computer's loopback address.

A client has half a minute to prove that it can read the data folder (proof.py); requests with an Origin (web pages) or
another Host (rebound names) are refused before that. Each call runs as its own task, so that `pause` works during an
evaluation. Messages that a client does not read wait in a bounded queue: first progress is dropped, then answers, then
the client is cut off; the worker never waits for it. `handle` decides what calls mean.
"""

from __future__ import annotations

import asyncio
import contextlib
import http
import logging
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Union

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.connection import Connection
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.http11 import Request as HttpRequest
from websockets.http11 import Response as HttpResponse

from sapo_desktop.core.errors import ControlError, NotRunning, SapoError
from sapo_desktop.core.files.reading import UNREADABLE
from sapo_desktop.core.link.handlers import failure
from sapo_desktop.core.link.requests import (
    Cancel,
    Note,
    Reply,
    Request,
    ToClient,
    ToServer,
    encode,
    packed,
)
from sapo_desktop.core.network.connection import BoundedConnection
from sapo_desktop.core.sentences import sentence
from sapo_desktop.worker.control.messages import asking, facts, models, requests, rollouts, serving
from sapo_desktop.worker.control.messages.asking import AskProgressed
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.events import Answered, Event, PhaseChanged, Progressed
from sapo_desktop.worker.control.messages.models import CancelModelWork
from sapo_desktop.worker.control.messages.requests import Finish, Pause, Quit, Resume, SetSilo, Watch
from sapo_desktop.worker.control.proof import (
    Attach,
    ClientProof,
    ClientSide,
    ControlFile,
    Greeting,
    WorkerProof,
    WorkerSide,
    read_control_file,
    remove_control_file,
    write_control_file,
)
from sapo_desktop.worker.hosts.patience import Patience, settled

MAX_MESSAGE = 16 * 1024 * 1024
"""Bytes of one message, either way."""
MAX_PROOF = 4096
"""Like MAX_MESSAGE, before the proof."""
PROOF_SECONDS = 15.0
"""The worker's limit, not counting time without a processor on either side."""
PROOF_LOOK_SECONDS = 1.0
STRANGER_SECONDS = 30.0
"""A client's limit; it may lack processor time, too: places are scarce, not time."""
MAX_UNPROVEN = 32
"""Connections without a proof; a further one replaces the oldest."""
MAX_CALLS = 32
"""Concurrent calls of one client; more wait until one is answered, except orders."""
MAX_WAITING = 256
"""Waiting calls; more are refused, because the reader must not stop: a Cancel or a Pause may follow."""
ORDERS = (Pause, Resume, Finish, Quit, SetSilo, CancelModelWork, Watch)
"""Calls that never wait for others."""
QUEUE_FOR_PROGRESS = 64
QUEUE_FOR_ANSWERS = 4096
QUEUE = 65_536
"""Waiting messages of one client: from the first number on, progress is dropped, from the second on also answers and
phases; at the third the client is cut off. A terminal with stopped output (Ctrl-S, a pager) owns its node, which
ends with it, so rounds of several days fit."""
FLUSH_SECONDS = 1.0
GONE = sentence("The worker has stopped. logs/worker.log in the data folder says why.", in_terminal="sapo-desktop run")
_DEFINED = [vars(module).values() for module in (asking, facts, models, requests, rollouts, serving)]
REQUESTS = frozenset(
    kind for names in _DEFINED for kind in names if isinstance(kind, type) and issubclass(kind, Request)
) - {Request}
"""All requests of the modules that define some."""
REQUEST: msgspec.msgpack.Decoder[Request[object]] = msgspec.msgpack.Decoder(Union[tuple(REQUESTS)])  # noqa: UP007 - msgspec decodes a union of classes, which a type checker does not see
TO_WORKER: msgspec.msgpack.Decoder[ToServer] = msgspec.msgpack.Decoder(ToServer)
TO_CLIENT: msgspec.msgpack.Decoder[ToClient] = msgspec.msgpack.Decoder(ToClient)


class Client:
    """One proven client, with its waiting messages."""

    def __init__(self, connection: ServerConnection, attach: Attach) -> None:
        self.owner = attach.owner
        self.events = attach.events
        self.stay = attach.stay
        self.closely = True
        """Whether it wants answers and progress, too."""
        self._connection = connection
        self._queue: asyncio.Queue[bytes] = asyncio.Queue()

    def put(self, frame: bytes) -> None:
        """Send a message when the client reads it."""
        # A client that reads nothing is cut off: a frozen window must not stop the rounds.
        if self._queue.qsize() >= QUEUE:
            self._connection.transport.abort()
            return
        self._queue.put_nowait(frame)

    def put_event(self, event: Event, frame: bytes) -> None:
        """Like `put`, for an event, which may be dropped."""
        waiting = self._queue.qsize()
        if waiting >= QUEUE_FOR_PROGRESS and isinstance(event, Progressed | AskProgressed):
            return
        if waiting >= QUEUE_FOR_ANSWERS and isinstance(event, Answered | PhaseChanged):
            return
        self.put(frame)

    async def send_queued(self) -> None:
        """Send the queue, as fast as the client reads, until cancelled."""
        while True:
            frame = await self._queue.get()
            await self._connection.send(frame)
            self._queue.task_done()

    async def flush(self) -> None:
        await self._queue.join()

    def end_soon(self) -> None:
        """End the connection in any case; the library waits forever for a client that began to close and froze."""
        asyncio.get_running_loop().call_later(FLUSH_SECONDS, self._connection.transport.abort)


Handle = Callable[[Client, Request[object]], Awaitable[object]]
Notify = Callable[[Client, bool], None]
"""Called with a client and whether it is an owner (the window or terminal that started the worker)."""


class ControlServer:
    """The control channel of one worker. `folder` is the data folder's private `control/`."""

    def __init__(self, folder: Path, handle: Handle, on_attach: Notify, on_detach: Notify) -> None:
        self._folder = folder
        self._handle = handle
        self._on_attach = on_attach
        self._on_detach = on_detach
        self._clients: set[Client] = set()
        self._unproven: dict[ServerConnection, None] = {}  # in order of arrival
        self._server: Server | None = None
        self._file: ControlFile | None = None

    async def start(self) -> None:
        """Listen, and write the port to the control file.

        Raises:
            FolderError: others could read that file.
        """
        self._server = await serve(
            self._serve,
            "127.0.0.1",
            0,
            process_request=self._refuse_strangers,
            create_connection=_counted(self._unproven),
            compression=None,
            max_size=MAX_PROOF,
            open_timeout=STRANGER_SECONDS,
            close_timeout=FLUSH_SECONDS,
            ping_interval=None,  # the system reports the end of a local process; a suspended one is not dead
            server_header=None,
            logger=_quiet_logger(),
        )
        port = next(iter(self._server.sockets)).getsockname()[1]
        try:
            self._file = write_control_file(self._folder, port)
        except BaseException:
            self._server.close()
            raise

    def others(self, client: Client) -> bool:
        """Whether other clients are attached."""
        return bool(self._clients - {client})

    def publish(self, event: Event) -> None:
        """Send an event to every client that wants events. Returns at once."""
        frame = encode(Note(body=packed(event)))
        for client in list(self._clients):
            if client.events and (client.closely or not isinstance(event, Answered | Progressed)):
                client.put_event(event, frame)

    def tell(self, client: Client, event: Event) -> None:
        """Send an event to one client, if it wants events. Returns at once."""
        if client.events:
            client.put(encode(Note(body=packed(event))))

    async def close(self) -> None:
        """Remove the control file, give clients a moment to read their messages, and stop."""
        if self._server is None:
            return
        if self._file is not None:
            # First, so that no new client finds a worker that is about to end.
            remove_control_file(self._folder, self._file)
        flushing = [asyncio.create_task(client.flush()) for client in self._clients]
        if flushing:
            _, late = await asyncio.wait(flushing, timeout=FLUSH_SECONDS)
            for task in late:
                task.cancel()
        for connection in self._unproven:
            connection.transport.abort()
        for client in self._clients:
            client.end_soon()
        self._server.close()
        await self._server.wait_closed()
        self._server = None

    # -- one connection -------------------------------------------------------------------------------------------

    def _refuse_strangers(self, connection: ServerConnection, request: HttpRequest) -> HttpResponse | None:
        """Accept only our own clients: no web page, and no rebound name."""
        port = connection.local_address[1]
        if request.headers.get_all("Origin"):
            return connection.respond(http.HTTPStatus.FORBIDDEN, "Web pages may not connect here.\n")
        if request.headers.get_all("Host") != [f"127.0.0.1:{port}"]:
            return connection.respond(http.HTTPStatus.FORBIDDEN, "Not this host.\n")
        return None

    async def _serve(self, connection: ServerConnection) -> None:
        try:
            async with asyncio.timeout(STRANGER_SECONDS):
                attach = await self._proven(connection)
        except (TimeoutError, *UNREADABLE, ConnectionClosed):
            attach = None
        self._unproven.pop(connection, None)
        if attach is None:
            await connection.close(1008, "no proof")
            return
        # Raised only now: before the proof, only small messages are allowed.
        connection.protocol.max_message_size = MAX_MESSAGE
        client = Client(connection, attach)
        self._clients.add(client)
        self._on_attach(client, client.owner)
        sender = asyncio.create_task(client.send_queued())
        try:
            await self._take_calls(connection, client)
        except UNREADABLE as error:
            await connection.close(1007, f"not a message of this release: {error}"[:120])
        except ConnectionClosed:
            pass
        finally:
            self._clients.discard(client)
            sender.cancel()
            await asyncio.wait({sender})
            if not sender.cancelled():
                sender.exception()  # the end of the connection, which the loop above has seen too
            self._on_detach(client, client.owner)

    async def _proven(self, connection: ServerConnection) -> Attach | None:
        """Do the proof; the client's first message after it, or None if it does not know the secret."""
        assert self._file is not None
        side = WorkerSide(self._file.secret)
        greeting = msgspec.msgpack.decode(await _received(connection), type=Greeting)
        await connection.send(msgspec.msgpack.encode(side.prove(greeting)))
        if not side.accepts(msgspec.msgpack.decode(await _received(connection), type=ClientProof)):
            return None
        return msgspec.msgpack.decode(await _received(connection), type=Attach)

    async def _take_calls(self, connection: ServerConnection, client: Client) -> None:
        """Start a task per call. A call that the client cancels is cancelled; when it leaves, all unanswered ones
        are."""
        free = asyncio.Semaphore(MAX_CALLS)
        running: dict[asyncio.Task[None], int] = {}
        try:
            while True:
                message = TO_WORKER.decode(await _received(connection))
                if isinstance(message, Cancel):
                    for task in [task for task, number in running.items() if number == message.id]:
                        task.cancel()
                    continue
                request = REQUEST.decode(message.body)
                if isinstance(request, Watch):
                    client.closely = request.closely  # at once: what was sent before it is not affected
                    client.put(encode(Reply(id=message.id, body=packed(Ok()))))
                    continue
                if len(running) >= MAX_CALLS + MAX_WAITING and not isinstance(request, ORDERS):
                    refused = ControlError(sentence("Too many requests at once. Wait for some answers."))
                    client.put(encode(failure(message.id, refused, SapoError)))
                    continue
                task = asyncio.create_task(self._answer_in_turn(client, message.id, request, free))
                running[task] = message.id
                task.add_done_callback(running.pop)
        finally:
            for task in running:
                task.cancel()
            if running:
                # A host may take longer to stop; that the client has left must be known now.
                await asyncio.wait(running, timeout=FLUSH_SECONDS)

    async def _answer_in_turn(
        self, client: Client, number: int, request: Request[object], free: asyncio.Semaphore
    ) -> None:
        async with contextlib.nullcontext() if isinstance(request, ORDERS) else free:
            try:
                frame = encode(Reply(id=number, body=packed(await self._handle(client, request))))
                if len(frame) > MAX_MESSAGE:
                    raise SapoError(
                        "The answer has {size} bytes, too many for one message. Ask for less.", size=len(frame)
                    )
            except asyncio.CancelledError:
                task = asyncio.current_task()
                # `cancelling` counts cancels of this task; without one the worker itself gave up the work, and says so.
                if task is not None and task.cancelling():
                    raise  # the client left or cancelled it
                ending = NotRunning(sentence("The worker is stopping. Ask again once it has restarted."))
                frame = encode(failure(number, ending, SapoError))
            except Exception as error:  # noqa: BLE001 - the edge of the process: each error becomes an answer
                frame = encode(failure(number, error, SapoError))
            client.put(frame)


def _counted(unproven: dict[ServerConnection, None]) -> type[ServerConnection]:
    """Connections counted in `unproven` from their first byte; above the limit the oldest is closed."""

    class Counted(BoundedConnection, ServerConnection):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            while len(unproven) >= MAX_UNPROVEN:
                oldest = next(iter(unproven))
                del unproven[oldest]
                oldest.transport.abort()
            unproven[self] = None

        def connection_lost(self, exc: Exception | None) -> None:
            unproven.pop(self, None)
            super().connection_lost(exc)

    return Counted


class _Dialled(BoundedConnection, ClientConnection):
    """What listens there may not be a worker."""


class ControlLink:
    """The client's end: messages to and from a proven worker. Made by `open_link`."""

    def __init__(self, connection: ClientConnection, worker: ControlFile) -> None:
        self._connection = connection
        self.worker_pid = worker.pid

    async def send(self, message: ToServer | Attach) -> None:
        """Send a message. Raises ControlError if the worker has ended."""
        try:
            await self._connection.send(encode(message))
        except ConnectionClosed as error:
            raise ControlError(GONE) from error

    async def receive(self) -> ToClient:
        """The next message. Raises ControlError if the worker has ended."""
        try:
            return TO_CLIENT.decode(await _received(self._connection))
        except ConnectionClosed as error:
            raise ControlError(GONE) from error
        except UNREADABLE as error:
            raise other_release(error) from error

    async def close(self) -> None:
        await self._connection.close()


def other_release(error: Exception) -> ControlError:
    """The error for a message that could not be decoded."""
    return ControlError(
        "The worker is from another release ({error}). End it and start it again.",
        in_terminal="sapo-desktop quit, then sapo-desktop run",
        error=str(error),
    )


async def open_link(folder: Path) -> ControlLink:
    """Connect to the worker of the private folder `folder` (`control/` of a data folder); both sides prove themselves.

    Raises:
        NotRunning: no worker answers.
        ControlError: what answers is not the worker, or does not accept us as its client.
        FolderError: others could have written the control file.
    """
    worker = read_control_file(folder)
    opening = asyncio.create_task(_proven_to(worker))
    try:
        if not await settled(opening, Patience(PROOF_SECONDS), lambda: worker.pid, every=PROOF_LOOK_SECONDS):
            raise ControlError(
                "The worker (process {process}) does not answer. If it hangs, end that process and start the worker "
                "again.",
                process=str(worker.pid),
            )
        connection = opening.result()
    except (OSError, InvalidHandshake) as error:
        raise NotRunning(
            "The node of {folder} has stopped.",
            in_terminal="sapo-desktop run --data {folder}",
            folder=str(folder.parent),
        ) from error
    finally:
        opening.cancel()
    return ControlLink(connection, worker)


async def _proven_to(worker: ControlFile) -> ClientConnection:
    connection = await _connect(worker.port)
    await _prove(connection, ClientSide(worker.secret))
    return connection


async def _connect(port: int) -> ClientConnection:
    # A socket of our own, so that websockets follows neither a proxy setting nor a redirect.
    end = socket.socket()
    end.setblocking(False)
    try:
        await asyncio.get_running_loop().sock_connect(end, ("127.0.0.1", port))
    except BaseException:
        end.close()
        raise
    return await connect(
        f"ws://127.0.0.1:{port}",
        sock=end,
        compression=None,
        max_size=MAX_MESSAGE,
        open_timeout=None,
        close_timeout=FLUSH_SECONDS,
        ping_interval=None,
        user_agent_header=None,
        create_connection=_Dialled,
        logger=_quiet_logger(),
    )


async def _prove(connection: ClientConnection, side: ClientSide) -> None:
    try:
        await connection.send(msgspec.msgpack.encode(side.greet()))
        answer = msgspec.msgpack.decode(await _received(connection), type=WorkerProof)
        await connection.send(msgspec.msgpack.encode(side.prove(answer)))
    except (ConnectionClosed, *UNREADABLE) as error:
        raise ControlError(
            "The program at the worker's port does not answer like a worker ({error}). Start the worker again.",
            error=str(error),
        ) from error
    except BaseException:
        connection.transport.abort()
        raise


async def _received(connection: Connection) -> bytes:
    message = await connection.recv()
    if isinstance(message, str):
        raise msgspec.DecodeError("a text where bytes were expected")
    return message


def _quiet_logger() -> logging.Logger:
    """Strangers' failed handshakes are not logged, so that they cannot fill the log."""
    logger = logging.getLogger("sapo_desktop.control.websockets")
    logger.setLevel(logging.CRITICAL)
    return logger


__all__ = ["Client", "ControlLink", "ControlServer", "open_link"]

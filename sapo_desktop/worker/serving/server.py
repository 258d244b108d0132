"""The local server: who may ask, and how each request is answered.

It listens at 127.0.0.1 only. Every request must contain the key and exactly this address. Requests of web pages (with
an Origin) are refused, so a page in a browser can neither ask nor, through a rebound name, read answers. All this is
checked before the body of a request is read.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
import time
from http import HTTPStatus
from typing import NamedTuple, Protocol

import msgspec

from sapo_desktop.core.errors import ContextFull, ModelError, SapoError, UsageError
from sapo_desktop.core.records import Exchange, Generated, Sampling
from sapo_desktop.worker.hosts.engine import Spoken
from sapo_desktop.worker.serving import chat
from sapo_desktop.worker.serving.http import ARRIVAL_SECONDS, Connection, Gone, Head, Rejected

log = logging.getLogger(__name__)

ADDRESS = "127.0.0.1"
MOST_ARRIVING = 16
"""Connections without a complete request; a further one ends the one that waited longest."""
MOST_ANSWERS = 4
"""Requests that are answered or waiting: there is one model."""
ANSWER_SECONDS = 600.0
"""For an answer, including its wait for the model."""
QUIET_SECONDS = 10.0
"""Seconds without new text after which a stream sends that it is still waiting."""
RETRY_SECONDS = 5
ALIAS = "sapo"
"""A name for the node's current model."""


class ModelFacts(NamedTuple):
    """The model that answers."""

    name: str
    round: int
    """The last round that it learned in."""
    max_tokens: int
    """Training's limit for an answer."""


class Model(Protocol):
    """The model as the server uses it. Both methods raise SapoError."""

    async def facts(self) -> ModelFacts: ...

    async def answer(
        self, question: str, turns: list[Exchange], system: str | None, sampling: Sampling, spoken: Spoken
    ) -> Generated: ...


class LocalServer:
    """Listens from `start` to `close`."""

    def __init__(self, key: str, model: Model) -> None:
        self._key = key.encode()
        self._model = model
        self._began = int(time.time())
        self._arriving: dict[Connection, None] = {}
        """In order of arrival."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._answering = 0
        self._server: asyncio.Server | None = None
        self.port = 0

    async def start(self, port: int) -> None:
        """Listen at that port; 0: at any free one. Raises OSError."""
        self._server = await asyncio.start_server(self._accept, ADDRESS, port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Close the listener, and every answer."""
        if self._server is None:
            return
        self._server.close()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._server.wait_closed()
        self._server = None

    @property
    def url(self) -> str:
        return f"http://{ADDRESS}:{self.port}/v1"

    # -- one connection --------------------------------------------------------------------------------------------

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(Connection(reader, writer)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, connection: Connection) -> None:
        try:
            await self._reply(connection)
            await connection.close()
        except Gone:
            pass
        finally:
            self._arriving.pop(connection, None)
            connection.abort()

    async def _reply(self, connection: Connection) -> None:
        try:
            head, body = await self._arrived(connection)
            await self._route(connection, head, body)
        except Rejected as refused:
            await self._refuse(connection, refused)
        except SapoError as error:
            await self._refuse(connection, _explained(error))
        except Gone:
            raise
        except Exception:
            log.exception("A request of another program failed because of a bug.")
            bug = Rejected(
                HTTPStatus.INTERNAL_SERVER_ERROR, "This is a bug in SAPO Desktop; the node's log says more.", code="bug"
            )
            await self._refuse(connection, bug)

    async def _refuse(self, connection: Connection, refused: Rejected) -> None:
        failure = chat.Failure(error=refused.info)
        if not connection.is_answered:
            await connection.reply(failure, refused.status, refused.headers)
            return
        await connection.send_event(failure)  # the stream has started; without its last line, it is known to be broken
        await connection.end_stream()

    async def _arrived(self, connection: Connection) -> tuple[Head, bytes]:
        """An authorised request. Raises Rejected, Gone."""
        while len(self._arriving) >= MOST_ARRIVING:
            oldest = next(iter(self._arriving))
            del self._arriving[oldest]
            oldest.abort()
        self._arriving[connection] = None
        try:
            async with asyncio.timeout(ARRIVAL_SECONDS):
                head = await connection.head()
                self._check(head)
                return head, await connection.body()
        except TimeoutError:
            raise Rejected(
                HTTPStatus.REQUEST_TIMEOUT, "The request took too long to arrive: send it at once.", code="timeout"
            ) from None
        finally:
            self._arriving.pop(connection, None)

    def _check(self, head: Head) -> None:
        if head.all("host") not in ([f"{ADDRESS}:{self.port}"], [f"localhost:{self.port}"]):
            raise Rejected(
                HTTPStatus.FORBIDDEN,
                f"Use the address {ADDRESS}:{self.port}, and no other host name.",
                code="wrong_host",
            )
        if head.all("origin"):
            raise Rejected(HTTPStatus.FORBIDDEN, "Web pages may not use this server.", code="web_page")
        given = head.all("authorization")
        scheme, _, key = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        if scheme.lower() != "bearer" or not hmac.compare_digest(key.strip().encode("latin-1"), self._key):
            said = "The key is missing or wrong: send the header 'Authorization: Bearer KEY'. Try it shows the key."
            raise Rejected(
                HTTPStatus.UNAUTHORIZED, said, code="invalid_api_key", headers=[("WWW-Authenticate", "Bearer")]
            )

    async def _route(self, connection: Connection, head: Head, body: bytes) -> None:
        path = head.path.rstrip("/")
        if path == "/v1/chat/completions":
            _allow(head, "POST")
            await self._chat(connection, body)
        elif path == "/v1/models" or path.startswith("/v1/models/"):
            _allow(head, "GET")
            facts = await self._model.facts()
            name = path.removeprefix("/v1/models").removeprefix("/")
            if not name:
                entries = [self._entry(ALIAS), self._entry(facts.name)]
                await connection.reply(chat.ModelList(data=entries))
                return
            self._known(name, facts)
            await connection.reply(self._entry(name))
        else:
            raise Rejected(
                HTTPStatus.NOT_FOUND, "This server has /v1/models and /v1/chat/completions.", code="not_found"
            )

    def _entry(self, name: str) -> chat.ModelEntry:
        return chat.ModelEntry(id=name, created=self._began)

    def _known(self, name: str, facts: ModelFacts) -> None:
        if name not in (ALIAS, facts.name):
            said = f"There is no model '{name[:100]}' here: use '{facts.name}', or '{ALIAS}' for the current one."
            raise Rejected(HTTPStatus.NOT_FOUND, said, code="model_not_found", param="model")

    # -- a chat ----------------------------------------------------------------------------------------------------

    async def _chat(self, connection: Connection, body: bytes) -> None:
        if self._answering >= MOST_ANSWERS:
            said = f"{MOST_ANSWERS} requests are being answered already: try again in a moment."
            raise Rejected(
                HTTPStatus.TOO_MANY_REQUESTS,
                said,
                code="rate_limit_exceeded",
                headers=[("Retry-After", str(RETRY_SECONDS))],
            )
        self._answering += 1
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                asked = chat.read(body, secrets.randbits(31))
                facts = await self._model.facts()
                self._known(asked.model, facts)
                limit = asked.sampling.max_tokens or max(chat.SHORTEST_LIMIT, facts.max_tokens)
                sampling = msgspec.structs.replace(asked.sampling, max_tokens=limit)
                await self._answer(connection, asked._replace(sampling=sampling), facts)
        except TimeoutError:
            said = f"No answer within {ANSWER_SECONDS:.0f} seconds: ask for fewer tokens."
            raise Rejected(HTTPStatus.GATEWAY_TIMEOUT, said, code="timeout") from None
        finally:
            self._answering -= 1

    async def _answer(self, connection: Connection, asked: chat.Asked, facts: ModelFacts) -> None:
        """Answer while the client is connected: unread answers are not computed."""
        news: asyncio.Queue[str] = asyncio.Queue()
        answering = asyncio.create_task(
            self._model.answer(
                asked.question, asked.turns, asked.system, asked.sampling, lambda text, _: news.put_nowait(text)
            )
        )
        leaving = asyncio.create_task(connection.until_gone())
        reply = _Reply(connection, asked, facts)
        writing = asyncio.create_task(reply.stream(answering, news) if asked.streamed else reply.whole(answering))
        try:
            done, _ = await asyncio.wait({writing, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if writing not in done:
                raise Gone
            await writing
        finally:
            for task in (writing, answering, leaving):
                task.cancel()
            await asyncio.gather(writing, answering, leaving, return_exceptions=True)


class _Reply:
    """The reply to one chat request."""

    def __init__(self, connection: Connection, asked: chat.Asked, facts: ModelFacts) -> None:
        self._connection = connection
        self._asked = asked
        self._stops = chat.Stops(asked.sampling.stop)
        self._id = f"chatcmpl-{secrets.token_hex(12)}"
        self._created = int(time.time())
        self._facts = facts
        self._sent = ""

    async def whole(self, answering: asyncio.Task[Generated]) -> None:
        """Send the answer in one piece."""
        made = await answering
        text, finish = self._end(made)
        await self._connection.reply(
            chat.Completion(
                id=self._id,
                created=self._created,
                model=self._facts.name,
                system_fingerprint=self._state,
                choices=[chat.Choice(message=chat.Said(role="assistant", content=text), finish_reason=finish)],
                usage=_usage(made),
            )
        )

    async def stream(self, answering: asyncio.Task[Generated], news: asyncio.Queue[str]) -> None:
        """Piece by piece. An error before the first text is sent as without a stream."""
        while not answering.done():
            coming = asyncio.create_task(news.get())
            try:
                await asyncio.wait({coming, answering}, timeout=QUIET_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                if coming.done():
                    newest = coming.result()
                    while not news.empty():
                        newest = news.get_nowait()
                    await self._say(self._stops.shown(newest))
                elif not answering.done():
                    await self._begin()
                    await self._connection.send_line(": waiting for the model")
            finally:
                coming.cancel()
        made = await answering
        text, finish = self._end(made)
        await self._say(text)
        await self._begin()
        await self._send(chat.Delta(delta=chat.Said(), finish_reason=finish))
        if self._asked.with_usage:
            await self._connection.send_event(self._chunk([], _usage(made)))
        await self._connection.send_line("data: [DONE]")
        await self._connection.end_stream()

    async def _say(self, text: str) -> None:
        """Send what is new; after a host died the same text comes again, and was already sent."""
        if len(text) > len(self._sent) and text.startswith(self._sent):
            await self._begin()
            await self._send(chat.Delta(delta=chat.Said(content=text[len(self._sent) :])))
            self._sent = text

    async def _begin(self) -> None:
        if not self._connection.is_answered:
            await self._connection.begin_stream()
            await self._send(chat.Delta(delta=chat.Said(role="assistant", content="")))

    async def _send(self, delta: chat.Delta) -> None:
        await self._connection.send_event(self._chunk([delta]))

    def _chunk(self, choices: list[chat.Delta], usage: chat.Usage | None = None) -> chat.Chunk:
        return chat.Chunk(
            id=self._id,
            created=self._created,
            model=self._facts.name,
            system_fingerprint=self._state,
            choices=choices,
            usage=usage,
        )

    @property
    def _state(self) -> str:
        return f"round-{self._facts.round}"

    def _end(self, made: Generated) -> tuple[str, str]:
        """The text, and why it ends."""
        completion = made.completions[0][0]
        text, stopped = self._stops.cut(completion.text)
        return text, "length" if completion.finish == "length" and not stopped else "stop"


def _usage(made: Generated) -> chat.Usage:
    prompt, answer = len(made.prompt_tokens[0]), len(made.completions[0][0].tokens)
    return chat.Usage(prompt_tokens=prompt, completion_tokens=answer, total_tokens=prompt + answer)


def _allow(head: Head, method: str) -> None:
    if head.method != method:
        raise Rejected(
            HTTPStatus.METHOD_NOT_ALLOWED, f"Ask with {method}.", code="method_not_allowed", headers=[("Allow", method)]
        )


def _explained(error: SapoError) -> Rejected:
    """An unanswerable request, as one of OpenAI's errors."""
    match error:
        case ContextFull():
            return Rejected(HTTPStatus.BAD_REQUEST, str(error), code="context_length_exceeded", param="messages")
        case UsageError() | ModelError():
            return Rejected(HTTPStatus.BAD_REQUEST, str(error), code="invalid_request")
    return Rejected(
        HTTPStatus.SERVICE_UNAVAILABLE, str(error), code="unavailable", headers=[("Retry-After", str(RETRY_SECONDS))]
    )

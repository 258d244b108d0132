"""Programs that ask the local server, and a model that answers them without computing."""

import asyncio
import contextlib
import http.client
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.records import Completion, Exchange, Generated, Sampling
from sapo_desktop.worker.serving.server import LocalServer, ModelFacts

KEY = "sk-sapo-" + "k" * 32
CHAT = "/v1/chat/completions"


@dataclass
class FakeModel:
    """Says `words` one by one. `hold`: what it waits for before each; `error`: what it raises instead."""

    words: tuple[str, ...] = ("7+5", "=12 ", "<answer>", "12", "</answer>")
    error: SapoError | None = None
    hold: asyncio.Event | None = None
    asked: list[tuple[str, list[Exchange], str | None, Sampling]] = field(default_factory=list)
    given_up: int = 0

    async def facts(self) -> ModelFacts:
        return ModelFacts("starter", 41, 96)

    async def answer(
        self,
        question: str,
        turns: list[Exchange],
        system: str | None,
        sampling: Sampling,
        spoken: Callable[[str, int], None],
    ) -> Generated:
        self.asked.append((question, turns, system, sampling))
        if self.error is not None:
            raise self.error
        text = ""
        try:
            for number, word in enumerate(self.words, 1):
                if self.hold is not None:
                    await self.hold.wait()
                await asyncio.sleep(0)
                text += word
                spoken(text, number)
        except asyncio.CancelledError:
            self.given_up += 1
            raise
        tokens = list(range(len(self.words)))
        finish = "closed" if text.endswith("</answer>") else "length"
        completion = Completion(tokens=tokens, logprobs=[], text=text, finish=finish)  # type: ignore[arg-type]
        return Generated(prompt_tokens=[[1, 2, 3]], completions=[[completion]], seconds=0.1, batch=1)


@contextlib.asynccontextmanager
async def serving(model: FakeModel) -> AsyncIterator[LocalServer]:
    server = LocalServer(KEY, model)
    await server.start(0)
    try:
        yield server
    finally:
        await server.close()


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The code of an error."""
        error = self.json["error"]
        assert set(error) == {"message", "type", "param", "code"} and error["message"]
        return str(error["code"])

    @property
    def events(self) -> list[Any]:
        """The events of a stream that ended properly."""
        *events, last = [line for line in self.body.decode().split("\n\n") if line]
        assert last == "data: [DONE]"
        return [json.loads(event.removeprefix("data: ")) for event in events if not event.startswith(":")]


def _ask(port: int, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Reply:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request(method, path, body, headers)
        reply = connection.getresponse()
        return Reply(reply.status, {key.lower(): value for key, value in reply.getheaders()}, reply.read())
    finally:
        connection.close()


async def ask(
    server: LocalServer, path: str, body: object = None, *, key: str = KEY, method: str = "", **headers: str
) -> Reply:
    """What a program gets that asks with this key; a body that is not bytes goes as JSON."""
    content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    given = {"Authorization": f"Bearer {key}"} | headers
    return await asyncio.to_thread(
        _ask, server.port, method or ("GET" if content is None else "POST"), path, content, given
    )


def request(*messages: tuple[str, object], **more: object) -> dict[str, object]:
    """A chat's request; without messages one that asks something."""
    said = messages or (("user", "What is 7 + 5?"),)
    return {"model": "sapo", "messages": [{"role": role, "content": text} for role, text in said], **more}

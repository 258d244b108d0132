"""OpenAI's chat completions: what a request may contain, and the replies.

Refused is what would change the answer and is not supported: tools, several answers, log-probabilities, JSON mode,
pictures. Other fields (top_p, penalties, user, ...) are ignored, as every such server does.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta

from sapo_desktop.core.files.reading import UNREADABLE
from sapo_desktop.core.records import Exchange, Sampling
from sapo_desktop.worker.control.messages.asking import MOST_TURNS
from sapo_desktop.worker.serving.http import ErrorInfo, Rejected

SHORTEST_LIMIT = 512
"""Default limit of tokens in an answer, unless training allows more."""
MOST_TOKENS = 8192
LONGEST_SYSTEM = 20_000
"""Characters, because a template is rendered with it."""
_MOST_MESSAGES = 4 * MOST_TURNS
_SEEDS = 2**31
_WHERE = re.compile(r" - at `\$\.?(.*?)`$")


# -- requests --------------------------------------------------------------------------------------------------


class Part(msgspec.Struct, frozen=True):
    """A part of a message."""

    type: str
    text: str = ""


class Message(msgspec.Struct, frozen=True):
    """One message of a conversation."""

    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[Part]

    @property
    def text(self) -> str:
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content)


class StreamOptions(msgspec.Struct, frozen=True):
    include_usage: bool | None = None


class Format(msgspec.Struct, frozen=True):
    type: str


StopText = Annotated[str, Meta(min_length=1, max_length=100)]


class ChatRequest(msgspec.Struct, frozen=True):
    """The fields that are used or refused."""

    model: str
    messages: Annotated[list[Message], Meta(min_length=1, max_length=_MOST_MESSAGES)]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: Annotated[int, Meta(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Meta(ge=1)] | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    seed: int | None = None
    stop: StopText | Annotated[list[StopText], Meta(max_length=4)] | None = None
    n: int | None = None
    logprobs: bool | None = None
    tools: list[Any] | None = None
    functions: list[Any] | None = None
    response_format: Format | None = None


class Asked(NamedTuple):
    """What a request asks of the model."""

    model: str
    question: str
    turns: list[Exchange]
    system: str | None
    """None: there is none."""
    sampling: Sampling
    """`max_tokens` is 0 if the request has no limit."""
    streamed: bool
    with_usage: bool
    """Whether a stream ends with the count of tokens."""


def read(body: bytes, seed: int) -> Asked:
    """Parse a request. `seed`: used if it has none.

    Raises:
        Rejected: it is invalid, or asks for something unsupported.
    """
    try:
        request = msgspec.json.decode(body, type=ChatRequest)
    except UNREADABLE as error:
        where = _WHERE.search(str(error))
        said = _WHERE.sub("", str(error))
        at = f" ({where[1]})" if where else ""
        raise _bad(f"The request is not a chat completion in JSON: {said}{at}.", where[1] if where else None) from error
    _check(request)
    system, turns, question = _conversation(request.messages)
    stop = [request.stop] if isinstance(request.stop, str) else request.stop or []
    sampling = Sampling(
        greedy=not request.temperature,
        temperature=request.temperature or 1.0,
        max_tokens=min(request.max_completion_tokens or request.max_tokens or 0, MOST_TOKENS),
        seed=(seed if request.seed is None else request.seed) % _SEEDS,
        stop=tuple(stop),
    )
    options = request.stream_options
    with_usage = bool(options and options.include_usage)
    return Asked(request.model, question, turns, system, sampling, bool(request.stream), with_usage)


def _check(request: ChatRequest) -> None:
    if request.n not in (None, 1):
        raise _bad("A request gets one answer: leave out n, or ask several times.", "n")
    if request.logprobs:
        raise _bad("Log-probabilities are not supported: leave out logprobs.", "logprobs")
    for name in ("tools", "functions"):
        if getattr(request, name):
            raise _bad(f"This model cannot call tools: leave out {name}.", name)
    if request.response_format is not None and request.response_format.type != "text":
        raise _bad("Answers are text: leave out response_format.", "response_format")
    for place, message in enumerate(request.messages):
        if not isinstance(message.content, str) and any(part.type != "text" for part in message.content):
            raise _bad("This model reads only text: leave out pictures, sound and files.", f"messages[{place}]")


def _conversation(messages: list[Message]) -> tuple[str | None, list[Exchange], str]:
    """System message, finished turns, and the question. Consecutive messages of one side are joined."""
    system: str | None = None
    said: list[tuple[str, str]] = []
    for message in messages:
        if message.role in ("system", "developer"):
            if said:
                raise _bad("System messages must come before all others.", "messages")
            system = message.text if system is None else f"{system}\n\n{message.text}"
        elif said and said[-1][0] == message.role:
            said[-1] = (message.role, f"{said[-1][1]}\n\n{message.text}")
        else:
            said.append((message.role, message.text))
    if not said or said[0][0] != "user" or said[-1][0] != "user":
        raise _bad("A conversation must begin and end with a user message.", "messages")
    if system is not None and len(system) > LONGEST_SYSTEM:
        raise _bad(f"The system message has more than {LONGEST_SYSTEM:,} characters: shorten it.", "messages")
    texts = [text for _, text in said]
    if not texts[-1].strip():
        raise _bad("The last message is empty: ask something.", "messages")
    turns = [Exchange(question=texts[at], answer=texts[at + 1]) for at in range(0, len(texts) - 1, 2)]
    if len(turns) > MOST_TURNS:
        raise _bad(f"A conversation may have {MOST_TURNS} turns before the question: leave out the oldest.", "messages")
    return system, turns, texts[-1]


def _bad(message: str, param: str | None) -> Rejected:
    return Rejected(HTTPStatus.BAD_REQUEST, message, code="invalid_request", param=param)


# -- replies ---------------------------------------------------------------------------------------------------


class Failure(msgspec.Struct, frozen=True):
    error: ErrorInfo


class Usage(msgspec.Struct, frozen=True):
    """Numbers of tokens."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class Said(msgspec.Struct, frozen=True, omit_defaults=True):
    """A message, or its new part."""

    role: str | None = None
    content: str | None = None


class Choice(msgspec.Struct, frozen=True):
    message: Said
    finish_reason: str
    index: int = 0
    logprobs: None = None


class Delta(msgspec.Struct, frozen=True):
    delta: Said
    finish_reason: str | None = None
    index: int = 0
    logprobs: None = None


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    object: str = "chat.completion"
    created: int
    model: str
    system_fingerprint: str
    """The round up to which the model is trained."""
    choices: list[Choice]
    usage: Usage


class Chunk(msgspec.Struct, frozen=True, kw_only=True):
    """One event of a stream."""

    id: str
    object: str = "chat.completion.chunk"
    created: int
    model: str
    system_fingerprint: str
    choices: list[Delta]
    usage: Usage | None = None


class ModelEntry(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    object: str = "model"
    created: int
    owned_by: str = "sapo-desktop"


class ModelList(msgspec.Struct, frozen=True, kw_only=True):
    object: str = "list"
    data: list[ModelEntry]


class Stops:
    """The visible part of an answer: everything before the first of these texts, and no unfinished part of one."""

    def __init__(self, stop: tuple[str, ...]) -> None:
        self._stop = stop

    def cut(self, text: str) -> tuple[str, bool]:
        """The text before the first stop, and whether there was one."""
        found = [at for one in self._stop if (at := text.find(one)) >= 0]
        return (text[: min(found)], True) if found else (text, False)

    def shown(self, text: str) -> str:
        """Like `cut` for an unfinished answer: an end that may become a stop is held back."""
        text, stopped = self.cut(text)
        if stopped or not self._stop:
            return text
        longest = max(len(one) for one in self._stop) - 1
        for length in range(min(longest, len(text)), 0, -1):
            if any(one.startswith(text[-length:]) for one in self._stop):
                return text[:-length]
        return text

"""What a host process runs around a model that answers: one request in, one reply out.

Loading and encoding are the same for torch, llama.cpp and a server elsewhere; each brings the rest as a `Kind`.
Everything that is wrong with a request rises as an error of core/errors.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from sapo_desktop.core.errors import HostError
from sapo_desktop.core.records import Prompt
from sapo_desktop.core.sentences import sentence
from sapo_desktop.engines import protocols as p

Request = p.EngineRequest | p.GeneratorRequest | p.RemoteRequest
ShouldStop = Callable[[], bool]


class Words(Protocol):
    """Text as the model's ids."""

    def encode_external(self, text: str, end: bool) -> list[int] | None: ...

    def prompt_tokens(self, prompt: Prompt) -> list[int]: ...


class Model(Protocol):
    """What is loaded."""

    @property
    def words(self) -> Words: ...

    def loaded(self) -> p.Loaded:
        """Describe it."""

    def close(self) -> None:
        """Give its memory back."""


Load = TypeVar("Load", bound=p.EngineMessage)
Held = TypeVar("Held", bound=Model)


@dataclass(frozen=True)
class Kind(Generic[Load, Held]):
    """What one kind of engine brings."""

    asked_to_load: type[Load]
    load: Callable[[Load, threading.Event], Held]
    """Gets what is set once the current request is cancelled, for as long as the model is loaded."""
    work: Callable[[Held, Request, p.Progress, Service[Load, Held]], p.EngineReply]
    unloaded: Callable[[Request], p.EngineReply | None] = lambda request: None
    """Does what needs no model; None: this request does."""
    aside: Callable[[Held, p.Generate, p.Progress, ShouldStop], p.Generated] | None = None
    """Answers between two steps of other work, where that can be done."""


class Service(Generic[Load, Held]):
    """Answers requests, one at a time. A cancel ends the request under way, not the next one."""

    def __init__(self, kind: Kind[Load, Held]) -> None:
        self.cancelled = threading.Event()
        self.between: Callable[[], None] = lambda: None
        """Set by the host: answers, by `handle_aside`, what somebody waits for."""
        self._kind = kind
        self._engine: Held | None = None

    def handle(self, request: Request, progress: p.Progress) -> p.EngineReply:
        """Do what is asked; raises SapoError."""
        if isinstance(request, self._kind.asked_to_load):
            if self._engine is not None:
                self._engine.close()  # give the memory back before the next model comes
                self._engine = None
            self._engine = self._kind.load(request, self.cancelled)
            return self._engine.loaded()
        if (reply := self._kind.unloaded(request)) is not None:
            return reply
        if self._engine is None:
            raise HostError(sentence("The engine was asked to work before a model was loaded."))
        if isinstance(request, p.Encode):
            words = self._engine.words
            return p.Encoded(
                tokens=[words.encode_external(text, request.end) for text in request.texts],
                prompts=[words.prompt_tokens(question) for question in request.questions],
            )
        return self._kind.work(self._engine, request, progress, self)

    def handle_aside(self, request: Request, progress: p.Progress, should_stop: ShouldStop) -> p.EngineReply:
        """Answer a question between two steps of what `handle` does."""
        if self._engine is None or self._kind.aside is None or not isinstance(request, p.Generate):
            raise HostError(sentence("The engine got a request out of turn."))
        return self._kind.aside(self._engine, request, progress, should_stop)

    def stopped(self) -> bool:
        """Whether to give up; at this moment others may be answered."""
        self.between()
        return self.cancelled.is_set()


def cannot(request: Request) -> HostError:
    """Of a request that the worker sends to another kind of engine."""
    return HostError(f"This engine does no {type(request).__name__}.")

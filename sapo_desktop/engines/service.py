"""The request loop of a host process around a model: one request in, one reply out.

Loading and encoding are the same for torch, llama.cpp and remote servers; each adds its part as a `Kind`. Every problem
with a request is raised as an error of core/errors.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import msgspec

from sapo_desktop.core.errors import HostError
from sapo_desktop.core.link import service
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
    """A loaded model."""

    @property
    def words(self) -> Words: ...

    def loaded(self) -> p.Loaded:
        """Describe it."""

    def close(self) -> None:
        """Free its memory."""


Load = TypeVar("Load", bound=msgspec.Struct)
Held = TypeVar("Held", bound=Model)


@dataclass(frozen=True)
class Kind(Generic[Load, Held]):
    """What one kind of engine adds."""

    asked_to_load: type[Load]
    load: Callable[[Load, threading.Event], Held]
    """The event is set when the current request is cancelled, as long as the model is loaded."""
    work: Callable[[Held, Request, p.Progress, Service[Load, Held]], msgspec.Struct]
    unloaded: Callable[[Request], msgspec.Struct | None] = lambda request: None
    """Handles requests that need no model; returns None for others."""
    aside: Callable[[Held, p.Generate, p.Progress, ShouldStop], p.Generated] | None = None
    """Answers between two steps of other work, if the engine can."""


class Service(service.Service[Request], Generic[Load, Held]):
    """Handles requests, one at a time. A cancel ends the current request, not the next one."""

    def __init__(self, kind: Kind[Load, Held]) -> None:
        super().__init__()
        self._kind = kind
        self._engine: Held | None = None

    def handle(self, request: Request, progress: p.Progress) -> msgspec.Struct:
        """Handle a request; raises SapoError."""
        if isinstance(request, self._kind.asked_to_load):
            if self._engine is not None:
                self._engine.close()  # free the memory before the next model is loaded
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

    def handle_aside(self, request: Request, progress: p.Progress, should_stop: ShouldStop) -> msgspec.Struct:
        """Answer a question between two steps of `handle`."""
        if self._engine is None or self._kind.aside is None or not isinstance(request, p.Generate):
            raise HostError(sentence("The engine got a request out of turn."))
        return self._kind.aside(self._engine, request, progress, should_stop)

    def stopped(self) -> bool:
        """Whether to stop. Urgent questions may be answered during this call."""
        self.between()
        return self.cancelled.is_set()


def cannot(request: Request) -> HostError:
    """The error for a request that belongs to another kind of engine."""
    return HostError(f"This engine does no {type(request).__name__}.")

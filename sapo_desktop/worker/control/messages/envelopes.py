"""The outer messages for requests, replies and events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Union

import msgspec

from sapo_desktop.core.sentences import Text
from sapo_desktop.worker.control.messages import asking, facts, models, requests, rollouts, serving
from sapo_desktop.worker.control.messages.base import Message, Request
from sapo_desktop.worker.control.messages.events import Event

if TYPE_CHECKING:
    AnyRequest = Request[object]
else:
    # msgspec decodes a union of classes: all requests of the modules that define some.
    _DEFINED = [vars(module).values() for module in (asking, facts, models, requests, rollouts, serving)]
    _KINDS = {kind for names in _DEFINED for kind in names if isinstance(kind, type) and issubclass(kind, Request)}
    AnyRequest = Union[tuple(_KINDS - {Request})]  # noqa: UP007 - a type checker does not see it


class Attach(Message, frozen=True):
    """A client's first message after the proof. An `owner` is the window or terminal that started the worker. With
    `stay`, a worker that runs for a single command then stays, in its previous mode."""

    owner: bool = False
    events: bool = True
    stay: bool = False


class Call(Message, frozen=True):
    id: int
    request: AnyRequest


class Cancel(Message, frozen=True):
    """Cancel a call; it gets no answer. Does nothing if it was already answered."""

    id: int


class Watch(Message, frozen=True):
    """Whether events are displayed. A client that does not watch `closely` gets neither answers nor progress, which
    are most of the events."""

    closely: bool


class Answer(Message, frozen=True):
    id: int
    reply: msgspec.Raw
    """The encoded reply, of the request's reply type; the client decodes it."""


class Failure(Message, frozen=True):
    id: int
    kind: str
    """Name of the error class in core/errors.py; `Bug` for anything else."""
    text: Text


class Note(Message, frozen=True):
    event: Event


ToWorker = Attach | Call | Cancel | Watch
ToClient = Answer | Failure | Note

"""What requests, replies and events travel in."""

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
    # msgspec decodes a union of classes: every request of the modules that define some.
    _DEFINED = [vars(module).values() for module in (asking, facts, models, requests, rollouts, serving)]
    _KINDS = {kind for names in _DEFINED for kind in names if isinstance(kind, type) and issubclass(kind, Request)}
    AnyRequest = Union[tuple(_KINDS - {Request})]  # noqa: UP007 - a type checker does not see it


class Attach(Message, frozen=True):
    """First thing a client says after the proof. An `owner` is the window or terminal that started the
    worker. One that is to `stay` takes a worker over that runs for a single command: it goes on when that leaves, with
    what was wished before."""

    owner: bool = False
    events: bool = True
    stay: bool = False


class Call(Message, frozen=True):
    id: int
    request: AnyRequest


class Cancel(Message, frozen=True):
    """Give up a call; it is not answered. Nothing where it was answered already."""

    id: int


class Watch(Message, frozen=True):
    """Whether somebody looks. To a client that does not watch `closely`, neither answers nor progress are told, which
    are nearly all events there are."""

    closely: bool


class Answer(Message, frozen=True):
    id: int
    reply: msgspec.Raw
    """Of the request's own type; the client decodes it."""


class Failure(Message, frozen=True):
    id: int
    kind: str
    """Name of the error class in core/errors.py; `Bug` for anything else."""
    text: Text


class Note(Message, frozen=True):
    event: Event


ToWorker = Attach | Call | Cancel | Watch
ToClient = Answer | Failure | Note

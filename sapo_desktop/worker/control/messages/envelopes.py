"""What requests, replies and events travel in."""

from __future__ import annotations

from sapo_desktop.core.sentences import Text
from sapo_desktop.worker.control.messages.base import Message
from sapo_desktop.worker.control.messages.events import Event
from sapo_desktop.worker.control.messages.replies import Reply
from sapo_desktop.worker.control.messages.requests import Request


class Attach(Message, frozen=True):
    """First thing a client says after the proof. An `owner` is the window or terminal that started the
    worker. One that is to `stay` takes a worker over that runs for a single command: it goes on when that leaves, with
    what was wished before."""

    owner: bool = False
    events: bool = True
    stay: bool = False


class Call(Message, frozen=True):
    id: int
    request: Request


class Cancel(Message, frozen=True):
    """Give up a call; it is not answered. Nothing where it was answered already."""

    id: int


class Watch(Message, frozen=True):
    """Whether somebody looks. To a client that does not watch `closely`, neither answers nor progress are told, which
    are nearly all events there are."""

    closely: bool


class Answer(Message, frozen=True):
    id: int
    reply: Reply


class Failure(Message, frozen=True):
    id: int
    kind: str
    """Name of the error class in core/errors.py; `Bug` for anything else."""
    text: Text


class Note(Message, frozen=True):
    event: Event


ToWorker = Attach | Call | Cancel | Watch
ToClient = Answer | Failure | Note

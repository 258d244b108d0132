"""A request that names the type of its reply, and the messages that carry both over a link.

A link has two ends. The client sends `Call` and `Cancel`; the server answers each call once, with `Reply` or `Failed`,
and sends a `Note` when something happens. Bodies are encoded on their own, so a link carries any kind of request.
"""

from __future__ import annotations

from typing import Generic, TypeVar, get_args

import msgspec

from sapo_desktop.core.sentences import Text

_Reply = TypeVar("_Reply", covariant=True)
ReplyType = TypeVar("ReplyType")


class Message(msgspec.Struct, frozen=True, kw_only=True, tag=True, forbid_unknown_fields=True):
    """Base of replies, events and progress."""


class Request(msgspec.Struct, Generic[_Reply], frozen=True, kw_only=True, tag=True, forbid_unknown_fields=True):
    """Base of all requests, for example `class GetSwarm(Request[SwarmIs], frozen=True)`."""

    @classmethod
    def reply_type(cls) -> type[_Reply]:
        """The type to decode the reply as."""
        kinds: list[type[_Reply]] = [kind for base in cls.__orig_bases__ for kind in get_args(base)]  # type: ignore[attr-defined]
        return kinds[0]


class Envelope(msgspec.Struct, frozen=True, kw_only=True, tag=True, forbid_unknown_fields=True):
    """Base of everything on a link."""


class Call(Envelope, frozen=True):
    id: int
    """From 1 on, never used again. A server answers 0 once it is ready, or fails it because it cannot start."""
    body: msgspec.Raw
    """The request."""
    aside: bool = False
    """Urgent: a server that does one thing at a time answers it between two steps of its current work if it can."""


class Cancel(Envelope, frozen=True):
    """Cancel call `id`; ignored if it was already answered."""

    id: int


class Reply(Envelope, frozen=True):
    id: int
    body: msgspec.Raw


class Failed(Envelope, frozen=True):
    """The call failed. `error`: name of a class in core/errors.py."""

    id: int
    error: str
    text: Text


class Note(Envelope, frozen=True):
    body: msgspec.Raw
    id: int | None = None
    """The call that this is progress of; None: something that happened at the server."""


ToServer = Call | Cancel
ToClient = Reply | Failed | Note

encode = msgspec.msgpack.Encoder().encode


def packed(message: object) -> msgspec.Raw:
    """A message as the body of an envelope."""
    return msgspec.Raw(encode(message))

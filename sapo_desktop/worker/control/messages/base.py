"""The base classes of messages and requests, and replies that several requests share."""

from __future__ import annotations

from typing import Generic, TypeVar, get_args

import msgspec

from sapo_desktop.core.sentences import Text

CheckpointName = str
"""`base`, `best`, `last`, or a number."""


class Message(msgspec.Struct, frozen=True, kw_only=True, tag=True, forbid_unknown_fields=True):
    """Base of everything on the control channel."""


_Reply = TypeVar("_Reply", covariant=True)
ReplyType = TypeVar("ReplyType")


class Request(Message, Generic[_Reply], frozen=True):
    """Base of all requests. A request is typed with its reply: `GetSwarm(Request[SwarmIs])`."""

    @classmethod
    def reply_type(cls) -> type:
        """The type of the reply."""
        kinds: list[type] = [kind for base in cls.__orig_bases__ for kind in get_args(base)]  # type: ignore[attr-defined]
        return kinds[0]


class Ok(Message, frozen=True):
    text: Text = ""
    advice: Text = ""
    """The part of the text to show after a change that was accepted but may not be what was meant."""


class Exported(Message, frozen=True):
    folder: str
    files: list[str]

"""What every message of the control channel is; what a client may ask, and the replies that several requests have."""

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
    """Base of everything that a client may ask. A request is typed with its reply: `GetSwarm(Request[SwarmIs])`."""

    @classmethod
    def reply_type(cls) -> type:
        """What the reply is decoded as."""
        kinds: list[type] = [kind for base in cls.__orig_bases__ for kind in get_args(base)]  # type: ignore[attr-defined]
        return kinds[0]


class Ok(Message, frozen=True):
    text: Text = ""
    advice: Text = ""
    """What of the text is to be shown where something was changed: it was taken, but is maybe not what was meant."""


class Exported(Message, frozen=True):
    folder: str
    files: list[str]

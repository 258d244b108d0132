"""The base classes of messages, and replies that several requests share."""

from __future__ import annotations

import msgspec

from sapo_desktop.core.sentences import Text

CheckpointName = str
"""`base`, `best`, `last`, or a number."""


class Message(msgspec.Struct, frozen=True, kw_only=True, tag=True, forbid_unknown_fields=True):
    """Base of everything on the control channel."""


class Ok(Message, frozen=True):
    text: Text = ""
    advice: Text = ""
    """The part of the text to show after a change that was accepted but may not be what was meant."""


class Exported(Message, frozen=True):
    folder: str
    files: list[str]

"""Replies that several requests share, and names of checkpoints."""

from __future__ import annotations

from sapo_desktop.core.link.requests import Message
from sapo_desktop.core.sentences import Text

CheckpointName = str
"""`base`, `best`, `last`, or a number."""


class Ok(Message, frozen=True):
    text: Text = ""
    advice: Text = ""
    """The part of the text to show after a change that was accepted but may not be what was meant."""


class Exported(Message, frozen=True):
    folder: str
    files: list[str]

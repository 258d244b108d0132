"""What every message of the control channel is, and the words that several of them use."""

from __future__ import annotations

from typing import Literal

import msgspec


class Message(msgspec.Struct, frozen=True, kw_only=True, tag=True, forbid_unknown_fields=True):
    """Base of everything on the control channel."""


CheckpointName = str
"""`base`, `best`, `last`, or a number."""
Phase = Literal["waiting", "questions", "generate", "mark", "share", "draw", "train", "checkpoint", "evaluate"]

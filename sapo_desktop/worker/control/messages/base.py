"""What every message of the control channel is, and a word that several of them use."""

from __future__ import annotations

import msgspec


class Message(msgspec.Struct, frozen=True, kw_only=True, tag=True, forbid_unknown_fields=True):
    """Base of everything on the control channel."""


CheckpointName = str
"""`base`, `best`, `last`, or a number."""

"""What a node remembers of its peers between starts: one small file."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from sapo_desktop.core.files.reading import read_json
from sapo_desktop.swarm.addresses.book import Anchor

log = logging.getLogger(__name__)

MOST_KEPT = 5000
"""Maximum pins, and identities."""
KeyText = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """What survives a restart."""

    format: int = 1
    anchors: Annotated[list[Anchor], Meta(max_length=16)] = []
    pins: Annotated[dict[str, KeyText], Meta(max_length=MOST_KEPT)] = {}
    """URL of a peer without a key in its address -> the first key that it proved."""
    first_seen: Annotated[dict[KeyText, float], Meta(max_length=MOST_KEPT)] = {}
    """Key -> Unix time of its first appearance; the least valuable first."""

    @classmethod
    def read(cls, path: Path) -> Memory:
        """Read the memory; empty if it is missing or unreadable, since it can be learned again."""
        try:
            return read_json(path, cls)
        except FileNotFoundError:
            return cls()
        except (OSError, msgspec.DecodeError) as error:
            log.warning("What was known of peers cannot be read (%s): it is learned again.", type(error).__name__)
            return cls()

    def known_since(self) -> dict[bytes, float]:
        return {bytes.fromhex(key): since for key, since in self.first_seen.items()}

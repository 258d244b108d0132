"""Keeps what a node has on disk below a cap, by deleting what can be spared: older checkpoints first, then the oldest
kept answers. Never the newest checkpoint, never the best, and no model: those a person chose, and other nodes may use.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Sequence
from pathlib import Path

from sapo_desktop.worker.store.checkpoints import CheckpointStore
from sapo_desktop.worker.store.history import History


def bytes_in(places: Sequence[Path]) -> int:
    """Bytes of the files below these folders; of one that others are deleting from, what was met."""
    total = 0
    for folder, _, names in itertools.chain.from_iterable(map(os.walk, places)):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                total += Path(folder, name).lstat().st_size
    return total


def tidy(store: CheckpointStore, history: History, keep: int, most: int, places: Sequence[Path]) -> int:
    """Delete until `places` hold at most `most` bytes, or nothing can be spared; returns what they hold then.

    `keep`: checkpoints that are there now beside the best. Raises CheckpointError, HistoryError.
    """
    held = bytes_in(places)
    while held > most and keep > 1:
        keep -= 1
        if store.prune(keep):
            held = bytes_in(places)
    if held > most and history.shrink(held - most):
        held = bytes_in(places)
    return held

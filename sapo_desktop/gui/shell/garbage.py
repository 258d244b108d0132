"""Python's collector of cycles, run only between two of Qt's events in the window's thread.

By default it runs in whichever thread allocates, at any point. In the link's thread, or within one of Qt's own calls,
it would delete widgets that Qt is drawing: rare crashes that nobody can reproduce.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

from PySide6.QtCore import QObject

from sapo_desktop.gui.widgets.timers import timer

EVERY_MS = 1000
WHOLE_EVERY = 60
"""Every so many runs, everything is collected, about 5 ms with all pages; the others cover young objects."""


@contextlib.contextmanager
def collected_here(owner: QObject) -> Iterator[None]:
    """Inside, cycles are collected by a timer of `owner`, in its thread, while its loop runs.

    Existing objects are excluded: mostly modules, which took nine tenths of the time and are never garbage.
    """
    looks = 0

    def look() -> None:
        nonlocal looks
        looks += 1
        gc.collect(2 if looks % WHOLE_EVERY == 0 else 1)

    looking = timer(owner, EVERY_MS, look)
    was_enabled = gc.isenabled()
    gc.disable()
    gc.freeze()
    looking.start()
    try:
        yield
    finally:
        looking.stop()
        gc.unfreeze()
        if was_enabled:
            gc.enable()

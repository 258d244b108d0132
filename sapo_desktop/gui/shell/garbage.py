"""Python's collector of cycles, called between two of Qt's events in the window's thread and nowhere else.

By itself it runs in whichever thread happens to allocate, in the middle of whatever that does. In the link's thread, or
within one of Qt's own calls, it would take apart widgets that Qt is drawing: a crash now and then that nobody repeats.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

from PySide6.QtCore import QObject

from sapo_desktop.gui.widgets.timers import timer

EVERY_MS = 1000
WHOLE_EVERY = 60
"""One look in so many is at everything, some 5 ms with all pages; the others are at what is young."""


@contextlib.contextmanager
def collected_here(owner: QObject) -> Iterator[None]:
    """Meanwhile cycles are collected by a timer of `owner`, in its thread, while its loop runs.

    What is there already is not looked at: modules, mostly, which took nine tenths of the time and are never garbage.
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

"""Whether a host that died is to be asked for less: the system may have ended it for its memory.

The kernel counts such kills, and so does our own limit. What nobody counted was a person, or a program that watches
over memory and would do it again: once in a while it costs nothing.
"""

from __future__ import annotations

from sapo_desktop.core.errors import HostDied

SPARED = 100
"""Rounds, or requests, within which a second kill that nobody counted is taken for one for memory."""


class Deaths:
    """Those of one host."""

    def __init__(self) -> None:
        self._last: int | None = None

    def were_for_memory(self, error: HostDied, now: int) -> bool:
        """`now`: the number of the round or request that it died in."""
        if not error.killed or error.counted:
            return error.counted
        last, self._last = self._last, now
        return last is not None and now - last < SPARED

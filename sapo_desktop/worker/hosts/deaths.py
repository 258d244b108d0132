"""Whether to ask less of a host that died, because the system may have killed it for its memory.

The kernel counts such kills, and so does our own limit. An uncounted kill came from a person, or from a program that
watches memory and would do it again. A single one has no consequence.
"""

from __future__ import annotations

from sapo_desktop.core.errors import HostDied

SPARED = 100
"""A second uncounted kill within this number of rounds or requests counts as one for memory."""


class Deaths:
    """The deaths of one host."""

    def __init__(self) -> None:
        self._last: int | None = None

    def were_for_memory(self, error: HostDied, now: int) -> bool:
        """Record a death. `now`: the number of its round or request."""
        if not error.killed or error.counted:
            return error.counted
        last, self._last = self._last, now
        return last is not None and now - last < SPARED

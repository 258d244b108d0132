"""How long a host is waited for: by what it does, and not by the clock where others keep the processors from it.

A host that loads, or that computes what we asked of it, may take as long as it likes while it gets on: its limit is of
time in which it does nothing at all. One that works on what strangers wrote has a limit of its whole time, which stands
still while it waits for a processor; so a hung host is ended after its time, and a starved one is not. Of time in which
a host is suspended nothing is told here. Left out: the waiting itself (hosting.py).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from sapo_desktop.core.sentences import Sentence, sentence
from sapo_desktop.system import processes

LOOK_SECONDS = 5.0
"""Between looks at what a host does."""
FULL = 0.85
"""The share of all processors from which on the computer counts as busy."""
_OTHERS_FROM = 0.6
"""The share of that which is other programs' where they are said to be the reason."""
_SAID_AFTER = 10.0
"""Seconds of loading that are nobody's business."""


class Sight(NamedTuple):
    """One look at a host and at the computer. `at`, `node_cpu`: seconds; the latter of all processes of the node."""

    at: float
    effort: processes.Effort
    node_cpu: float
    processors: processes.Processors


def look(pid: int, at: float, *, loading: bool) -> Sight:
    """See what process `pid` has done by now; the whole node, which takes longer to see, only while it loads."""
    node_cpu = processes.family_cpu() if loading else 0.0
    return Sight(at, processes.effort(pid), node_cpu, processes.processors())


def others_share(before: processes.Processors, now: processes.Processors, node_cpu: float) -> float | None:
    """The share of all processors that other programs took in between; None where the computer was not busy, or not
    for them. `node_cpu`: seconds of processor time of the node meanwhile."""
    used = now.busy - before.busy
    others = used - node_cpu
    if now.share_since(before) < FULL or others < _OTHERS_FROM * used:
        return None
    return others / (now.total - before.total)


class Patience:
    """The time that one call has left.

    Args:
        limit: seconds; None: without end. Of a host that loads or computes: seconds in which it does nothing at all.
    """

    def __init__(self, limit: float | None, *, loading: bool = False, computes: bool = False) -> None:
        self.limit = limit
        self.loading = loading
        self.by_effort = loading or computes
        self._spent = 0.0
        self._first: Sight | None = None
        self._told = False

    @property
    def left(self) -> float:
        """Seconds, at the least."""
        return math.inf if self.limit is None else self.limit - self._spent

    def heard(self) -> None:
        """The host told how far it is."""
        if self.by_effort:
            self._spent = 0.0

    def count(self, seconds: float, before: Sight | None, now: Sight) -> None:
        """Charge so many seconds, in which the host was not suspended; `before`: the look at their beginning, if there
        was one."""
        self._first = self._first or now
        if before is None:
            self._spent += 0.0 if self.by_effort else seconds
            return
        cpu = now.effort.cpu - before.effort.cpu
        if self.by_effort:
            self._spent = 0.0 if now.effort != before.effort else self._spent + seconds
        elif cpu > 0 and now.processors.share_since(before.processors) >= FULL:
            self._spent += min(seconds, cpu)
        else:
            self._spent += seconds

    def busy(self, now: Sight) -> Sentence | None:
        """That the computer is busy, once, where loading takes long for that reason."""
        first = self._first
        if first is None or self._told or not self.loading or now.at - first.at < _SAID_AFTER:
            return None
        share = others_share(first.processors, now.processors, now.node_cpu - first.node_cpu)
        if share is None:
            return None
        self._told = True
        return sentence(
            "The computer is busy: other programs use {share}% of its processors, so starting takes longer.",
            share=round(100 * share),
        )

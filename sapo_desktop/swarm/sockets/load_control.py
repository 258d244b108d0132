"""How much a relay's peers may send, so that it is handled without delay.

A relay has one core. If its peers send more than that can handle, their messages wait: minutes, if all use what the
protocol grants. So the relay checks every second whether it keeps up. If not, it asks each peer to send only as much as
was handled per sender, less a fifth, and to put eight seconds' worth into one message, because a message costs as much
as several groups. The rest stays with its author, who offers the newest when allowed. While there is time to spare, the
limit rises step by step. Pure: the owner of clock and links calls it, and tells the links.
"""

from __future__ import annotations

from sapo_desktop.swarm.protocol import limits

_LATE_SECONDS = 0.25
"""A check this late means that the core was overloaded."""
_MOST_BUSY, _FULL = 0.9, 0.8
"""Shares of one core: above the first it does not keep up; the limit rises towards the second."""
_MOST_WAITING = 32
"""Messages waiting for their turn."""
_LOOKS = 2
"""Number of consecutive checks that must show an overload; a single one may be an accident."""
_LEFT = 0.8
"""The allowed share of what was handled in a second with overload."""
_LEAST_CUT = 0.25
"""The strongest reduction after a single second."""
_TOGETHER = int(limits.PACED_GROUPS)
_LEAST_ALL = 32.0
"""Groups per second that all senders together may always send. A core that cannot handle so few has other work,
which is not their fault."""
_MORE, _WORTH_TELLING = 2.0, 1.05
_CUT_SECONDS, _MORE_SECONDS = 3.0, 15.0
"""Time until the last change shows. The first is short, because messages pile up meanwhile."""


class LoadControl:
    """What one relay allows. `now`: monotonic seconds; `processor`: processor seconds of its thread."""

    def __init__(self, now: float, processor: float) -> None:
        self.share = 1.0
        """The share of the protocol's own rate that each peer may send."""
        self.is_paced = False
        """Whether peers must follow that, and combine groups."""
        self._at, self._processor, self._groups = now, processor, 0
        self._changed = now
        self._since, self._processor_then = now, processor
        """The start of the current measurement of the core's load: one second says little, because peers send
        irregularly."""
        self._over = 0

    @property
    def ms_per_group(self) -> int:
        """The value to tell peers."""
        return round(limits.FASTEST_MS / self.share)

    @property
    def together(self) -> int:
        """Groups for one message: as many as a peer may send in eight seconds."""
        return max(1, round(_TOGETHER * self.share)) if self.is_paced else 1

    def look(self, now: float, processor: float, groups: int, *, senders: int, waiting: int, late: float) -> bool:
        """Record the current state; returns whether to tell peers another rate.

        Args:
            groups: handled so far.
            senders: links that recently sent groups.
            waiting: messages waiting for their turn.
            late: seconds by which this check was late.
        """
        seconds = max(1e-3, now - self._at)
        busy, taken = (processor - self._processor) / seconds, max(0, groups - self._groups) / seconds
        self._at, self._processor, self._groups = now, processor, groups
        over = busy > _MOST_BUSY or waiting > _MOST_WAITING or late > _LATE_SECONDS
        self._over = self._over + 1 if over else 0
        if self._over >= _LOOKS and now - self._changed >= _CUT_SECONDS and senders:
            fair, least = (rate / senders / limits.GROUPS_PER_SECOND for rate in (_LEFT * taken, _LEAST_ALL))
            less = min(_LEFT * self.share, max(_LEAST_CUT * self.share, fair))
            return self._change(max(least, less), True, now)
        if over or now - self._since < _MORE_SECONDS:
            return False
        busy = (processor - self._processor_then) / (now - self._since)
        self._since, self._processor_then = now, processor
        more = min(_MORE, _FULL / max(busy, 1e-3))
        if self.share < 1 and more > _WORTH_TELLING:
            return self._change(more * self.share, True, now)
        if self.share == 1 and busy < _FULL / _TOGETHER:  # even if each group came alone
            return self._change(1.0, False, now)
        return False

    def _change(self, share: float, is_paced: bool, now: float) -> bool:
        before = self.share, self.is_paced
        self.share = min(1.0, max(limits.FASTEST_MS / limits.SLOWEST_MS, share))
        self.is_paced = is_paced
        if before == (self.share, is_paced):
            return False
        self._changed = self._since = now
        self._processor_then = self._processor
        return True

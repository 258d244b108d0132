"""How much a relay's peers may send, so that what they may send is taken at once.

A relay has one core. Where its peers send more than that can take, their messages wait: minutes, if all use what the
protocol grants them. So it looks every second whether it keeps up. Where it does not, each peer is told to send as much
as was taken of each of those that sent, less a fifth; and to put what it may send in eight seconds into one message,
for a message costs as much as some groups. What is not allowed stays with its author, who offers the newest when it
may. As long as there is time to spare, more is allowed, step by step. Pure: who has the clock and the links asks it,
and tells the links.
"""

from __future__ import annotations

from sapo_desktop.swarm.protocol import limits

_LATE_SECONDS = 0.25
"""A look that comes so late says that there was too much to do."""
_MOST_BUSY, _FULL = 0.9, 0.8
"""Of one core: above the first it does not keep up; so much more is allowed that it comes to the second."""
_MOST_WAITING = 32
"""Messages that wait for their turn."""
_LOOKS = 2
"""So many in a row must say that it does not keep up: one is an accident."""
_LEFT = 0.8
"""Of what was taken in a second with too much to do, the share that is allowed."""
_LEAST_CUT = 0.25
"""One second is not believed to say more than this."""
_TOGETHER = int(limits.PACED_GROUPS)
_LEAST_ALL = 32.0
"""Groups a second that all senders together may always send. A core that does not keep up with so few has other work,
and they must not pay for that."""
_MORE, _WORTH_TELLING = 2.0, 1.05
_CUT_SECONDS, _MORE_SECONDS = 3.0, 15.0
"""Until what was told last shows. The first is short, for messages pile up meanwhile."""


class LoadControl:
    """What one relay allows. `now`: monotonic seconds; `processor`: seconds of it that its thread had."""

    def __init__(self, now: float, processor: float) -> None:
        self.share = 1.0
        """Of the protocol's own rate, what each peer may send."""
        self.is_paced = False
        """Whether peers are to keep to that, and to put groups together."""
        self._at, self._processor, self._groups = now, processor, 0
        self._changed = now
        self._since, self._processor_then = now, processor
        """Since when it is looked at how busy the core is: a second says little, as peers send by fits and starts."""
        self._over = 0

    @property
    def ms_per_group(self) -> int:
        """As peers are told."""
        return round(limits.FASTEST_MS / self.share)

    @property
    def together(self) -> int:
        """Groups that a peer is to put into one message: as many as it may send in eight seconds."""
        return max(1, round(_TOGETHER * self.share)) if self.is_paced else 1

    def look(self, now: float, processor: float, groups: int, *, senders: int, waiting: int, late: float) -> bool:
        """Take note of how it goes; returns whether peers are to be told another rate.

        Args:
            groups: taken so far.
            senders: links that sent groups lately.
            waiting: messages that wait for their turn.
            late: seconds by which this look came too late.
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
        if self.share == 1 and busy < _FULL / _TOGETHER:  # even if each group came by itself
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

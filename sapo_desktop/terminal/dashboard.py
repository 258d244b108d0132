"""The data behind a running node's view: the window's view model, with additions for one run in a terminal. Nothing
is printed here."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any

from sapo_desktop.view.curves import COLUMNS
from sapo_desktop.view.link import Arrival, Attached
from sapo_desktop.view.viewmodel import Section, View
from sapo_desktop.worker.control.messages.events import RoundFinished, StateChanged
from sapo_desktop.worker.control.messages.replies import Curve, SettingsAre, Status

RECENT_ROUNDS = 10
_RATE_WINDOW = 30


class Dashboard(View):
    """The state of one run's view.

    Args:
        data: the node's folder.
        rounds_wanted: requested for this run; None: no limit.
        clock: seconds of any clock.
    """

    def __init__(
        self, data: str, rounds_wanted: int | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(clock)
        self.data = data
        self.rounds_wanted = rounds_wanted
        self.opened = clock()
        self.reason = "Starting the node"
        self.played = 0
        """Rounds that finished during the view."""
        self.has_learned = False
        """Whether one of them took a training step."""
        self._finish_times: deque[float] = deque(maxlen=_RATE_WINDOW)

    def greet(self, status: Status, settings: SettingsAre) -> None:
        """The node's status when a view attaches."""
        columns: dict[str, Any] = {name: [] for name in COLUMNS}
        self.take(Attached(status=status, settings=settings, curve=Curve(**columns)))

    def take(self, arrival: Arrival) -> frozenset[Section]:
        match arrival:
            case RoundFinished(report=report):
                self.played += 1
                self.has_learned |= report.step is not None and not report.step.skipped
                self._finish_times.append(self.clock())
            case StateChanged(state="paused" | "idle"):
                self._finish_times.clear()
        return super().take(arrival)

    @property
    def seconds(self) -> float:
        """Since the view was opened."""
        return max(0.0, self.clock() - self.opened)

    @property
    def ends(self) -> int:
        """Number of rounds in the mean of either end of the run: ten, or half of a shorter run, because a single
        round says little."""
        return max(1, min(RECENT_ROUNDS, self.played // 2))

    @property
    def change(self) -> tuple[float, float] | None:
        """Mean reward of the first and of the last rounds of the view."""
        if not self.played:
            return None
        mine = self.curves.column("reward")[-self.played :]
        return float(mine[: self.ends].mean()), float(mine[-self.ends :].mean())

    @property
    def base(self) -> float | None:
        """The untrained model's validation score."""
        reported = self.status.base_validation if self.status else None
        return self.held_out_base if self.held_out_base is not None else reported

    @property
    def scores(self) -> list[float]:
        """Validation scores seen, the base's first."""
        return [float(score) for score in self.curves.held_out().scores]

    @property
    def held_out_now(self) -> float | None:
        """The newest validation score, the untrained model's if there is no other."""
        reported = self.status.validation if self.status else None
        return self.scores[-1] if self.scores else reported

    @property
    def rounds_per_hour(self) -> float | None:
        """From the rounds finished since the last pause, otherwise the node's own value."""
        given = self.status.rounds_per_hour if self.status else None
        if len(self._finish_times) < 2:
            return given
        span = self._finish_times[-1] - self._finish_times[0]
        return 3600 * (len(self._finish_times) - 1) / span if span > 0 else given

    @property
    def seconds_left(self) -> float | None:
        """Until the wanted rounds are done, at the current rate."""
        rate = self.rounds_per_hour
        if self.rounds_wanted is None or not rate:
            return None
        return max(0, self.rounds_wanted - self.played) * 3600 / rate

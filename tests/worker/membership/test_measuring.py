"""The swarm's reward is worked out where it holds nothing up, and only when something changed."""

import time

import pytest

from sapo_desktop.core.records import SwarmReward
from sapo_desktop.swarm.trust import reward
from sapo_desktop.swarm.trust.reward import Heard, Origin, RewardMeter
from sapo_desktop.worker.membership import measuring
from sapo_desktop.worker.membership.measuring import Measuring

TASKS = ("gcd/easy", "lcm/easy")


class Counted:
    """A meter with a few marks, and how often an estimate of it was made."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.meter, self.made, self.now = RewardMeter(), 0, 1000.0
        self.excluded: set[bytes] = set()
        self.measuring = Measuring(self.meter, lambda: self.excluded, lambda: self.now)
        estimate = Heard.estimate

        def counted(heard: Heard, *given: object) -> SwarmReward | None:
            self.made += 1
            return estimate(heard, *given)  # type: ignore[arg-type]

        monkeypatch.setattr(Heard, "estimate", counted)
        self.mark(1)

    def mark(self, author: int, value: float = 1.0) -> None:
        who = author.to_bytes(32, "big")
        self.meter.observe("gcd/easy", Origin(who, who, b""), [value], self.now)


async def test_an_estimate_is_kept_until_marks_or_authors_change(monkeypatch: pytest.MonkeyPatch) -> None:
    it = Counted(monkeypatch)
    assert it.measuring.known(TASKS) is None
    for _ in range(3):
        found = await it.measuring.exact(TASKS)
        await it.measuring.look(TASKS[::-1])
    assert it.made == 1 and found == it.measuring.known(TASKS) and found is not None and found.value == 1.0
    it.mark(2, 0.0)
    changed = await it.measuring.exact(TASKS)
    assert it.made == 2 and changed is not None and changed.peers == 2
    it.excluded.add((1).to_bytes(32, "big"))
    await it.measuring.look(TASKS)
    assert it.made == 3 and (left := it.measuring.known(TASKS)) is not None and left.value == 0.0
    it.now += reward.WINDOW_SECONDS + 1
    assert await it.measuring.exact(TASKS) is None


async def test_who_looks_is_not_kept_waiting_and_nor_is_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    it = Counted(monkeypatch)
    monkeypatch.setattr(measuring, "_PATIENCE", 0.01)
    before = await it.measuring.exact(TASKS)
    slow = Heard.estimate

    def takes_long(heard: Heard, *given: object) -> SwarmReward | None:
        time.sleep(0.1)
        return slow(heard, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Heard, "estimate", takes_long)
    it.mark(2)
    await it.measuring.look(TASKS)
    assert it.measuring.known(TASKS) == before, "the one before, until the next is there"
    it.mark(3)
    exact = await it.measuring.exact(TASKS)
    assert exact is not None and exact.peers == 3, "what was begun before rests on less"

"""How often and how long it is tried again."""

import pytest

from sapo_desktop.core.errors import DownloadError
from sapo_desktop.core.sentences import Text
from sapo_desktop.models.files.patience import Patience, Retries, Trouble


class Waits:
    """Takes the times to wait instead of waiting."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.said: list[Text] = []

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)

    def fail(self, retries: Retries, times: int, wait: float | None = None) -> None:
        for _ in range(times):
            retries.wait(Trouble("It broke.", wait), self.said.append)


def test_waits_double_up_to_a_minute_and_end_after_some_ten_minutes() -> None:
    waits = Waits()
    retries = Retries(Patience(), waits, lambda: 1.0)
    waits.fail(retries, 11)
    assert waits.seconds == [1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60]
    assert str(waits.said[0]) == "It broke. Trying again in 1 s (2 of 12)."
    with pytest.raises(DownloadError, match=r"After 12 tries this was given up. What has arrived is kept"):
        waits.fail(retries, 1)


def test_half_of_a_wait_is_by_chance() -> None:
    for draw, seconds in ((0.0, 4.0), (0.5, 6.0), (1.0, 8.0)):
        waits = Waits()
        waits.fail(Retries(Patience(), waits, lambda draw=draw: draw), 4)  # type: ignore[misc]
        assert waits.seconds[-1] == seconds

"""Reasons in English, for terminals and logs."""

import time

import msgspec
import pytest

from sapo_desktop.core import why

NOON = time.mktime((2026, 11, 21, 12, 0, 0, 0, 0, -1))


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        (why.Starting(), "Starting"),
        (why.Ready(), "Ready"),
        (why.Training(round=41), "Training round 41"),
        (why.Answering(round=2), "Answering round 2; nothing is trained"),
        (why.Finishing(round=3), "Finishing round 3, then pausing"),
        (why.Paused(), "Paused"),
        (why.Paused(until=NOON + 9000), "Paused until 14:30"),
        (why.Paused(until=NOON + 86_400), "Paused until Sunday 12:00"),
        (why.PausedAfterRound(round=3), "Paused after round 3"),
        (why.OnBattery(), "Paused: on battery"),
        (why.RoundsDone(round=8), "8 rounds done"),
        (why.Failed(text="It died.", failures=5), "It died. (failure 5 in a row; the log has the details)"),
        (why.Ending(), "Ending"),
    ],
)
def test_every_reason_is_a_sentence_and_survives_the_channel(reason: why.Why, said: str) -> None:
    assert why.in_english(reason, NOON) == said
    assert msgspec.json.decode(msgspec.json.encode(reason), type=why.Why) == reason

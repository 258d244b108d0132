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
        (why.Ready(), "Ready. Nothing is computed until you start it."),
        (why.Training(round=41), "Training round 41"),
        (why.Answering(round=2), "Answering round 2, without training"),
        (why.Finishing(round=3), "Finishing round 3, then pausing"),
        (why.Paused(), "Paused by you"),
        (why.Paused(until=NOON + 9000), "Paused by you until 14:30"),
        (why.Paused(until=NOON + 86_400), "Paused by you until Sunday 12:00"),
        (why.PausedAfterRound(round=3), "Paused after round 3, as you asked"),
        (why.Training(round=41, until=NOON + 3600), "Training round 41, until 13:00"),
        (
            why.Answering(round=2, until=NOON + 3600, anyway=True),
            "Answering round 2, without training, anyway until 13:00",
        ),
        (why.OnBattery(), "Paused: on battery"),
        (why.OnBattery(below=30), "Paused: on battery, below 30%"),
        (why.Metered(), "Paused, and out of the swarm: the connection is metered"),
        (why.OutOfHours(until=NOON + 9000), "Paused by your schedule until 14:30"),
        (why.TooHot(limit=80), "Paused: hotter than 80 °C"),
        (why.ProgramRuns(name="blender"), "Paused while blender runs"),
        (why.CardTaken(limit=50), "Paused: other programs use more than 50% of the graphics card's memory"),
        (why.InUse(minutes=10), "Paused while you use the computer, until 10 min without keyboard or mouse"),
        (why.NotKept(text="The disk is full."), "Waiting: The disk is full."),
        (why.RoundsDone(round=8), "Done: round 8 was the last one you asked for"),
        (
            why.Failed(text="It died.", failures=5),
            "It died. (failure 5 in a row: the node waits until you resume it) In a terminal: sapo-desktop run",
        ),
        (why.Ending(), "Shutting down"),
    ],
)
def test_every_reason_is_a_sentence_and_survives_the_channel(reason: why.Why, said: str) -> None:
    assert why.in_english(reason, NOON) == said
    assert msgspec.json.decode(msgspec.json.encode(reason), type=why.Why) == reason

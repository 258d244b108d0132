"""Why a node is in its state, as data: a code with its values, so that every client can say it in its own language.

`in_english` says it, for terminals and logs.
"""

from __future__ import annotations

import time

from sapo_desktop.core.records import Record
from sapo_desktop.core.sentences import Sentence, Text, sentence

DAY_AND_CLOCK_FROM = 20 * 3600
"""A pause that ends later than this is told with the day."""


class Reason(Record, frozen=True, kw_only=True, tag=True):
    """Base of all reasons."""


class Starting(Reason, frozen=True, kw_only=True):
    """The node is put together."""

    busy: Text = ""
    """That it takes longer because the computer is busy, where it is."""


class Ready(Reason, frozen=True, kw_only=True):
    """Nothing was ordered."""


class Training(Reason, frozen=True, kw_only=True):
    """A round is played, and ends with a step of the trainer."""

    round: int


class Answering(Reason, frozen=True, kw_only=True):
    """A round is played without a trainer."""

    round: int


class Finishing(Reason, frozen=True, kw_only=True):
    """The round in hand is played to its end, then the node pauses."""

    round: int


class Paused(Reason, frozen=True, kw_only=True):
    """By the user."""

    until: float | None = None
    """Unix time; None: until told."""


class PausedAfterRound(Reason, frozen=True, kw_only=True):
    """As `Finishing` promised."""

    round: int


class OnBattery(Reason, frozen=True, kw_only=True):
    """Paused because the computer runs on its battery."""


class RoundsDone(Reason, frozen=True, kw_only=True):
    """As many rounds as were ordered."""

    round: int
    """The last one."""


class Failed(Reason, frozen=True, kw_only=True):
    """Hosts kept dying; somebody has to look."""

    text: Text
    """What the last of them said."""
    failures: int


class Ending(Reason, frozen=True, kw_only=True):
    """The node was told to end."""


Why = (
    Starting
    | Ready
    | Training
    | Answering
    | Finishing
    | Paused
    | PausedAfterRound
    | OnBattery
    | RoundsDone
    | Failed
    | Ending
)


def given_up(text: Text, failures: int) -> Sentence:
    """What is said where hosts kept dying. `text`: the last of them."""
    return sentence("{reason} (failure {count} in a row; the log has the details)", reason=text, count=failures)


def in_english(why: Why, now: float) -> str:
    """In English. `now`: Unix time, by which a moment is told with or without its day."""
    match why:
        case Starting(busy=busy):
            return f"Starting. {busy}".rstrip(".") if busy else "Starting"
        case Ready():
            return "Ready"
        case Training(round=number):
            return f"Training round {number}"
        case Answering(round=number):
            return f"Answering round {number}; nothing is trained"
        case Finishing(round=number):
            return f"Finishing round {number}, then pausing"
        case Paused(until=until):
            if until is None:
                return "Paused"
            form = "%H:%M" if until - now < DAY_AND_CLOCK_FROM else "%A %H:%M"
            return f"Paused until {time.strftime(form, time.localtime(until))}"
        case PausedAfterRound(round=number):
            return f"Paused after round {number}"
        case OnBattery():
            return "Paused: on battery"
        case RoundsDone(round=number):
            return f"{number} rounds done"
        case Failed(text=text, failures=failures):
            return str(given_up(text, failures))
        case Ending():
            return "Ending"

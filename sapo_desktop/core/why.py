"""Why a node is in its state, as data: a code with values that every client can put into its own language.

`said` makes the sentence.
"""

from __future__ import annotations

from sapo_desktop.core.plain_text import one_line
from sapo_desktop.core.records import Record
from sapo_desktop.core.sentences import Moment, Sentence, Text, sentence

DAY_AND_CLOCK_FROM = 20 * 3600
"""A pause that ends later than this is shown with its day."""


class Reason(Record, frozen=True, kw_only=True, tag=True):
    """Base of all reasons."""


class Starting(Reason, frozen=True, kw_only=True):
    """The node is being built."""

    step: Text = ""
    """The current step, and its number of all steps."""
    busy: Text = ""
    """A sentence that it takes longer because the computer is busy, if so."""
    silo: bool | None = None
    """Whether the node will be in silo; None: unknown."""


class Ready(Reason, frozen=True, kw_only=True):
    """Waiting for an order."""


class Working(Reason, frozen=True, kw_only=True):
    """Playing a round."""

    round: int
    busy: Text = ""
    """A sentence that other programs use the processor, if so."""
    until: float | None = None
    """Unix time at which the schedule closes or the permission ends."""
    anyway: bool = False
    """Whether `until` is the end of a permission to run despite a condition."""


class Training(Working, frozen=True, kw_only=True):
    """Playing a round that ends with a training step."""


class Answering(Working, frozen=True, kw_only=True):
    """Playing a round without a trainer."""


class Finishing(Reason, frozen=True, kw_only=True):
    """The current round is finished, then the node pauses or ends."""

    round: int
    busy: Text = ""
    """See `Working`."""
    ends: bool = False


class Paused(Reason, frozen=True, kw_only=True):
    """Paused by the user."""

    until: float | None = None
    """Unix time; None: until resumed."""


class PausedAfterRound(Reason, frozen=True, kw_only=True):
    """Paused after a round, as `Finishing` announced."""

    round: int


class HeldBack(Reason, frozen=True, kw_only=True):
    """Base of automatic pauses, which a person can override."""


class OnBattery(HeldBack, frozen=True, kw_only=True):
    """The computer runs on its battery."""

    below: int | None = None
    """Percent of charge, if only a low charge counts."""


class Metered(HeldBack, frozen=True, kw_only=True):
    """The internet connection is metered."""


class OutOfHours(HeldBack, frozen=True, kw_only=True):
    """Outside the schedule."""

    until: float
    """Unix time."""


class TooHot(HeldBack, frozen=True, kw_only=True):
    """Processor or card is too hot."""

    limit: int
    """Degrees."""


class ProgramRuns(HeldBack, frozen=True, kw_only=True):
    """One of the programs that the user named is running."""

    name: str


class CardTaken(HeldBack, frozen=True, kw_only=True):
    """Other programs hold more of the graphics card's memory than allowed."""

    limit: int
    """Percent."""


class InUse(HeldBack, frozen=True, kw_only=True):
    """Somebody is using the computer."""

    minutes: int
    """Minutes without input after which it counts as unused."""


class NotKept(Reason, frozen=True, kw_only=True):
    """What was learned cannot be saved or loaded now, for example because the disk is full. The node continues by
    itself."""

    text: Text
    """What is wrong."""


class RoundsDone(Reason, frozen=True, kw_only=True):
    """All ordered rounds are done."""

    round: int
    """The last round."""


class Failed(Reason, frozen=True, kw_only=True):
    """Host processes kept failing; a person must look."""

    text: Text
    """The last error."""
    failures: int


class Ending(Reason, frozen=True, kw_only=True):
    """The node is quitting."""


Why = (
    Starting
    | Ready
    | Training
    | Answering
    | Finishing
    | Paused
    | PausedAfterRound
    | OnBattery
    | Metered
    | OutOfHours
    | TooHot
    | ProgramRuns
    | CardTaken
    | InUse
    | NotKept
    | RoundsDone
    | Failed
    | Ending
)


def given_up(text: Text, failures: int) -> Sentence:
    """The message after host processes kept failing. `text`: the last error."""
    return sentence(
        "{reason} (failure {count} in a row: the node waits until you resume it)",
        in_terminal="sapo-desktop run",
        reason=text,
        count=failures,
    )


def said(why: Why, now: float) -> Sentence:
    """The sentence that every client shows. `now`: Unix time, which decides whether a moment has its weekday."""
    match why:
        case Starting(step=step, busy=busy):
            start = sentence("Starting: {step}", step=step) if step else sentence("Starting")
            return sentence("{what}. {busy}", what=start, busy=busy) if busy else start
        case Ready():
            return sentence("Ready. Nothing is computed until you start it.")
        case Training(round=number):
            return _bounded(why, sentence("Training round {round}", round=number), now)
        case Answering(round=number):
            return _bounded(why, sentence("Answering round {round}, without training", round=number), now)
        case Finishing(round=number, ends=True):
            return sentence("Finishing round {round}, then quitting", round=number)
        case Finishing(round=number):
            return sentence("Finishing round {round}, then pausing", round=number)
        case Paused(until=None):
            return sentence("Paused by you")
        case Paused(until=until):
            return sentence("Paused by you until {time}", time=_moment(until or now, now))
        case PausedAfterRound(round=number):
            return sentence("Paused after round {round}, as you asked", round=number)
        case OutOfHours(until=until):
            return sentence("Paused by your schedule until {time}", time=_moment(until, now))
        case InUse(minutes=minutes):
            return sentence(
                "Paused while you use the computer, until {minutes} min without keyboard or mouse", minutes=minutes
            )
        case NotKept(text=text):
            return sentence("Waiting: {reason}", reason=text)
        case RoundsDone(round=number):
            return sentence("Done: round {round} was the last one you asked for", round=number)
        case Failed(text=text, failures=failures):
            return given_up(text, failures)
        case OnBattery(below=None):
            return sentence("Paused: on battery")
        case OnBattery(below=below):
            return sentence("Paused: on battery, below {percent}%", percent=below or 0)
        case Metered():
            return sentence("Paused, and out of the swarm: the connection is metered")
        case TooHot(limit=limit):
            return sentence("Paused: hotter than {limit} °C", limit=limit)
        case ProgramRuns(name=name):
            return sentence("Paused while {program} runs", program=one_line(name, 60))
        case CardTaken(limit=limit):
            return sentence(
                "Paused: other programs use more than {percent}% of the graphics card's memory", percent=limit
            )
        case Ending():
            return sentence("Shutting down")


def in_english(why: Why, now: float) -> str:
    """The sentence in English for terminals and logs, including that the computer is busy."""
    words = str(said(why, now))
    return f"{words}. {why.busy}".rstrip(".") if isinstance(why, Working | Finishing) and why.busy else words


def _bounded(why: Working, what: Sentence, now: float) -> Sentence:
    """What is being done, and until when, if known."""
    if why.until is None:
        return what
    if why.anyway:
        return sentence("{what}, anyway until {time}", what=what, time=_moment(why.until, now))
    return sentence("{what}, until {time}", what=what, time=_moment(why.until, now))


def _moment(until: float, now: float) -> Moment:
    return Moment(unix=until, day=until - now >= DAY_AND_CLOCK_FROM)

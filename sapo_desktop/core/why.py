"""Why a node is in its state, as data: a code with its values, so that every client can say it in its own language.

`said` says it.
"""

from __future__ import annotations

from sapo_desktop.core.plain_text import one_line
from sapo_desktop.core.records import Record
from sapo_desktop.core.sentences import Moment, Sentence, Text, sentence

DAY_AND_CLOCK_FROM = 20 * 3600
"""A pause that ends later than this is told with the day."""


class Reason(Record, frozen=True, kw_only=True, tag=True):
    """Base of all reasons."""


class Starting(Reason, frozen=True, kw_only=True):
    """The node is put together."""

    step: Text = ""
    """What is done now, and which step of how many that is."""
    busy: Text = ""
    """That it takes longer because the computer is busy, where it is."""
    silo: bool | None = None
    """Whether the node will be in silo; None: not said."""


class Ready(Reason, frozen=True, kw_only=True):
    """Nothing was ordered."""


class Working(Reason, frozen=True, kw_only=True):
    """A round is played."""

    round: int
    busy: Text = ""
    """That other programs have the processor, where they do."""
    until: float | None = None
    """Unix time at which the schedule, or what was allowed in spite of something, ends."""
    anyway: bool = False
    """Whether it is the latter."""


class Training(Working, frozen=True, kw_only=True):
    """The round ends with a step of the trainer."""


class Answering(Working, frozen=True, kw_only=True):
    """The round is played without a trainer."""


class Finishing(Reason, frozen=True, kw_only=True):
    """The round in hand is played to its end, then the node pauses, or ends."""

    round: int
    busy: Text = ""
    """As of `Working`."""
    ends: bool = False


class Paused(Reason, frozen=True, kw_only=True):
    """By the user."""

    until: float | None = None
    """Unix time; None: until told."""


class PausedAfterRound(Reason, frozen=True, kw_only=True):
    """As `Finishing` promised."""

    round: int


class HeldBack(Reason, frozen=True, kw_only=True):
    """Base of what pauses a node without anybody having said so; a person may let it run anyway."""


class OnBattery(HeldBack, frozen=True, kw_only=True):
    """The computer runs on its battery."""

    below: int | None = None
    """Percent of charge, where it is only a low one that counts."""


class Metered(HeldBack, frozen=True, kw_only=True):
    """The link to the internet is paid by volume."""


class OutOfHours(HeldBack, frozen=True, kw_only=True):
    """The schedule says so."""

    until: float
    """Unix time."""


class TooHot(HeldBack, frozen=True, kw_only=True):
    """Processor or card."""

    limit: int
    """Degrees."""


class ProgramRuns(HeldBack, frozen=True, kw_only=True):
    """One of those that the user named."""

    name: str


class CardTaken(HeldBack, frozen=True, kw_only=True):
    """Other programs hold more of the graphics card's memory than they may beside us."""

    limit: int
    """Percent."""


class InUse(HeldBack, frozen=True, kw_only=True):
    """Somebody uses the computer."""

    minutes: int
    """Without input, after which nobody does."""


class NotKept(Reason, frozen=True, kw_only=True):
    """What was learned cannot be written, or loaded, now: the disk is full, say. It goes on by itself."""

    text: Text
    """What is in the way."""


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
    """What is said where hosts kept dying. `text`: the last of them."""
    return sentence(
        "{reason} (failure {count} in a row: the node waits until you resume it)",
        in_terminal="sapo-desktop run",
        reason=text,
        count=failures,
    )


def said(why: Why, now: float) -> Sentence:
    """The one sentence that every client says. `now`: Unix time, by which a moment has its weekday or not."""
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
    """The same for terminals and logs, which have no other place to say that the computer is busy."""
    words = str(said(why, now))
    return f"{words}. {why.busy}".rstrip(".") if isinstance(why, Working | Finishing) and why.busy else words


def _bounded(why: Working, what: Sentence, now: float) -> Sentence:
    """What is done, and until when where that is known."""
    if why.until is None:
        return what
    if why.anyway:
        return sentence("{what}, anyway until {time}", what=what, time=_moment(why.until, now))
    return sentence("{what}, until {time}", what=what, time=_moment(why.until, now))


def _moment(until: float, now: float) -> Moment:
    return Moment(unix=until, day=until - now >= DAY_AND_CLOCK_FROM)

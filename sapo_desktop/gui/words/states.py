"""What the window says about the node's state and why. Everything that shows a state takes its words from here."""

from __future__ import annotations

from sapo_desktop.core.records import Phase
from sapo_desktop.core.sentences import Text
from sapo_desktop.core.why import (
    DAY_AND_CLOCK_FROM,
    Answering,
    CardTaken,
    Ending,
    Failed,
    Finishing,
    InUse,
    Metered,
    NotKept,
    OnBattery,
    OutOfHours,
    Paused,
    PausedAfterRound,
    ProgramRuns,
    Ready,
    RoundsDone,
    Starting,
    TooHot,
    Training,
    Why,
    Working,
    said_alike,
)
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import catalogued, tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.view.link import Attached, Connecting, Ended, Lost
from sapo_desktop.view.viewmodel import PHASE_WORDS, MainAction, View


def state_sentence(view: View) -> str:
    """One sentence: what the node does, and why."""
    match view.link:
        case Connecting(again=again, why=why):
            return _starting(why) or (tr("Starting the node again") if again else tr("Starting the node"))
        case Lost(reason=reason, mend="model" | "pack" | "settings" | "file"):
            return tr("The node cannot start: {reason}").format(reason=_ended(reason))
        case Lost(reason=reason):
            return tr("The node stopped: {reason} It is started again by itself.").format(reason=_ended(reason))
        case Ended():
            return tr("The node was ended. Nothing is computed.")
        case Attached():
            return reason_sentence(view.why, view.clock(), view.peers, view.silo)


def short_state(view: View) -> str:
    """The same where there is little room: why a node stopped is said elsewhere."""
    if view.mend:
        return tr("The node cannot start")
    if view.attached and isinstance(view.why, NotKept):
        return tr("Waiting for free space")
    if view.attached and isinstance(view.why, Failed):
        return tr("Stopped after failures")
    return tr("The node stopped") if isinstance(view.link, Lost) else state_sentence(view)


def timed_sentence(view: View) -> str:
    """The same, and of a pause that ends by itself how much is left."""
    said = state_sentence(view)
    if not view.pause_left:
        return said
    return tr("{sentence}, {time} left").format(sentence=said, time=numbers.left(view.pause_left))


def reason_sentence(why: Why, now: float, peers: int = 0, silo: bool = True) -> str:
    """A state's reason in one sentence."""
    match why:
        case Starting():
            return _starting(why) or tr("Loading the model")
        case Ready():
            return tr("Ready. Nothing is computed until you say so.")
        case Training(round=number):
            if silo or not peers:
                return _bounded(why, tr("Training round {round}, alone").format(round=numbers.count(number)), now)
            return _bounded(
                why, tr("Training round {round}, %n peer(s)", None, peers).format(round=numbers.count(number)), now
            )
        case Answering(round=number):
            said = tr("Answering round {round}; nothing is trained, since the model can only answer here")
            return _bounded(why, said.format(round=numbers.count(number)), now)
        case Finishing(round=number, ends=True):
            return tr("Finishing round {round}, then ending").format(round=numbers.count(number))
        case Finishing(round=number):
            return tr("Finishing round {round}, then pausing").format(round=numbers.count(number))
        case Paused(until=None):
            return tr("Paused by you")
        case Paused(until=until):
            assert until is not None
            return tr("Paused by you until {time}").format(time=_moment(until, now))
        case PausedAfterRound(round=number):
            return tr("Paused after round {round}, as you asked").format(round=numbers.count(number))
        case OutOfHours(until=until):
            return tr("Paused by your schedule until {time}").format(time=_moment(until, now))
        case InUse(minutes=minutes):
            return tr("Paused while you use the computer, until %n minute(s) without keyboard and mouse", None, minutes)
        case NotKept(text=text):
            return tr("Waiting: {reason}").format(reason=_ended(text))
        case RoundsDone(round=number):
            return tr("Done: round {round} was the last one ordered").format(round=numbers.count(number))
        case Failed(text=text, failures=failures):
            return tr("Stopped after %n failure(s) in a row: {reason}", None, failures).format(reason=_ended(text))
        case OnBattery() | Metered() | TooHot() | ProgramRuns() | CardTaken() | Ending():
            return in_words(said_alike(why))


def _starting(why: Starting) -> str:
    """Where a start is, and why it takes long; empty where nobody has said."""
    where = tr("Starting: {step}").format(step=in_words(why.step)) if why.step else ""
    return ". ".join(part for part in (where, in_words(why.busy)) if part)


def _bounded(why: Working, said: str, now: float) -> str:
    """What is done, and until when where that is known."""
    if why.until is None:
        return said
    form = tr("{sentence}, anyway until {time}") if why.anyway else tr("{sentence}, until {time}")
    return form.format(sentence=said, time=_moment(why.until, now))


def _moment(until: float, now: float) -> str:
    return numbers.clock(until) if until - now < DAY_AND_CLOCK_FROM else numbers.day_and_clock(until)


def action_words(action: MainAction, silo: bool) -> str:
    """What stands on the large button."""
    return {
        "contribute": tr("Learn alone") if silo else tr("Contribute"),
        "resume": tr("Go on"),
        "pause": tr("Pause"),
        "anyway": tr("Run anyway for 1 h"),
        "try again": tr("Start again"),
        "wait": tr("One moment"),
    }[action]


def action_hint(action: MainAction, silo: bool) -> str:
    """The sentence below it, for the screen reader and the tooltip."""
    return {
        "contribute": tr("Let the model learn on this computer. No network is used.")
        if silo
        else tr("Let the model learn on this computer, with its peers."),
        "resume": tr("End the pause."),
        "anyway": tr("Go on for an hour, even though your settings would make it wait."),
        "pause": tr("Stop computing at once. The round in hand is kept and goes on later."),
        "try again": tr("Start the node."),
        "wait": tr("The node is being started or ended."),
    }[action]


def phase_words(phase: Phase) -> str:
    """A phase of a round."""
    return catalogued(PHASE_WORDS[phase])


def counts_peers(view: View) -> bool:
    """Whether the state's sentence says to how many peers the node is linked."""
    return isinstance(view.why, Training) and not view.silo and view.peers > 0 and view.attached


def swarm_sentence(view: View) -> str:
    """The swarm's side: alone by choice, looking for peers, linked."""
    if not view.attached:
        return ""  # what was linked is not any more, and the state's own sentence says why
    if view.silo:
        return tr("In silo: no network at all.")
    match view.swarm_state:
        case "joining":
            return in_words(view.swarm_reason) or tr("Looking for peers")
        case "alone":
            return in_words(view.parted) or tr("No peers yet: it trains on its own answers meanwhile.")
        case "linked":
            return tr("Linked to %n peer(s)", None, view.peers)
        case "failed":
            return tr("No link to the swarm: {reason}").format(reason=_ended(view.swarm_reason))
    return in_words(view.swarm_reason)


def tooltip(view: View) -> str:
    """What the tray says when it is pointed at."""
    first = tr("SAPO Desktop, in silo") if view.silo else tr("SAPO Desktop")
    return f"{first}\n{timed_sentence(view)}"


def _ended(text: Text) -> str:
    """A worker's own words, ending as a sentence does."""
    words = in_words(text).strip()
    return words if words.endswith((".", "!", "?")) else f"{words}."

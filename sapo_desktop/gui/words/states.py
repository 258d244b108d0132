"""What the window says about the node's state and why. Everything that shows a state takes its words from here."""

from __future__ import annotations

from sapo_desktop.core.records import Phase
from sapo_desktop.core.sentences import Text
from sapo_desktop.core.why import (
    Answering,
    Ending,
    Failed,
    Finishing,
    OnBattery,
    Paused,
    PausedAfterRound,
    Ready,
    RoundsDone,
    Starting,
    Training,
    Why,
)
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import catalogued, in_words
from sapo_desktop.view.link import Attached, Connecting, Ended, Lost
from sapo_desktop.view.viewmodel import PHASE_WORDS, MainAction, View

_DAY_FROM = 20 * 3600
"""A pause that ends later than this is told with the day."""


def state_sentence(view: View) -> str:
    """One sentence: what the node does, and why."""
    match view.link:
        case Connecting(busy=busy) if busy:
            return in_words(busy)
        case Connecting(again=again):
            return tr("Starting the node again") if again else tr("Starting the node")
        case Lost(reason=reason):
            return tr("The node stopped: {reason} It is started again by itself.").format(reason=_ended(reason))
        case Ended():
            return tr("The node was ended. Nothing is computed.")
        case Attached():
            return reason_sentence(view.why, view.clock(), view.peers, view.silo)


def reason_sentence(why: Why, now: float, peers: int = 0, silo: bool = True) -> str:
    """A state's reason in one sentence."""
    match why:
        case Starting(busy=busy) if busy:
            return in_words(busy)
        case Starting():
            return tr("Loading the model")
        case Ready():
            return tr("Ready. Nothing is computed until you say so.")
        case Training(round=number):
            if silo:
                return tr("Training round {round}, alone").format(round=number)
            return tr("Training round {round}, %n peer(s)", None, peers).format(round=number)
        case Answering(round=number):
            return tr("Answering round {round}; nothing is trained, since the model can only answer here").format(
                round=number
            )
        case Finishing(round=number):
            return tr("Finishing round {round}, then pausing").format(round=number)
        case Paused(until=None):
            return tr("Paused by you")
        case Paused(until=until):
            assert until is not None
            moment = numbers.clock(until) if until - now < _DAY_FROM else numbers.day_and_clock(until)
            return tr("Paused by you until {time}").format(time=moment)
        case PausedAfterRound(round=number):
            return tr("Paused after round {round}, as you asked").format(round=number)
        case OnBattery():
            return tr("Paused: on battery")
        case RoundsDone(round=number):
            return tr("Done: round {round} was the last one ordered").format(round=number)
        case Failed(text=text, failures=failures):
            return tr("Stopped after %n failure(s) in a row: {reason}", None, failures).format(reason=_ended(text))
        case Ending():
            return tr("Ending")


def action_words(action: MainAction, silo: bool) -> str:
    """What stands on the large button."""
    return {
        "contribute": tr("Learn alone") if silo else tr("Contribute"),
        "resume": tr("Go on"),
        "pause": tr("Pause"),
        "despite battery": tr("Go on despite battery"),
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
        "despite battery": tr("End the pause."),
        "pause": tr("Stop computing at once. The round in hand is kept and goes on later."),
        "try again": tr("Start the node."),
        "wait": tr("The node is being started or ended."),
    }[action]


def phase_words(phase: Phase) -> str:
    """A phase of a round."""
    return catalogued(PHASE_WORDS[phase])


def swarm_sentence(view: View) -> str:
    """The swarm's side: alone by choice, looking for peers, linked."""
    if view.silo:
        return tr("In silo: no network at all.")
    match view.swarm_state:
        case "joining":
            return tr("Looking for peers")
        case "alone":
            return tr("No peers yet: it trains on its own answers meanwhile.")
        case "linked":
            return tr("Linked to %n peer(s)", None, view.peers)
        case "failed":
            return tr("No link to the swarm: {reason}").format(reason=_ended(view.swarm_reason))
    return in_words(view.swarm_reason)


def tooltip(view: View) -> str:
    """What the tray says when it is pointed at."""
    first = tr("SAPO Desktop, in silo") if view.silo else tr("SAPO Desktop")
    return f"{first}\n{state_sentence(view)}"


def _ended(text: Text) -> str:
    """A worker's own words, ending as a sentence does."""
    words = in_words(text).strip()
    return words if words.endswith((".", "!", "?")) else f"{words}."

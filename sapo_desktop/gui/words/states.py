"""The window's texts about the node's state and its reason. Everything that shows a state uses these."""

from __future__ import annotations

from sapo_desktop.core.records import Phase
from sapo_desktop.core.sentences import Text
from sapo_desktop.core.why import Failed, NotKept, Training, Why, said
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import catalogued, tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.view.link import Attached, Connecting, Ended, Lost
from sapo_desktop.view.viewmodel import MainAction, View
from sapo_desktop.view.words import PHASE_WORDS


def state_sentence(view: View) -> str:
    """One sentence: what the node does, and why."""
    match view.link:
        case Connecting(again=again, why=why):
            if why.step or why.busy:
                return reason_sentence(why, view.clock())
            return tr("Starting the node again") if again else tr("Starting the node")
        case Lost(reason=reason, remedy="model" | "pack" | "settings" | "file"):
            return tr("The node cannot start: {reason}").format(reason=_ended(reason))
        case Lost(reason=reason):
            return tr("The node stopped: {reason} It restarts automatically.").format(reason=_ended(reason))
        case Ended():
            return tr("The node is switched off. Nothing is being computed.")
        case Attached():
            return reason_sentence(view.why, view.clock(), view.peers, view.silo)


def short_state(view: View) -> str:
    """The same for little space: why a node stopped is shown elsewhere."""
    if view.remedy:
        return tr("The node cannot start")
    if view.attached and isinstance(view.why, NotKept):
        return tr("Waiting for free space")
    if view.attached and isinstance(view.why, Failed):
        return tr("Stopped after failures")
    return tr("The node stopped") if isinstance(view.link, Lost) else state_sentence(view)


def timed_sentence(view: View) -> str:
    """The same, with the rest of a pause that ends by itself."""
    said = state_sentence(view)
    if not view.pause_left:
        return said
    return tr("{sentence}, {time} left").format(sentence=said, time=numbers.left(view.pause_left))


def reason_sentence(why: Why, now: float, peers: int = 0, silo: bool = True) -> str:
    """A state's reason in one sentence."""
    words = in_words(said(why, now))
    if not isinstance(why, Training):
        return words
    if silo or not peers:
        return tr("{sentence}, alone").format(sentence=words)
    return tr("{sentence}, %n peer(s)", None, peers).format(sentence=words)


def action_words(action: MainAction, silo: bool) -> str:
    """The label of the large button."""
    return {
        "contribute": tr("Learn alone") if silo else tr("Contribute"),
        "resume": tr("Continue"),
        "pause": tr("Pause"),
        "anyway": tr("Run anyway for 1 h"),
        "try again": tr("Start again"),
        "wait": tr("One moment"),
    }[action]


def action_hint(action: MainAction, silo: bool) -> str:
    """The sentence below it, for the screen reader and the tooltip."""
    return {
        "contribute": tr("Let your model learn on this computer. No network is used.")
        if silo
        else tr("Let your model learn on this computer, together with its peers."),
        "resume": tr("End the pause."),
        "anyway": tr("Run for an hour, even though your settings would make it wait."),
        "pause": tr("Stop computing immediately. The current round is kept and continues later."),
        "try again": tr("Start the node."),
        "wait": tr("The node is starting or shutting down."),
    }[action]


def phase_words(phase: Phase) -> str:
    """A phase of a round."""
    return catalogued(PHASE_WORDS[phase])


def counts_peers(view: View) -> bool:
    """Whether the state's sentence includes the number of linked peers."""
    return isinstance(view.why, Training) and not view.silo and view.peers > 0 and view.attached


def swarm_sentence(view: View) -> str:
    """The swarm's state: alone by choice, looking for peers, linked."""
    if not view.attached:
        return ""  # the links are gone, and the state's own sentence says why
    if view.silo:
        return tr("In silo: no network at all.")
    match view.swarm_state:
        case "joining":
            return in_words(view.swarm_reason) or tr("Looking for peers")
        case "alone":
            return in_words(view.parted) or tr("No peers yet. Your model keeps learning from its own answers.")
        case "linked":
            return tr("Linked to %n peer(s)", None, view.peers)
        case "failed":
            return tr("Not connected to the swarm: {reason}").format(reason=_ended(view.swarm_reason))
    return in_words(view.swarm_reason)


def tooltip(view: View) -> str:
    """What the tray says when it is pointed at."""
    first = tr("SAPO Desktop, in silo") if view.silo else tr("SAPO Desktop")
    return f"{first}\n{timed_sentence(view)}"


def _ended(text: Text) -> str:
    """A worker's own words, as a complete sentence."""
    words = in_words(text).strip()
    return words if words.endswith((".", "!", "?")) else f"{words}."

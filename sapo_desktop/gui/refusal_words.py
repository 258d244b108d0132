"""Why a group of a peer was not taken, in plain words. The reasons are those of swarm/refusals.py, by name."""

from __future__ import annotations

from sapo_desktop.core.plain_text import one_line
from sapo_desktop.gui.language import tr


def kind_name(kind: str) -> str:
    """What a refusal says about whom it befell."""
    match kind:
        case "invalid":
            return tr("breaks the rules")
        case "unverifiable":
            return tr("cannot be checked")
        case "ignored":
            return tr("not of use")
    return one_line(kind, 40)


def kind_meaning(kind: str) -> str:
    match kind:
        case "invalid":
            return tr("It breaks the rules, and counts against the peer that signed it.")
        case "unverifiable":
            return tr("It could not be checked here. Another version on either side may be why, so nobody is blamed.")
        case "ignored":
            return tr("It is nobody's fault, and counts against nobody.")
    return ""


def refusal_name(reason: str) -> str:
    """A reason in a few words."""
    return _words(reason)[0]


def refusal_meaning(reason: str) -> str:
    """A reason in a sentence."""
    return _words(reason)[1]


def _words(reason: str) -> tuple[str, str]:
    match reason:
        case "bad_body":
            return tr("malformed"), tr("It is not written as a group of answers has to be.")
        case "other_network":
            return tr("of another swarm"), tr("It was signed for another swarm.")
        case "not_admitted":
            return tr("not admitted"), tr("Its author is not admitted to this private swarm.")
        case "bad_text":
            return tr("forbidden signs"), tr("A text in it is too long, or holds signs that an answer may not have.")
        case "second_body":
            return tr("two under one name"), tr("Its author signed two different groups under one name.")
        case "unknown_task":
            return tr("unknown task"), tr("It answers a task that this version does not have.")
        case "unused_task":
            return tr("not shared here"), tr("Answers to this task are not taken from peers: they are slow to check.")
        case "held_out":
            return tr("a held-out question"), tr("Its question is kept for measuring and must never be trained on.")
        case "unfit":
            return tr("of no use to learn"), tr("No answer in it has the form in which this model answers.")
        case "other_question":
            return (
                tr("another question here"),
                tr("The question came out otherwise here than at the peer's: its library has another version."),
            )
        case "timed_out":
            return tr("took too long"), tr("Checking it took too long and was given up.")
    return one_line(reason, 60).replace("_", " "), ""

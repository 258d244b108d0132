"""What the Learning page says: phases, mixes, treatments, verdicts and levels in plain words."""

from __future__ import annotations

from typing import get_args

from sapo_desktop.core.plain_text import one_line
from sapo_desktop.core.records import Phase, TreatmentName, Verdict
from sapo_desktop.gui.learning.answer_pages import effect_of, is_foreign, who_wrote
from sapo_desktop.gui.learning.level_moves import LevelMove
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.tasks import level_name
from sapo_desktop.worker.control.messages.rollouts import Rollout

TREATMENTS: tuple[TreatmentName, ...] = ("guarded", "positive", "shaped", "capable", "paper")
"""In the order in which they are offered."""
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
_KEY = 8
"""Characters of a key by which a peer is named."""


def phase_meaning(phase: Phase) -> str:
    """What happens in a phase of a round."""
    match phase:
        case "questions":
            return tr("Questions are made up from the tasks in training.")
        case "generate":
            return tr("The model answers each question several times.")
        case "mark":
            return tr("Each answer is marked by a program, here.")
        case "share":
            return tr("Own answers are signed and handed to peers, where sharing is on.")
        case "draw":
            return tr("Peers' answers are fetched, their questions made again and marked here.")
        case "train":
            return tr("The model is changed a little: towards what was right, away from what was wrong.")
        case "checkpoint":
            return tr("What was learned is written to disk.")
        case "evaluate":
            return tr("Questions that are never trained on show how much was learned.")
        case "waiting":
            return ""


def mix_meaning(mix: str) -> str:
    """What learning with this mix is like."""
    match mix:
        case "8/0":
            return tr("Only own answers. Nothing of peers is learned from, as in silo.")
        case "6/2":
            return tr("Two in eight questions come with peers' answers.")
        case "4/4":
            return tr("Half own, half peers' (default).")
        case "2/6":
            return tr("Six in eight questions come with peers' answers.")
    return ""


def mix_words(own: int, external: int) -> str:
    """A mix for the screen reader."""
    return tr("Of eight questions {own} with own answers, {external} with peers'").format(own=own, external=external)


def treatment_name(treatment: str) -> str:
    match treatment:
        case "guarded":
            return tr("Guarded")
        case "positive":
            return tr("Positive")
        case "shaped":
            return tr("Shaped")
        case "capable":
            return tr("Capable")
        case "paper":
            return tr("As in the paper")
    return one_line(treatment, 40)


def treatment_meaning(treatment: str) -> str:
    """How peers' answers are weighed."""
    match treatment:
        case "guarded":
            return tr("Right answers only. They weigh more, the less often this computer finds one itself (default).")
        case "positive":
            return tr("Right answers only. They weigh more, the rarer they are among the answers they came with.")
        case "shaped":
            return tr("As guarded, and what this model would hardly have written counts more.")
        case "capable":
            return tr("As guarded, and peers that are better at a task than this computer count more.")
        case "paper":
            return tr("Right and wrong answers count as own ones do. A peer can then give its answers more weight.")
    return ""


def verdict_name(verdict: str) -> str:
    match verdict:
        case "solved":
            return tr("Right")
        case "partial":
            return tr("Partly right")
        case "wrong":
            return tr("Wrong")
        case "unparsed":
            return tr("Unreadable")
        case "no_answer":
            return tr("No answer")
        case "timeout":
            return tr("Took too long")
        case "scorer_failed":
            return tr("Marker failed")
    return one_line(verdict, 40)


def verdict_icon(verdict: str) -> tuple[str, str]:
    """An icon and its colour; the words say the same."""
    match verdict:
        case "solved":
            return "check", "accent"
        case "partial":
            return "check", "muted"
        case "timeout" | "scorer_failed":
            return "warning", "warning"
    return "cross", "muted"


def verdict_meaning(rollout: Rollout) -> str:
    """Why an answer got its mark."""
    match rollout.verdict:
        case "solved":
            return tr("The marker takes it for right.")
        case "partial":
            return tr("Partly right: the marker gives it {points} of 1.").format(
                points=numbers.number(rollout.partial, 2)
            )
        case "wrong":
            return tr("It has the form of an answer, but the marker takes it for wrong.")
        case "unparsed":
            return tr("What it gives as its answer does not have the form that this task asks for. No marker saw it.")
        case "no_answer":
            return tr("It ends without an answer, often at the token limit.")
        case "timeout":
            return tr("Marking it took too long and was given up. It counts as wrong.")
        case "scorer_failed":
            return tr("The marker could not handle it. It counts as wrong.")
    return ""


def effect_words(rollout: Rollout) -> str:
    """What learning did with it."""
    values = {"reward": numbers.number(rollout.reward, 2), "advantage": numbers.signed(rollout.advantage, 2)}
    match effect_of(rollout):
        case "more":
            return tr("Reward {reward}, advantage {advantage}: learning made it likelier.").format(**values)
        case "less":
            return tr("Reward {reward}, advantage {advantage}: learning made it less likely.").format(**values)
        case "none":
            if rollout.author:
                return tr("Reward {reward}, advantage 0: it taught nothing new, or is not learned from.").format(
                    **values
                )
            return tr("Reward {reward}, advantage 0: all answers to its question were equally good.").format(**values)


def who_words(rollout: Rollout) -> str:
    """Who wrote it, short enough for a table."""
    match who_wrote(rollout):
        case "own":
            return tr("own")
        case "you":
            return tr("you")
        case "peer":
            return tr("peer {key}").format(key=short_key(rollout.author))
        case "person":
            return tr("person at {key}").format(key=short_key(rollout.author))


def text_words(rollout: Rollout) -> str:
    """The beginning of an answer for a table; a peer's text is shown only when one asks for it."""
    if is_foreign(rollout):
        return tr("%n character(s)", None, len(rollout.completion))
    return one_line(rollout.completion)


def short_key(key: str) -> str:
    """A peer by the beginning of its key."""
    return one_line(key, _KEY) or tr("unknown")


def levels_words(levels: tuple[str, ...]) -> str:
    """`easy, middle`; a dash where there is none."""
    return ", ".join(level_name(level) for level in levels) or numbers.NOTHING


def move_words(move: LevelMove | None) -> str:
    """A family's last move, short enough for a table."""
    if move is None:
        return numbers.NOTHING
    text = tr("up, {round}") if move.up else tr("down, {round}")
    return text.format(round=numbers.count(move.round))


def move_sentence(move: LevelMove) -> str:
    """The same in full."""
    text = (
        tr("Went up from {before} to {after} in round {round}.")
        if move.up
        else tr("Went back from {before} to {after} in round {round}.")
    )
    return text.format(before=level_name(move.before), after=level_name(move.after), round=numbers.count(move.round))

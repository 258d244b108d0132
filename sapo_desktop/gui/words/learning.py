"""Texts of the Learning page, and of scores on all pages: phases, mixes, weightings, verdicts and levels."""

from __future__ import annotations

from typing import get_args

from sapo_desktop.core.plain_text import one_line
from sapo_desktop.core.records import Gain, Mark, Phase, Verdict, WeightingName
from sapo_desktop.core.settings import Mix
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import catalogued, tr
from sapo_desktop.gui.words.peers import short_key
from sapo_desktop.gui.words.titles import level_name
from sapo_desktop.view.viewmodel import View
from sapo_desktop.view.words import VERDICT_WORDS
from sapo_desktop.worker.control.messages.replies import Week
from sapo_desktop.worker.control.messages.rollouts import Rollout

WEIGHTINGS: tuple[WeightingName, ...] = get_args(WeightingName)
MIXES: tuple[str, ...] = get_args(Mix)
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


def phase_meaning(phase: Phase) -> str:
    """What happens in a phase of a round."""
    return {
        "questions": tr("The app makes new questions from the tasks in training."),
        "generate": tr("The model answers each question several times."),
        "mark": tr("A program on this computer scores each answer."),
        "share": tr("If sharing is on, your model's answers are signed and sent to peers."),
        "draw": tr("Answers of peers are chosen. Their questions are recreated here and the answers scored here."),
        "train": tr("Training changes the model a little: towards right answers, away from wrong ones."),
        "checkpoint": tr("The learned state is written to disk."),
        "evaluate": tr("Questions never used for training show how much the model has learned."),
    }.get(phase, "")


def mix_name(mix: str) -> str:
    return tr("Automatic") if mix == "auto" else mix


def mix_meaning(mix: str, last: str = "") -> str:
    """What learning with this mix is like. `last`: what the newest round was played with, as in `2/6`."""
    own, _, external = last.partition("/")
    if mix == "auto" and own.isdecimal() and external.isdecimal() and int(external) > int(own):
        return tr("Learning mostly from peers: few of your model's own answers teach it anything yet.")
    return {
        "auto": tr("Half own answers, half from peers. More from peers while few own answers teach anything."),
        "8/0": tr("Only your model's own answers. Nothing is learned from peers, as in silo."),
        "6/2": tr("Two of eight questions come with peers' answers."),
        "4/4": tr("Half own answers, half from peers (default)."),
        "2/6": tr("Six of eight questions come with peers' answers."),
    }.get(mix, "")


def weighting_name(weighting: str) -> str:
    return {
        "guarded": tr("Guarded"),
        "paper": tr("As in the paper"),
    }.get(weighting) or one_line(weighting, 40)


def weighting_meaning(weighting: str) -> str:
    """How peers' answers are weighted."""
    return {
        "guarded": tr(
            "Only right answers count. The less often your model finds one itself, the more they count (default)."
        ),
        "paper": tr(
            "Right and wrong answers count like your model's own. Peers then decide what is learned, and "
            "with what weight."
        ),
    }.get(weighting, "")


def verdict_name(verdict: str) -> str:
    return catalogued(VERDICT_WORDS[verdict]) if verdict in VERDICT_WORDS else one_line(verdict, 40)


def verdict_icon(verdict: str) -> tuple[str, str]:
    """An icon and its colour; the words say the same."""
    return {
        "solved": ("check", "accent"),
        "partial": ("check", "muted"),
        "timeout": ("warning", "warning"),
        "scorer_failed": ("warning", "warning"),
    }.get(verdict, ("cross", "muted"))


def mark_words(mark: Mark) -> str:
    """A score in a few words: `Right`, `Partly right, 0.40`."""
    if mark.verdict == "partial":
        return tr("Partly right, {score}").format(score=numbers.number(mark.partial, 2))
    return verdict_name(mark.verdict)


def verdict_meaning(rollout: Rollout) -> str:
    """Why an answer got its score."""
    points = numbers.number(rollout.partial, 2)
    return {
        "solved": tr("Scored as right."),
        "partial": tr("Partly right: {points} out of 1.").format(points=points),
        "wrong": tr("It has the form of an answer, but was scored as wrong."),
        "unparsed": tr("Its answer does not have the form that this task asks for, so it was not scored."),
        "no_answer": tr("It ends without an answer, often because it reached the token limit."),
        "timeout": tr("Scoring it took too long and was stopped. It counts as wrong."),
        "scorer_failed": tr("Scoring it failed. It counts as wrong."),
    }.get(rollout.verdict, "")


def effect_words(rollout: Rollout) -> str:
    """How it was used in training."""
    if abs(rollout.advantage) >= 1e-9:
        said = (
            tr("Reward {reward}, advantage {advantage}: training made it more likely.")
            if rollout.advantage > 0
            else tr("Reward {reward}, advantage {advantage}: training made it less likely.")
        )
    elif rollout.author:
        said = tr("Reward {reward}, advantage 0: it taught nothing new, or was not used for training.")
    else:
        said = tr("Reward {reward}, advantage 0: all answers to its question were equally good.")
    return said.format(reward=numbers.number(rollout.reward, 2), advantage=numbers.signed(rollout.advantage, 2))


def who_words(rollout: Rollout) -> str:
    """Who wrote it, short enough for a table: this computer's model or person, or a peer's."""
    is_person, key = rollout.kind == "human", short_key(rollout.author)
    if not rollout.author:
        return tr("you") if is_person else tr("own")
    return (tr("person at {key}") if is_person else tr("peer {key}")).format(key=key)


def text_words(rollout: Rollout) -> str:
    """The beginning of an answer for a table; a peer's text is shown on request only."""
    if rollout.author:
        return tr("%n character(s)", None, len(rollout.completion))
    return one_line(rollout.completion)


def levels_words(levels: tuple[str, ...]) -> str:
    """`easy, middle`; a dash if there is none."""
    return ", ".join(level_name(level) for level in levels) or numbers.NOTHING


def gain_words(now: float | None, base: float | None, gain: Gain | None, questions: int = 0) -> str:
    """The meaning of a held-out score compared with the base's; both are shares from 0 to 1."""
    if base is None:
        return tr("not measured yet")
    if now is None:
        return tr("the model before training")
    if gain is None:  # an older history: without an interval, the meaning of a difference is unknown
        return tr("before training: {score}").format(score=numbers.percent(base))
    if questions and now == 0:
        return tr("none of %n question(s) solved yet", None, questions)
    if gain.low <= 0 <= gain.high:
        return tr("the change may be chance")
    return tr("{points} since the start").format(points=numbers.points(gain.low, gain.high))


def held_out_words(view: View) -> str:
    """The meaning of the newest held-out score compared with the base's."""
    questions = view.curves.held_out().questions
    return gain_words(view.held_out, view.held_out_base, view.held_out_gain, questions)


def week_words(week: Week, view: View) -> str:
    """`Last 7 days: 1,204 rounds · 3,402 right answers · 31% → 40% of new questions · 0.52 kWh`."""
    said = [tr("%n round(s)", None, week.rounds), tr("%n right answer(s)", None, week.solved)]
    if week.score is not None and week.score_before is not None:
        said.append(
            tr("{before} → {now} of new questions").format(
                before=numbers.percent(week.score_before), now=numbers.percent(week.score)
            )
        )
    if week.helped and not view.silo:
        said.append(tr("%n computer(s) helped", None, week.helped))
    kwh, price = week.joules / 3.6e6, view.settings.price_per_kwh
    energy = numbers.energy(week.joules)
    if price:
        energy = tr("{energy}, cost {cost}").format(energy=energy, cost=numbers.number(price * kwh, 2))
    said.append(energy)
    return tr("Last 7 days: {said}").format(said=" · ".join(said))

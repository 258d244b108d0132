"""Whether the model learns, and how long its rounds take: one sentence each, the same in window and terminal. No Qt."""

from __future__ import annotations

from statistics import mean, median

from sapo_desktop.core.extraction import FORM_KNOWN
from sapo_desktop.core.sentences import Left, Text, joined, sentence
from sapo_desktop.view.curves import RECENT_ROUNDS
from sapo_desktop.view.viewmodel import View

_FORM_ROUNDS = 5
"""The form of answers is learned within a few rounds, so older ones do not matter."""


def learning_sentence(view: View) -> Text:
    """`Yes: 40 of 100 questions, 10 at the start.`"""
    now, base, gain = view.held_out, view.held_out_base, view.held_out_gain
    form = readable_share(view)
    count = view.curves.held_out().questions
    none_solved = sentence("None of {count} questions solved yet.", count=count) if count and now == 0 else ""
    if form is not None and (gain is None or gain.low <= 0):
        learns = sentence("It is learning how to answer: {readable}% readable.", readable=_of_100(form))
        return joined([learns, none_solved]) if none_solved else learns
    if now is None and base is None:
        return sentence("Not known yet: no score so far.")
    if now is None or base is None:
        return sentence("Not known yet: {base} of 100 questions at the start.", base=_of_100(base or now or 0.0))
    if none_solved and base == 0:
        return none_solved
    this, at_first = _of_100(now), _of_100(base)
    if gain is None or gain.low <= 0 <= gain.high:
        return sentence("Not sure yet: {now} of 100 questions, {base} at the start.", now=this, base=at_first)
    if gain.low > 0:
        return sentence("Yes: {now} of 100 questions, {base} at the start.", now=this, base=at_first)
    return sentence("No: {now} of 100 questions, {base} at the start.", now=this, base=at_first)


def readable_share(view: View) -> float | None:
    """Share of recent own answers that could be read, while the model still learns their form; None once it knows
    it, or if that earns nothing."""
    found = [one.readable for one in list(view.reports)[-_FORM_ROUNDS:] if one.readable is not None]
    if not found or view.settings.reward != "auto":
        return None
    share = mean(found)
    return share if share < FORM_KNOWN else None


def round_seconds(view: View) -> float | None:
    """Seconds of a round of this model, without the held-out questions; None before its first."""
    found = [one.seconds - one.evaluate_seconds for one in list(view.reports)[-RECENT_ROUNDS:]]
    return median(found) if found else None


def round_left(view: View) -> float | None:
    """Seconds until this round ends; 0 if it takes longer than usual, None before the model's first one."""
    usual = round_seconds(view)
    return None if usual is None else max(0.0, usual - view.round_taken)


def score_left(view: View) -> float | None:
    """Seconds until the next held-out score; None if none is due, or it is unknown."""
    usual, left = round_seconds(view), round_left(view)
    if usual is None or left is None or view.next_score is None:
        return None
    asked = [one.evaluate_seconds for one in view.reports if one.evaluate_seconds > 0]
    rounds_between = max(0, view.next_score - view.finished - 1)
    return left + usual * rounds_between + (median(asked) if asked else 0.0)


def time_sentence(view: View) -> Text:
    """How long this round will take, and when the next score comes; empty while no round is played."""
    if not view.at_work:
        return ""
    if view.phase == "evaluate":
        return sentence("The next score is being measured.")
    left, score = round_left(view), score_left(view)
    if left is None:
        return sentence("The time per round is known after this model's first round.")
    this = (
        sentence("This round: about {time} left.", time=Left(seconds=left))
        if left
        else sentence("This round takes longer than usual.")
    )
    return this if score is None else joined([this, sentence("Next score: in about {time}.", time=Left(seconds=score))])


def _of_100(share: float) -> int:
    """Only all is 100, and only nothing is 0."""
    return min(99, max(1, round(100 * share))) if 0 < share < 1 else round(100 * share)


# A volunteer's milestones: a few sentences, newest kinds last. No Qt.


def milestones(view: View) -> list[Text]:
    """Rounds and helped computers by the last power of ten, and the first hard question that was learned."""
    found: list[Text] = []
    rounds, helped = _reached(view.finished, 10), _reached(view.swarm.helped if view.swarm else 0, 1)
    if rounds:
        found.append(sentence("{count} rounds finished", count=rounds))
    if view.learned is not None and view.learned.task.endswith("/hard"):
        found.append(sentence("First hard question solved"))
    if helped and not view.silo:
        found.append(
            sentence("Your answers helped {count} computers", count=helped)
            if helped > 1
            else sentence("Your answers helped another computer")
        )
    return found


def _reached(count: int, least: int) -> int:
    """The largest power of ten up to `count`; 0 below `least`."""
    return 0 if count < least else 10 ** (len(str(count)) - 1)

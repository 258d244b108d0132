"""One plain line per happening: what `run` prints in a pipe, in a dumb terminal, or in one too small to draw in."""

from __future__ import annotations

from sapo_desktop.core.plain_text import one_line
from sapo_desktop.core.records import EvalReport, RoundReport
from sapo_desktop.terminal.glyphs import Glyphs
from sapo_desktop.terminal.swarm_words import reward_words
from sapo_desktop.terminal.wording import amount, duration, percent
from sapo_desktop.view.viewmodel import AnswerShown


def round_line(report: RoundReport) -> str:
    """`round 12    reward 0.13  solved 13%  partial 0.19  8 own + 0 external groups  2.9s`, and the round's note."""
    line = (
        f"round {report.round:<5} reward {report.reward:.2f}  solved {percent(report.solved):>4}  "
        f"partial {report.partial:.2f}  {report.local_groups} own + {report.external_groups} external groups  "
        f"{duration(report.seconds)}"
    )
    if report.swarm_reward is not None:
        line += f"  peers {reward_words(report.swarm_reward)}"
    return f"{line}  ({one_line(report.note)})" if report.note else line


def eval_line(report: EvalReport) -> str:
    """`held-out (validation) of last: 27% of 200 questions solved, 95% interval 21% to 34%`."""
    return (
        f"held-out ({report.which}) of {one_line(report.checkpoint)}: {percent(report.score)} of "
        f"{amount(report.questions, 'question')} solved, 95% interval {percent(report.low)} to {percent(report.high)}"
    )


def answer_line(answer: AnswerShown, glyphs: Glyphs) -> str:
    """The question, the answer and whether it was solved, on one line."""
    mark = glyphs.tick if answer.solved else glyphs.cross
    question = _shortened(answer.question, 100, glyphs)
    completion = _shortened(answer.completion, 100, glyphs) or "(nothing)"
    return f"{mark} {answer.task}: {question} {glyphs.arrow} {completion}"


def _shortened(text: str, longest: int, glyphs: Glyphs) -> str:
    return text if len(text) <= longest else text[:longest].rstrip() + glyphs.ellipsis

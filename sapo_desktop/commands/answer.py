"""answer: a person answers one question; the running node scores it, shares it if allowed, and learns from it.

Nothing is held open while the person thinks: the question waits in the node for a while. A skipped or forgotten one
leaves nothing behind.
"""

from __future__ import annotations

from argparse import Namespace

from sapo_desktop.commands.line.context import Context, call
from sapo_desktop.commands.line.prompts import as_utf8, typed_line
from sapo_desktop.commands.tasks import verdict_words
from sapo_desktop.terminal.wording import duration
from sapo_desktop.view.fields import fields
from sapo_desktop.worker.control.messages.replies import HumanMarked, PosedQuestion
from sapo_desktop.worker.control.messages.requests import AskForQuestion, GiveAnswer


async def answer(context: Context, args: Namespace) -> None:
    async with context.running() as node:
        posed = await call(node, AskForQuestion(task=args.task))
    _show(context, posed)
    text = args.answer
    if text is None:
        context.out.say(f"Type it on one line within {duration(posed.seconds)}; press Enter to skip the question.")
        text = typed_line(context.out, "> ")
    if not text.strip():
        context.out.emit("skipped", task=posed.task)
        context.out.say("Skipped: nothing was published.")
        return
    given = GiveAnswer(id=posed.id, answer=as_utf8(text), reasoning=as_utf8(args.reasoning))
    async with context.running() as node:
        marked = await call(node, given)
    _tell(context, marked)


def _show(context: Context, posed: PosedQuestion) -> None:
    context.out.emit(
        "question",
        task=posed.task,
        question=posed.question,
        form=str(posed.form),
        shared=posed.shared,
        where=str(posed.where),
        seconds=round(posed.seconds, 3),
    )
    context.out.say(f"{posed.task}: {posed.title}\n\n{posed.question}\n\nThe answer is {posed.form}.\n{posed.where}")


def _tell(context: Context, marked: HumanMarked) -> None:
    context.out.emit("human_answer", **fields(marked.mark), **fields(marked, "mark"))
    if not context.out.json_lines:
        context.out.say("\n".join(_lines(marked)))


def _lines(marked: HumanMarked) -> list[str]:
    mark = verdict_words(marked.mark)
    lines = [
        f"{mark}. Right: {marked.truth}" if marked.truth else f"{mark}.",
        f"The model answered too: {marked.model_solved} of {marked.model_answers} right.",
        "Shared with the swarm, labelled as a person's answer." if marked.shared else "Not shared.",
    ]
    if marked.learned:
        lines.append("The model will learn from it in one of the next rounds.")
    return [*lines, str(marked.note)] if marked.note else lines

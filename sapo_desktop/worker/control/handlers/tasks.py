"""Clients' requests about tasks: all of them are listed, own ones are read, added and removed (tasks/own/)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from sapo_desktop.core.errors import TaskError, UsageError
from sapo_desktop.core.files.durable import disk_errors_as, write_atomically
from sapo_desktop.core.link.handlers import Handlers
from sapo_desktop.core.records import TaskMark
from sapo_desktop.core.sentences import Text, joined, sentence
from sapo_desktop.learning.plan import tasks_in_training
from sapo_desktop.tasks.catalogue import Catalogue, Family, TaskKey, family_of
from sapo_desktop.tasks.grammars import FORMS
from sapo_desktop.tasks.own import folder as own
from sapo_desktop.tasks.own.answers import examples, notes
from sapo_desktop.tasks.own.choices import Undecided, in_words
from sapo_desktop.tasks.own.family import How, OwnFile, held_out_counts, parse_file
from sapo_desktop.tasks.own.table import SUFFIXES
from sapo_desktop.tasks.service import QuestionRef
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.replies import OwnRow, ReadingChoice, TaskInfo, Tasks, TasksRead
from sapo_desktop.worker.control.messages.requests import AddTasks, ListTasks, ReadTasks, RemoveTasks
from sapo_desktop.worker.governor import NodeState
from sapo_desktop.worker.lengths import own_too_long
from sapo_desktop.worker.node import Node

EXAMPLE_SEED = 7
_RECENT_ROUNDS = 50
_SHOWN = 3
"""Questions shown of a file that was only read."""
_WHEN = sentence("It takes effect now, or after the node's current round.")
_LATER = sentence("The node checks whether its questions fit into the model once it uses the file.")
_PATIENCE, _LOOK_AGAIN = 20.0, 0.1
"""How long to wait for the model's current work, and the interval of the checks."""


class TaskRequests:
    """Answers them. `changed`: called after a file was added or removed."""

    def __init__(self, folder: Path, catalogue: Catalogue, node: Node, changed: Callable[[], None]) -> None:
        self._folder = folder
        self._catalogue = catalogue
        self._node = node
        self._changed = changed
        self.handlers = handlers = Handlers()
        handlers.on(ListTasks).by(self.every)
        handlers.on(ReadTasks).by(self.read)
        handlers.on(AddTasks).by(self.add)
        handlers.on(RemoveTasks).by(self.remove)

    async def every(self, request: ListTasks) -> Tasks:
        node = self._node
        totals = await node.keeper.call(node.keeper.history.task_totals, _RECENT_ROUNDS)
        recent = {mark.task: mark for mark in totals}
        training = tasks_in_training(node.settings, node.counters, node.levels)
        keys = self._catalogue.tasks()
        examples = await self._examples(keys) if request.examples else {}
        return Tasks(
            items=[self._task_info(key, examples.get(key, ""), recent.get(key), key in training) for key in keys],
            left_out=[*self._catalogue.left_out.values()],
        )

    async def _examples(self, keys: Sequence[TaskKey]) -> dict[TaskKey, str]:
        """One question of each task, always the same."""
        async with self._node.gate.awake():
            asked = [QuestionRef(task=key, seed=EXAMPLE_SEED) for key in keys]
            questions = await self._node.examiner.set_questions(asked)
        return {question.task: question.text for question in questions if question is not None}

    def _task_info(self, key: TaskKey, example: str, recent: TaskMark | None, training: bool) -> TaskInfo:
        family, level = self._catalogue.find(key)
        return TaskInfo(
            family=family.name,
            title=family.title,
            level=level.name,
            task_id=self._node.examiner.known_ids.get(key, b"").hex(),
            config=dict(level.config),
            grammar=family.grammar,
            example=example,
            solved=recent.solved if recent else None,
            answers=recent.answers if recent else 0,
            reward=recent.reward if recent else None,
            training=training,
            own=family.own,
            shown=" → ".join(family.shown) if family.shown else "",
        )

    async def read(self, request: ReadTasks) -> TasksRead:
        """Describe the file, or the choices that its owner must make. Raises TaskError as `add` does."""
        try:
            found, _ = await asyncio.to_thread(
                self._read, Path(request.path), How(answers=request.answers, encoding=request.encoding)
            )
        except Undecided as undecided:
            choices = [
                ReadingChoice(
                    value=one.value, label=one.label, first=[OwnRow(question=a, answer=b) for a, b in one.first]
                )
                for one in undecided.choices
            ]
            return TasksRead(text=undecided.question, first=[], replaces=False, asked=undecided.asked, choices=choices)
        return TasksRead(
            text=joined([*_said(found), *await self._too_long(found.family)]),
            first=[
                OwnRow(question=row.question, answer=answer)
                for row, answer in zip(found.rows[:_SHOWN], found.reading.answers, strict=False)
            ],
            replaces=self._same(found.family.name) is not None,
        )

    async def add(self, request: AddTasks) -> Ok:
        """Add the file. Raises TaskError with the line if it is not usable, or with the possible readings."""
        how = How(answers=request.answers, encoding=request.encoding)
        try:
            found = await asyncio.to_thread(self._add, Path(request.path), how)
        except Undecided as undecided:
            raise TaskError(undecided.text) from undecided  # clients know no other
        self._changed()
        return Ok(text=joined([*_said(found), *await self._too_long(found.family), _WHEN]))

    async def remove(self, request: RemoveTasks) -> Ok:
        await asyncio.to_thread(self._remove, request.name)
        self._changed()
        return Ok(text=joined([sentence("{name} was removed.", name=request.name), _WHEN]))

    def _read(self, path: Path, how: How) -> tuple[OwnFile, bytes]:
        """The file, and the content of its stored copy."""
        if not path.is_absolute() or path.suffix.lower() not in SUFFIXES:
            raise UsageError(
                "{file} cannot be added. Own tasks must be one of {kinds}.", file=path.name, kinds=", ".join(SUFFIXES)
            )
        taken = {one.name for one in self._catalogue.shipped().families}
        found = parse_file(path.name, own.read_file(path), taken, how)
        content = own.as_kept(found)
        own.check_together(found.family.name, content, self._folder)
        return found, content

    def _add(self, path: Path, how: How) -> OwnFile:
        found, content = self._read(path, how)
        with disk_errors_as(TaskError, sentence("Your own tasks could not be saved")):
            self._folder.mkdir(exist_ok=True)
            before = self._same(found.family.name)
            kept = self._folder / (found.family.name + SUFFIXES[0])
            write_atomically(kept, content)
            if before is not None and not (before.samefile(kept)):
                before.unlink()
        return found

    async def _too_long(self, family: Family) -> list[Text]:
        """Which questions are too long for the model. If the model is busy, it says so when it loads the file."""
        engine = self._node.engine
        if not engine.running or self._node.gate.state is NodeState.PAUSED:
            return [_LATER]
        try:
            async with asyncio.timeout(_PATIENCE):
                while engine.busy:
                    await asyncio.sleep(_LOOK_AGAIN)
                return await own_too_long(engine, family)
        except TimeoutError:
            return [_LATER]

    def _same(self, name: str) -> Path | None:
        """The file of the family of this name, regardless of case."""
        files = own.own_files(self._folder)
        return next((file for file in files if file.stem.lower() == name.lower()), None)

    def _remove(self, name: str) -> None:
        # From the list, so that no name points outside the folder.
        found = next((file for file in own.own_files(self._folder) if file.stem == name), None)
        if found is None:
            raise UsageError("There are no own tasks named {name}.", in_terminal="sapo-desktop tasks list", name=name)
        if name in (family_of(word.strip()) for word in self._node.settings.tasks.split(",")):
            raise UsageError(
                "{name} is one of the tasks in training (the setting `tasks`). Remove it there first.",
                name=name,
            )
        with disk_errors_as(TaskError, sentence("Your own tasks could not be removed")):
            found.unlink(missing_ok=True)


def _said(found: OwnFile) -> list[Text]:
    """How the file was read, and the consequences."""
    family, reading = found.family, found.reading
    validation, test = held_out_counts(family.name, [row.question for row in found.rows])
    said: list[Text] = [
        sentence(
            "{name}: {count} questions ({levels}). Answers are read as {form}: {examples}. Held out: "
            "{validation} for the score during training, {test} for the final score, and 1 to show as an "
            "example.",
            name=family.name,
            count=len(found.rows),
            levels=", ".join(level.name for level in family.levels),
            form=FORMS[family.grammar],
            examples=in_words(examples(found.rows, reading)),
            validation=validation,
            test=test,
        )
    ]
    if not found.table.encoding.startswith("utf"):
        said.append(sentence("The text is read as {encoding}.", encoding=found.table.encoding))
    if found.table.ignored:
        said.append(sentence("Columns that are ignored: {names}.", names=", ".join(found.table.ignored)))
    repeated = len(found.table.rows) - len(found.rows)
    if repeated:
        said.append(sentence("Rows that repeat another row and are left out: {count}.", count=repeated))
    said += notes(found.rows, reading)
    said += [
        sentence(
            "More than a fifth of the questions at level {level} have the same answer, so its groups are not shared.",
            level=level.name,
        )
        for level in family.levels
        if not level.shared
    ]
    return said

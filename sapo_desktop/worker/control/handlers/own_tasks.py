"""Own tasks are read, added and removed: files of the folder that tasks/own.py reads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from sapo_desktop.core.errors import TaskError, UsageError
from sapo_desktop.core.files.durable import disk_errors_as, write_atomically
from sapo_desktop.core.sentences import Text, joined, sentence
from sapo_desktop.tasks import own
from sapo_desktop.tasks.catalogue import Catalogue, Family, family_of
from sapo_desktop.tasks.grammars import FORMS
from sapo_desktop.worker.control.messages.replies import Ok, OwnRow, TasksRead
from sapo_desktop.worker.control.messages.requests import AddTasks, ReadTasks, RemoveTasks

_SHOWN = 3
"""Questions of a file that was only read."""
_WHEN = sentence("The node takes it up now, or once its round in hand is done.")


class OwnTaskRequests:
    """Answers them. `chosen`: the setting `tasks`; `changed`: told once a file came or went."""

    def __init__(
        self, folder: Path, catalogue: Catalogue, chosen: Callable[[], str], changed: Callable[[], None]
    ) -> None:
        self._folder = folder
        self._catalogue = catalogue
        self._chosen = chosen
        self._changed = changed

    async def read(self, request: ReadTasks) -> TasksRead:
        """Raises TaskError as `add` does."""
        family, _ = await asyncio.to_thread(self._read, Path(request.path))
        rows = family.levels[0].rows[:_SHOWN]
        return TasksRead(
            text=joined(_told(family)),
            first=[OwnRow(question=question, answer=answer) for question, answer in rows],
            replaces=family.name in self._there(),
        )

    async def add(self, request: AddTasks) -> Ok:
        """Raises TaskError with the line where the file is none of own tasks."""
        family = await asyncio.to_thread(self._add, Path(request.path))
        self._changed()
        return Ok(text=joined([*_told(family), _WHEN]))

    async def remove(self, request: RemoveTasks) -> Ok:
        await asyncio.to_thread(self._remove, request.name)
        self._changed()
        return Ok(text=joined([sentence("{name} is removed.", name=request.name), _WHEN]))

    def _read(self, path: Path) -> tuple[Family, bytes]:
        """The family that the file is, and its content."""
        if not path.is_absolute() or path.suffix.lower() != own.SUFFIX:
            raise UsageError("{file} cannot be added: own tasks are a .csv file.", file=path.name)
        content = own.read_file(path)
        family = own.parse_family(path.stem, content, {one.name for one in self._catalogue.shipped().families})
        there = self._there()
        if len(there) >= own.MOST_FILES and family.name not in there:
            raise TaskError("There are {count} own families, and no more are read: remove one.", count=own.MOST_FILES)
        return family, content

    def _add(self, path: Path) -> Family:
        family, content = self._read(path)
        with disk_errors_as(TaskError, sentence("The own tasks cannot be kept")):
            self._folder.mkdir(exist_ok=True)
            write_atomically(self._folder / (family.name + own.SUFFIX), content)
        return family

    def _there(self) -> list[str]:
        return [file.stem for file in own.own_files(self._folder)]

    def _remove(self, name: str) -> None:
        # By the list, so that no name leads out of the folder.
        found = next((file for file in own.own_files(self._folder) if file.stem == name), None)
        if found is None:
            raise UsageError("There are no own tasks {name}.", in_terminal="sapo-desktop tasks list", name=name)
        if name in (family_of(word.strip()) for word in self._chosen().split(",")):
            raise UsageError(
                "{name} is among the tasks that are practised (the setting `tasks`): take it out there first.",
                name=name,
            )
        with disk_errors_as(TaskError, sentence("The own tasks cannot be removed")):
            found.unlink(missing_ok=True)


def _told(family: Family) -> list[Text]:
    """What was found in the file."""
    questions = [question for level in family.levels for question, _ in level.rows]
    validation, test = own.held_out_counts(family.name, questions)
    told: list[Text] = [
        sentence(
            "{name}: {count} questions ({levels}). Answers are read as {form}. Never trained on: {validation} for the "
            "score while learning, {test} for the final one.",
            name=family.name,
            count=len(questions),
            levels=", ".join(level.name for level in family.levels),
            form=FORMS[family.grammar],
            validation=validation,
            test=test,
        )
    ]
    told += [
        sentence(
            "More than a fifth of the level {level} has one and the same answer, so its groups are not shared.",
            level=level.name,
        )
        for level in family.levels
        if not level.shared
    ]
    return told

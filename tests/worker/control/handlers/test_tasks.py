"""Files of own tasks come and go; the node learns of it, and nothing leads out of their folder."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sapo_desktop.core.errors import SapoError, TaskError, UsageError
from sapo_desktop.core.resources import resource
from sapo_desktop.core.settings import Settings
from sapo_desktop.tasks.catalogue import load_catalogue
from sapo_desktop.tasks.own import folder as own
from sapo_desktop.worker.control.handlers.tasks import TaskRequests
from sapo_desktop.worker.control.messages.requests import AddTasks, ReadTasks, RemoveTasks
from sapo_desktop.worker.governor import NodeState
from tests.worker.test_lengths import Counting

EXAMPLE = Path(__file__).resolve().parents[4] / "docs" / "examples" / "roman_numbers.csv"


class Scene:
    def __init__(self, folder: Path, chosen: str = "all", context: int = 1024) -> None:
        self.folder, self.changes = folder / "tasks", 0
        node: Any = SimpleNamespace(
            settings=Settings(tasks=chosen), engine=Counting(context), gate=SimpleNamespace(state=NodeState.WORKING)
        )
        self.node = node
        self.served = TaskRequests(self.folder, load_catalogue(resource("tasks.toml")), node, self._changed)

    def _changed(self) -> None:
        self.changes += 1


async def test_a_file_is_copied_and_removed_again(tmp_path: Path) -> None:
    it = Scene(tmp_path)
    said = str((await it.served.add(AddTasks(path=str(EXAMPLE)))).text)
    assert "150 questions (easy, middle, hard)" in said and "a whole number" in said
    kept = (it.folder / EXAMPLE.name).read_text()
    assert kept == EXAMPLE.read_text().replace("answer", "answer:whole", 1)
    assert "was removed" in str((await it.served.remove(RemoveTasks(name="roman_numbers"))).text)
    assert (it.changes, list(it.folder.iterdir())) == (2, [])


async def test_a_file_that_is_read_changes_nothing(tmp_path: Path) -> None:
    it = Scene(tmp_path)
    given = (tmp_path / "mine").with_suffix(".CSV")
    given.write_bytes(EXAMPLE.read_bytes())
    read = await it.served.read(ReadTasks(path=str(given)))
    assert "150 questions (easy, middle, hard)" in str(read.text) and not read.replaces
    assert [(row.question, row.answer) for row in read.first][:1] == [("Which number is I in Roman numerals?", "1")]
    assert (len(read.first), it.changes, it.folder.exists()) == (3, 0, False)
    await it.served.add(AddTasks(path=str(given)))
    assert (await it.served.read(ReadTasks(path=str(given)))).replaces
    given.write_text("question,answer\nWhy?")
    with pytest.raises(TaskError, match=r"mine\.CSV, line 2: it has 1 columns"):
        await it.served.read(ReadTasks(path=str(given)))


async def test_what_is_no_family_is_refused_and_leaves_the_one_before(tmp_path: Path) -> None:
    it = Scene(tmp_path)
    await it.served.add(AddTasks(path=str(EXAMPLE)))
    bad = tmp_path / EXAMPLE.name
    bad.write_text("question,answer\nWhy?")
    paths = [str(bad), EXAMPLE.name, str(tmp_path), str(tmp_path / "none.csv"), "/dev/zero"]
    for path in paths:
        with pytest.raises((TaskError, UsageError)):
            await it.served.add(AddTasks(path=path))
    assert (it.changes, own.load_tasks(it.folder).own) == (1, {"roman_numbers"})


@pytest.mark.parametrize("name", ["gcd", "", "../settings", "none"])
async def test_only_own_tasks_are_removed(tmp_path: Path, name: str) -> None:
    (tmp_path / "settings.csv").write_text("")
    with pytest.raises(UsageError, match="no own tasks"):
        await Scene(tmp_path).served.remove(RemoveTasks(name=name))
    assert (tmp_path / "settings.csv").exists()


async def test_a_family_that_the_settings_name_stays_and_so_does_the_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = Scene(tmp_path, "gcd, roman_numbers/easy")
    await it.served.add(AddTasks(path=str(EXAMPLE)))
    with pytest.raises(UsageError, match="the setting `tasks`"):
        await it.served.remove(RemoveTasks(name="roman_numbers"))
    monkeypatch.setattr(own, "MOST_FILES", 1)
    await it.served.add(AddTasks(path=str(EXAMPLE)))  # in its own place
    other = tmp_path / "other.csv"
    other.write_bytes(EXAMPLE.read_bytes())
    with pytest.raises(SapoError, match="There are"):
        await it.served.add(AddTasks(path=str(other)))


EIGHTHS = "\n".join(["question;answer", *(f"What is {n}/8?;{n // 8},{n % 8 * 125:03}" for n in range(8, 100))])


async def test_a_file_that_can_be_read_in_two_ways_is_asked_about_and_its_copy_is_not(tmp_path: Path) -> None:
    it = Scene(tmp_path)
    path = tmp_path / "eighths.csv"
    path.write_text(EIGHTHS)
    asked = await it.served.read(ReadTasks(path=str(path)))
    assert (asked.asked, [one.value for one in asked.choices]) == ("answers", ["whole", "decimal-comma"])
    assert [(row.question, row.answer) for row in asked.choices[1].first][1] == ("1,125", "1,125")
    with pytest.raises(TaskError, match="can be read in several ways"):
        await it.served.add(AddTasks(path=str(path)))
    assert not it.folder.exists()
    said = str((await it.served.add(AddTasks(path=str(path), answers="decimal-comma"))).text)
    assert "a number with a decimal comma" in said and "1,000 → 1; 1,250 → 1,25; 1,500 → 1,5." in said
    (family,) = [one for one in own.load_tasks(it.folder).families if one.own]
    assert family.grammar == "decimal_comma" and family.levels[0].rows


async def test_a_family_takes_the_place_of_one_that_differs_in_capitals(tmp_path: Path) -> None:
    it = Scene(tmp_path)
    for name in ("romans.csv", "Romans.tsv"):
        path = tmp_path / name
        path.write_bytes(EXAMPLE.read_bytes())
        assert (await it.served.read(ReadTasks(path=str(path)))).replaces == (name != "romans.csv")
        await it.served.add(AddTasks(path=str(path)))
    assert [file.name for file in it.folder.iterdir()] == ["Romans.csv"]


async def test_questions_that_the_model_cannot_read_are_counted_where_it_is_free_to_say_so(tmp_path: Path) -> None:
    it = Scene(tmp_path, context=60)
    path = tmp_path / "long.csv"
    path.write_text("\n".join(["question,answer", *(f"What is {n}{' again' * (n % 2 * 9)}?,{n}" for n in range(100))]))
    assert "long: 50 of 99 questions are too long for this model" in str(
        (await it.served.read(ReadTasks(path=str(path)))).text
    )
    it.node.gate.state = NodeState.PAUSED
    assert "The node checks whether its questions fit into" in str((await it.served.add(AddTasks(path=str(path)))).text)


async def test_a_file_is_refused_whose_copy_nobody_would_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    it = Scene(tmp_path)
    size = EXAMPLE.stat().st_size
    monkeypatch.setattr(own, "MOST_BYTES", size)  # the copy's header is longer
    with pytest.raises(TaskError, match="Split it into several files"):
        await it.served.add(AddTasks(path=str(EXAMPLE)))
    monkeypatch.setattr(own, "MOST_BYTES", 10 * size)
    monkeypatch.setattr(own, "MOST_TOGETHER", 2 * size)
    await it.served.add(AddTasks(path=str(EXAMPLE)))
    await it.served.add(AddTasks(path=str(EXAMPLE)))  # in its own place
    other = tmp_path / "other.csv"
    other.write_bytes(EXAMPLE.read_bytes())
    with pytest.raises(TaskError, match="Remove some"):
        await it.served.add(AddTasks(path=str(other)))
    assert own.load_tasks(it.folder).own == {"roman_numbers"} and not own.load_tasks(it.folder).left_out


async def test_a_file_that_was_put_there_by_hand_is_left_out_with_the_ways_to_read_it(tmp_path: Path) -> None:
    (tmp_path / "eighths.csv").write_text(EIGHTHS)
    (said,) = own.load_tasks(tmp_path).left_out.values()
    assert "whole (1,000 → 1000" in str(said) and "tasks add eighths.csv --answers whole" in str(said)

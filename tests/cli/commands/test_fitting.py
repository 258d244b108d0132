"""`sapo-desktop fit` and `models list`, for people and for machines."""

import msgspec
import pytest

from sapo_desktop.core.errors import ModelError
from sapo_desktop.worker.control import unstarted
from tests.cli.fake_node import FakeDoor
from tests.cli.words import Words


@pytest.fixture
def door() -> FakeDoor:
    return FakeDoor()


@pytest.fixture(autouse=True)
def appraisal(monkeypatch: pytest.MonkeyPatch, door: FakeDoor) -> None:
    """In the place of its own process."""
    monkeypatch.setattr(unstarted, "appraise", door.appraise)


def test_a_person_sees_the_choice_the_parts_and_why_nothing_bigger(run: Words) -> None:
    assert run("fit", "--ram", "8", "--vram", "0") == 0
    head, table = run.stdout.split("\n\n", 2)[:2]
    assert "8.6 GB of memory, 6.4 GB assumed free" in head
    assert "qwen2.5-0.5b: answers and learns with PyTorch (float32)" in table
    for part in ("weights", "optimiser", "activations", "logits", "kv cache", "runtime", "reserve", "in all"):
        assert f"\n{part} " in run.stdout
    assert "and a round takes about" in table and "\na round " in run.stdout
    assert "Not chosen:" in run.stdout and "Qwen3 8B: " in run.stdout


def test_machines_read_one_line(run: Words) -> None:
    assert run("fit", "--ram", "8", "--vram", "0", "--json") == 0
    (line,) = run.lines
    assert (line["event"], line["model"], line["generator"], line["trainer"]) == (
        "fit",
        "qwen2.5-0.5b",
        "torch",
        "torch",
    )
    parts, ways = line["parts"], line["ways"]
    assert isinstance(parts, dict) and isinstance(ways, list)
    assert line["estimate_bytes"] == sum(parts.values()) - parts["reserve"]
    assert [way["generator"] for way in ways] == ["llama.cpp", "llama.cpp", "torch"]


def test_without_options_this_computer_is_meant_and_no_node_is_started(run: Words, door: FakeDoor) -> None:
    assert run("fit") == 0
    assert "8.6 GB of memory, 6.4 GB free now" in run.stdout
    assert door.node.requests == []


def test_where_nothing_learns_it_is_said(run: Words) -> None:
    assert run("fit", "--ram", "0.75", "--vram", "0") == 0
    assert "starter: answers with llama.cpp (Q8_0), learns nothing" in run.stdout
    assert run("fit", "--ram", "0.25", "--vram", "0") == 0
    assert "Nothing fits. The smallest is starter" in run.stdout


def test_the_catalogue_with_its_badges(run: Words) -> None:
    assert run("models", "list") == 0
    rows = {line.split()[0]: line for line in run.stdout.splitlines() if line.strip()}
    assert "fits" in rows["starter"] and "too big" in rows["qwen3-8b"] and "8,190.7M" in rows["qwen3-8b"]
    assert "Llama 3.2 Community (account)" in rows["llama-3.2-3b"]
    assert "~" in rows["starter"] and "~" not in rows["qwen3-8b"], "how long a round takes, where it can learn"
    assert run("models", "--json") == 0
    assert {line["event"] for line in run.lines} == {"model"} and len(run.lines) == len(rows) - 4
    assert run.lines[0]["id"] == "starter" and run.lines[0]["downloaded"] is True


@pytest.mark.parametrize("words", [("--ram", "much"), ("--ram", "-1"), ("--vram", "1e3"), ("--ram", "inf")])
def test_sizes_that_are_none(run: Words, words: tuple[str, str]) -> None:
    assert run("fit", *words) == 2
    assert "is not a number of GiB" in run.stderr or "expected one argument" in run.stderr


def test_a_catalogue_that_cannot_be_read_is_a_failure_with_its_reason(run: Words, door: FakeDoor) -> None:
    door.node.fail = ModelError("The model catalogue cannot be used: a slip.")
    assert run("fit") == 1
    assert "a slip" in run.stderr


def test_the_choice_can_be_put_into_the_settings(run: Words, door: FakeDoor) -> None:
    door.there = False
    door.machine = msgspec.structs.replace(door.machine, memory_free=10**9)
    assert run("fit", "--use") == 0
    kept = (run.folder / "settings.toml").read_text()
    assert "learning_rate = 0.0\n" in kept and "The model is starter." in run.stdout
    assert run("fit", "--ram", "8", "--use") == 2 and "applies to this computer" in run.stderr
    door.machine = msgspec.structs.replace(door.machine, memory_free=6 * 10**9)
    assert run("fit", "--use") == 2 and "models download qwen2.5-0.5b" in run.stderr


def test_what_does_not_fit_is_not_put_into_the_settings(run: Words, door: FakeDoor) -> None:
    door.there = False
    door.machine = msgspec.structs.replace(door.machine, memory_free=10**7)
    assert run("fit", "--use") == 1
    assert "Nothing was changed." in run.stderr and not (run.folder / "settings.toml").exists()


def test_a_running_node_is_asked_which_counts_its_own_memory_as_free(run: Words, door: FakeDoor) -> None:
    door.there = True
    door.node.machine = msgspec.structs.replace(door.machine, memory_free=7 * 10**9)
    assert run("fit", "--json") == 0
    (line,) = run.lines
    assert line["available"]["memory_free"] == 7 * 10**9  # type: ignore[index]

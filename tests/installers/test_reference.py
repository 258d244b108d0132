"""The last step of setup: announced with its size, left out on request, and never a reason to fail."""

import io
import os
from pathlib import Path
from typing import TextIO

import pytest

from installers import commands, reference


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is done for a command, in order."""
    done: list[str] = []

    def prepare(root: Path, purpose: str, out: TextIO) -> Path:
        done.append(purpose)
        return Path("python")

    monkeypatch.setattr(commands, "prepare", prepare)
    monkeypatch.setattr(commands, "is_ready", lambda root, purpose: False)
    monkeypatch.setattr(commands, "_start", lambda python, arguments: done.append(" ".join(arguments)) or 0)
    monkeypatch.setattr(reference, "fetch", lambda python, out: done.append("model"))
    return done


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["setup"], ["run", "model"]),
        (["setup", "--no-model"], ["run"]),
        (["setup", "relay"], ["relay"]),
        (["setup", "test"], ["test"]),
        (["run", "--terminal"], ["run", "model", "-m sapo_desktop --terminal"]),
        (["run", "--no-model", "--terminal"], ["run", "-m sapo_desktop --terminal"]),
        (["relay"], ["relay", "-m sapo_desktop relay"]),
    ],
)
def test_the_first_set_up_fetches_a_model_unless_it_is_left_out(
    asked: list[str], words: list[str], expected: list[str]
) -> None:
    assert commands.run_command("/checkout", words, "") == 0
    assert asked == expected


def test_what_is_set_up_already_fetches_nothing(asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "is_ready", lambda root, purpose: True)
    assert commands.run_command("/checkout", ["run", "--terminal"], "") == 0
    assert "model" not in asked


@pytest.mark.skipif(os.name == "nt", reason="a script stands in for Python")
@pytest.mark.allowed_skip("a script stands in for Python")
@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 0", "The model was fetched."),
        ("echo The index is away.; exit 1", "was not fetched. The index is away. `sapo-desktop models download"),
        (None, "was not fetched (No such file"),
    ],
)
def test_its_size_is_said_before_and_a_failure_is_one_sentence(tmp_path: Path, script: str | None, said: str) -> None:
    python, out = tmp_path / "python", io.StringIO()
    if script is not None:
        python.write_text(f"#!/bin/sh\n{script}\n")
        python.chmod(0o755)
    reference.fetch(python, out)
    first, *rest = out.getvalue().splitlines()
    assert f"{reference.MEGABYTES} MB" in first and "--no-model" in first
    assert said in " ".join(rest)

"""The tinkerers' tutorial: its commands, and what other programs are given to ask the trained model with."""

import importlib.util
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sapo_desktop.core.extraction import CLOSE, OPEN
from sapo_desktop.engines.prompts import INSTRUCTIONS
from sapo_desktop.tasks.own.family import parse_file
from tests.reference import NAME, reference

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs" / "examples"
CELLS = json.loads((ROOT / "docs" / "tinkerers.ipynb").read_text(encoding="utf-8"))["cells"]
CODE = ["".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "code"]


def test_the_modelfile_and_the_script_ask_as_the_model_was_asked_in_training() -> None:
    file = EXAMPLES / "months.csv"
    shown = parse_file(file.name, file.read_bytes(), set()).family.shown
    assert shown is not None
    answer = f"{OPEN}{shown.answer}{CLOSE}"
    modelfile = (EXAMPLES / "months.Modelfile").read_text(encoding="utf-8")
    assert f'SYSTEM """{INSTRUCTIONS}"""\nMESSAGE user {shown.question}\nMESSAGE assistant {answer}\n' in modelfile
    script = (EXAMPLES / "months_llama.py").read_text(encoding="utf-8")
    assert all(json.dumps(text) in script for text in (INSTRUCTIONS, shown.question, answer))


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.allowed_skip("llama-cpp-python is built from source and may be missing at a desk")
def test_the_tutorial_ends_in_a_better_score_and_an_adapter_for_llama_cpp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the notebook, which has the page's commands (tests/packaging/test_written_pages.py)."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(EXAMPLES.parent)
    names: dict[str, Any] = {}
    exec(CODE[0], names)
    assert Path.cwd() == ROOT
    run(f"{names['sapo']} models import {reference()} --name {NAME}")  # in place of set-up's download
    run(f"{names['sapo']} settings set low_priority=off")
    said: list[str] = []
    for line in "\n".join(CODE[1:]).splitlines():
        command = line.removeprefix("!").format_map(names)
        if "months_llama.py" not in command:
            said.append(run(command))
        elif importlib.util.find_spec("llama_cpp"):
            assert "<answer>July</answer>" in run(command)
    before, after = (float(found[1]) for text in said if (found := re.search(r"(\d+)% of 36", text)))
    assert after >= before + 20, said
    assert list((tmp_path / "months-adapter").glob("*.gguf"))
    if importlib.util.find_spec("llama_cpp") is None:
        pytest.skip("The rest of the tutorial was right, but llama-cpp-python is not built here.")


def run(command: str) -> str:
    """What a command of a shell prints; it must succeed."""
    ended = subprocess.run(command, shell=True, check=False, capture_output=True, text=True, timeout=3000)
    assert ended.returncode == 0, f"{command}: {ended.stderr}{ended.stdout}"
    return ended.stdout

"""The tinkerers' tutorial: its commands as the page gives them, to a model that learned and an adapter that llama.cpp
loads."""

import json
import re
import shlex
from pathlib import Path

import pytest

from sapo_desktop.core.extraction import CLOSE, OPEN
from sapo_desktop.engines.prompts import INSTRUCTIONS
from sapo_desktop.tasks.own.family import parse_file
from tests.reference import NAME, reference
from tests.whole.nodes import sapo

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs" / "examples"
PAGE = (ROOT / "docs" / "tinkerers.md").read_text(encoding="utf-8")
COMMANDS = [shlex.split(line)[1:] for line in re.findall(r"^    (sapo-desktop .*)$", PAGE, re.MULTILINE)]


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
@pytest.mark.timeout(1200)
def test_the_commands_of_the_tutorial_end_in_a_better_score_and_an_adapter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    data = tmp_path / "node"
    sapo(data, "settings", "set", f"models_folder={tmp_path / 'models'}", "low_priority=off")
    sapo(data, "models", "import", str(reference()), "--name", NAME)
    out: dict[str, list[str]] = {}
    for words in COMMANDS:
        typed = [str(tmp_path / word) if word == "months-adapter" else word for word in words]
        if words[0] == "run":
            typed = [*typed, "--seed", "1"]
        out.setdefault(words[0], []).append(sapo(data, *typed).stdout)
    before, after = (float(found[1]) for text in out["eval"] if (found := re.search(r"(\d+)% of 36", text)))
    assert after >= before + 20, out["eval"]
    assert [file.suffix for file in (tmp_path / "months-adapter").iterdir() if file.suffix != ".md"] == [".gguf"]
    assert "Which month is 1953-05-11 in? → May" in sapo(data, "tasks", "show", "months").stdout

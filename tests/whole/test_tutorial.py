"""The tinkerers' tutorial: what other programs are given to ask the trained model with."""

import json
from pathlib import Path

from sapo_desktop.core.extraction import CLOSE, OPEN
from sapo_desktop.engines.prompts import INSTRUCTIONS
from sapo_desktop.tasks.own.family import parse_file

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs" / "examples"


def test_the_modelfile_and_the_script_ask_as_the_model_was_asked_in_training() -> None:
    file = EXAMPLES / "months.csv"
    shown = parse_file(file.name, file.read_bytes(), set()).family.shown
    assert shown is not None
    answer = f"{OPEN}{shown.answer}{CLOSE}"
    modelfile = (EXAMPLES / "months.Modelfile").read_text(encoding="utf-8")
    assert f'SYSTEM """{INSTRUCTIONS}"""\nMESSAGE user {shown.question}\nMESSAGE assistant {answer}\n' in modelfile
    script = (EXAMPLES / "months_llama.py").read_text(encoding="utf-8")
    assert all(json.dumps(text) in script for text in (INSTRUCTIONS, shown.question, answer))

"""Every kind of model in the catalogue, small and random, in a whole node: rounds, scores, checkpoints, exports."""

import itertools
import json
from pathlib import Path

import pytest

from tests.engines.real_models import KINDS, save_real_model
from tests.whole.nodes import reports, sapo

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


# Every kind in every format is exported by tests/engines/test_real_models.py.
EXPORTED = list(zip(sorted(KINDS), itertools.cycle(("peft", "merged", "gguf")), strict=False))


@pytest.mark.parametrize(("kind", "format"), EXPORTED)
def test_a_node_plays_rounds_with_it_and_exports_it(tmp_path: Path, kind: str, format: str) -> None:
    data, model = tmp_path / "node", save_real_model(tmp_path / kind, kind)
    short = ["--set", "questions=4", "--set", "max_tokens=24", "--set", "reward=partial"]
    sapo(data, "settings", "set", "model", str(model))
    said = sapo(data, "run", "--silo", "--rounds", "2", *short, "--json")
    lines = [json.loads(line) for line in said.stdout.splitlines()]
    assert [line["round"] for line in lines if line["event"] == "round"] == [1, 2]
    assert [report.round for report in reports(data)] == [1, 2]
    assert list((data / "checkpoints").rglob("adapter_model.safetensors"))
    sapo(data, "export", "--format", format, "--to", str(tmp_path / format))
    assert (tmp_path / format / "README.md").is_file()

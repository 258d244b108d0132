"""A real chat model from its file to an adapter for other programs, by the command line alone.

Left out: `eval`, which asks a real model for many minutes; the same score is taken in parts during the rounds.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gguf import GGUFReader
from peft import PeftModel

from sapo_desktop.core.extraction import CLOSE
from sapo_desktop.engines.torch.lm import load_language_model
from sapo_desktop.worker.store.checkpoints import CheckpointStore
from tests.builders import as_prompt
from tests.engines.export_models import torch_logits
from tests.reference import reference
from tests.whole.nodes import sapo

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

TASKS = "chain_sum/first,products/first,leg_counting/first"
"""One step each: what a small chat model is right at now and then, once it is shown how."""
SHORT = ["--silo", "--tasks", TASKS, "--seed", "1"]
for item in ("questions=4", "low_priority=off", "threads=1"):
    SHORT += ["--set", item]


class Node:
    """A node's folder with the reference, and what `run` says there."""

    def __init__(self, data: Path) -> None:
        self.data = data
        sapo(data, "settings", "set", "models_folder", str(data.parent / "models"))
        self.installed = lines(sapo(data, "models", "import", str(reference()), "--json").stdout)[-1]
        sapo(data, "settings", "set", "model", self.installed["name"])

    def run(self, rounds: int, *more: str) -> dict[str, list[dict[str, Any]]]:
        """Lines by their kind."""
        by_kind: dict[str, list[dict[str, Any]]] = {}
        for line in lines(sapo(self.data, "run", "--rounds", str(rounds), *SHORT, *more, "--json").stdout):
            by_kind.setdefault(line["event"], []).append(line)
        return by_kind

    def shots(self) -> int | None:
        """Worked examples that the model is shown."""
        kept = CheckpointStore(self.data / "checkpoints").get("last")
        assert kept is not None
        return kept.counters.shots


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path / "node")


def test_an_imported_chat_model_learns_goes_on_after_a_restart_and_is_exported(node: Node, tmp_path: Path) -> None:
    assert node.installed["kind"] == "gguf" and node.installed["notes"] == [], "it learns"
    # The first held-out score is taken during the first round, of one part in 25.
    said = node.run(2, "--set", "validate_every=50")
    rounds = said["round"]
    assert [line["round"] for line in rounds] == [1, 2]
    assert any(line["step"] for line in rounds) and any(line["solved"] for line in rounds)
    assert max(line["readable"] for line in rounds) > 0.3
    assert [line["round"] for line in said["checkpoint"]] == [1, 2]
    answers = [line["completion"] for line in said["answer"]]
    assert any(text.endswith(CLOSE) for text in answers)
    assert all(text.partition(CLOSE)[2] == "" for text in answers), "nothing comes behind the tag"
    (scored,) = said["eval"]
    assert 0 < scored["questions"] < 50 and 0 <= scored["score"] <= 1
    assert (node.shots() or 0) >= 1

    after = node.run(1, "--set", "validate_every=0")
    assert [line["round"] for line in after["round"]] == [3]
    asked = lines(sapo(node.data, "ask", "What is 3 + 4?", "--json").stdout)[-1]
    assert asked["text"].strip() and asked["tokens"]
    exported_adapters_load(node, tmp_path)


def exported_adapters_load(node: Node, to: Path) -> None:
    """Both adapters fit the file that was imported."""
    for form in ("peft", "gguf"):
        sapo(node.data, "export", "--format", form, "--to", str(to / form))
    (adapter,) = (to / "gguf").glob("*-adapter.gguf")
    base = {tensor.name for tensor in GGUFReader(reference()).tensors}
    changed = {tensor.name.removesuffix(".lora_a").removesuffix(".lora_b") for tensor in GGUFReader(adapter).tensors}
    assert changed and changed <= base
    lm = load_language_model(reference(), "cpu", "float32")
    tokens = lm.words.prompt_tokens(as_prompt("What is 3 + 4?"))
    before = torch_logits(lm.model, tokens)
    after = torch_logits(PeftModel.from_pretrained(lm.model, to / "peft").eval(), tokens)
    assert np.isfinite(after).all() and np.abs(after - before).max() > 1e-4


def test_given_only_the_form_it_never_writes_the_tags(node: Node) -> None:
    """Why the first look chooses an example above."""
    (played,) = node.run(1, "--set", "shots=0", "--set", "validate_every=0", "--set", "max_tokens=32")["round"]
    assert played["readable"] < 0.1
    assert node.shots() == 0

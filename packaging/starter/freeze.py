"""Writes a starter folder from a priming checkpoint: weights in bf16, tokenizer, model card, log, manifest.

    python packaging/starter/freeze.py --run .cache/starter --to resources/starter [--scores FILE]

`--scores` is check.py's JSON for the same folder; the card then carries its table. Run freeze, check, freeze again:
the weights are the same each time.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import shutil
import sys
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import model as starter
import tokenizer

LIBRARIES = ("torch", "transformers", "tokenizers", "reasoning_gym")


def digest(path: Path) -> str:
    """SHA-256 of a file in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def versions() -> dict[str, str]:
    """Versions of everything the weights depend on."""
    from importlib.metadata import version

    return {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}}


def scores_table(path: Path | None) -> str:
    """check.py's rows as Markdown."""
    if path is None:
        return "Not scored yet."
    from check import Row, table

    return table([Row(**row) for row in json.loads(path.read_text(encoding="utf-8"))])


def card(recipe: dict[str, Any], parameters: int, scores: Path | None) -> str:
    """The model card from its template."""
    text = (Path(__file__).parent / "card.md").read_text(encoding="utf-8")
    return text.format(parameters=parameters, scores=scores_table(scores), **recipe)


def freeze(run: Path, to: Path, scores: Path | None) -> None:
    """Writes every file of the folder, the manifest last."""
    state = torch.load(run / "checkpoint.pt", map_location="cpu", weights_only=True)
    words = tokenizer.build()
    plan, progress = state["recipe"], state["progress"]
    network = starter.build(len(words), words.pad_token_id, words.eos_token_id, plan["layers"])
    network.load_state_dict(state["model"])
    network.generation_config.eos_token_id = words.eos_token_id
    network.generation_config.pad_token_id = words.pad_token_id
    to.mkdir(parents=True, exist_ok=True)
    network.to(torch.bfloat16).save_pretrained(to)
    (to / "model.safetensors").chmod(0o644)
    tokenizer.save(to)
    shutil.copyfile(run / "training-log.jsonl", to / "training-log.jsonl")
    recipe = {
        "seed": plan["seed"],
        "layers": plan["layers"],
        "cores": plan["cores"],
        "planned_minutes": plan["minutes"],
        "minutes": round(progress["seconds"] / 60, 1),
        "steps": progress["steps"],
        "tokens": progress["tokens"],
    }
    parameters = sum(p.numel() for p in network.parameters())
    (to / "README.md").write_text(card(recipe, parameters, scores), encoding="utf-8")
    files = {path.name: digest(path) for path in sorted(to.iterdir()) if path.name != "manifest.json"}
    manifest = {"format": 1, "recipe": recipe, "parameters": parameters, "versions": versions(), "files": files}
    (to / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description="Freeze a primed starter.")
    parser.add_argument("--run", type=Path, default=Path(".cache/starter"))
    parser.add_argument("--to", type=Path, default=Path("resources/starter"))
    parser.add_argument("--scores", type=Path)
    chosen = parser.parse_args()
    freeze(chosen.run, chosen.to, chosen.scores)


if __name__ == "__main__":
    main()

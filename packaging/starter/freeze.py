"""Writes a starter folder from a priming checkpoint: weights in bf16, tokenizer, model card, log, manifest.

    python packaging/starter/freeze.py --run .cache/starter --to resources/starter
    python packaging/starter/freeze.py --to resources/starter --scores FILE         the card's scores alone

`--scores` is check.py's JSON for the same folder. Its table replaces the card's: for a new starter, or for an old one
once the scoring rules changed. The weights stay.
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

_SCORES_BEGIN, _SCORES_END = "## Scores\n", "\n## Use\n"
_STAGE = """\
`python packaging/starter/{command}`: {steps} steps, {tokens} tokens, {minutes} minutes in {cores} processes on a 2-core
x86 machine without GPU."""
LIBRARIES = ("torch", "transformers", "tokenizers", "reasoning_gym")


def digest(path: Path) -> str:
    """SHA-256 of a file in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def versions() -> dict[str, str]:
    """Versions of everything the weights depend on."""
    from importlib.metadata import version

    return {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}}


def scores_table(path: Path) -> str:
    """check.py's rows as Markdown."""
    from check import Row, table

    return table([Row(**row) for row in json.loads(path.read_text(encoding="utf-8"))])


def card(recipe: list[dict[str, Any]], parameters: int) -> str:
    """The model card from its template, without scores."""
    text = (Path(__file__).parent / "card.md").read_text(encoding="utf-8")
    stages = "\n\n".join(_STAGE.format(command=command(stage), **stage) for stage in recipe)
    return text.format(parameters=parameters, layers=recipe[-1]["layers"], scores="Not scored yet.", stages=stages)


def command(stage: dict[str, Any]) -> str:
    """How prime.py was called."""
    words = f"prime.py --minutes {stage['planned_minutes']:g} --seed {stage['seed']} --cores {stage['cores']}"
    if stage["start"]:
        words += f" --start {stage['start']} --guesses " + " ".join(f"{share:g}" for share in stage["guesses"])
    return words


def stages_before(start: str) -> list[dict[str, Any]]:
    """The recipe of the starter from which a run continued, according to its manifest."""
    if not start:
        return []
    before = json.loads((Path(start) / "manifest.json").read_text(encoding="utf-8"))
    return [{**stage, "sha256": before["files"]["model.safetensors"]} for stage in before["recipe"]]


def freeze(run: Path, to: Path) -> None:
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
    stage = {
        "seed": plan["seed"],
        "layers": plan["layers"],
        "cores": plan["cores"],
        "start": plan["start"],
        "guesses": list(plan["guesses"]),
        "planned_minutes": plan["minutes"],
        "minutes": round(progress["seconds"] / 60, 1),
        "steps": progress["steps"],
        "tokens": progress["tokens"],
    }
    recipe = [*stages_before(plan["start"]), stage]
    parameters = sum(p.numel() for p in network.parameters())
    (to / "README.md").write_text(card(recipe, parameters), encoding="utf-8")
    write_manifest(to, {"format": 2, "recipe": recipe, "parameters": parameters, "versions": versions()})


def write_scores(to: Path, scores: Path) -> None:
    """Write the scores into the card of a frozen starter."""
    page = to / "README.md"
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(_SCORES_BEGIN)
    head, _, after = rest.partition("\n\n")
    page.write_text(
        f"{before}{_SCORES_BEGIN}{head}\n\n{scores_table(scores)}\n{_SCORES_END}" + after.partition(_SCORES_END)[2],
        encoding="utf-8",
    )
    write_manifest(to, json.loads((to / "manifest.json").read_text(encoding="utf-8")))


def write_manifest(to: Path, about: dict[str, Any]) -> None:
    """The manifest of a starter, with the current hashes of its files."""
    files = {path.name: digest(path) for path in sorted(to.iterdir()) if path.name != "manifest.json"}
    (to / "manifest.json").write_text(json.dumps({**about, "files": files}, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description="Freeze a primed starter.")
    parser.add_argument("--run", type=Path)
    parser.add_argument("--to", type=Path, default=Path("resources/starter"))
    parser.add_argument("--scores", type=Path)
    chosen = parser.parse_args()
    if chosen.run:
        freeze(chosen.run, chosen.to)
    if chosen.scores:
        write_scores(chosen.to, chosen.scores)


if __name__ == "__main__":
    main()

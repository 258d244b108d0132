"""Two nodes with different tokenizers and model sizes, linked to each other: does each learn from the other's answers?

    python -m tests.bench.swarm.two_kinds                 24 rounds each
    python -m tests.bench.swarm.two_kinds --quick         2 rounds each

One has the starter. The other has a smaller model made from it here: a quarter of each layer's feed-forward units cut
out (those that weigh least), and a tokenizer that numbers every byte and phrase differently. They exchange
text, and each reads it with its own tokenizer.
"""

import json
import random
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from sapo_desktop.models.starter import starter_folder
from tests.attack.peers.swarm import Program, settings
from tests.bench.figure import Figure, arguments, at_least, show, tell

KEPT = 3 / 4
"""Share of the feed-forward units that is kept."""
QUESTIONS = 8
PATIENCE = 600.0


def main() -> None:
    given = arguments(__doc__).parse_args()
    rounds = 2 if given.quick else 24
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        model = other_kind(starter_folder(), folder / "other", given.seed)
        of_names = play(folder, model, rounds, given.seed)
    for name, played in of_names.items():
        show(figures(name, played, rounds), given)


def other_kind(starter: Path, folder: Path, seed: int) -> Path:
    """Write the smaller model with the other tokenizer."""
    shutil.copytree(starter, folder, ignore=shutil.ignore_patterns("manifest.json", "*.md", "*.jsonl"))
    weights = load_file(folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    kept = int(config["intermediate_size"] * KEPT)
    for layer in range(config["num_hidden_layers"]):
        _cut_units(weights, f"model.layers.{layer}.mlp.", kept)
    config["intermediate_size"] = kept
    new = _renumbered(folder / "tokenizer.json", seed)
    rows = torch.empty(len(new), dtype=torch.long)
    rows[torch.tensor([new[old] for old in range(len(new))])] = torch.arange(len(new))
    weights["model.embed_tokens.weight"] = weights["model.embed_tokens.weight"][rows].contiguous()
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def _cut_units(weights: dict[str, torch.Tensor], prefix: str, kept: int) -> None:
    """Keep the units whose way in and out weighs most."""
    gate, up, down = (weights[f"{prefix}{name}_proj.weight"].float() for name in ("gate", "up", "down"))
    weighs = gate.norm(dim=1) * up.norm(dim=1) * down.norm(dim=0)
    best = weighs.topk(kept).indices.sort().values
    for name, dim in (("gate", 0), ("up", 0), ("down", 1)):
        key = f"{prefix}{name}_proj.weight"
        weights[key] = weights[key].index_select(dim, best).contiguous()


def _renumbered(path: Path, seed: int) -> dict[int, int]:
    """Give bytes and phrases other numbers, among themselves; returns old number -> new number."""
    tokenizer = json.loads(path.read_text())
    rng = random.Random(seed)
    control = {token["id"] for token in tokenizer["added_tokens"] if token["special"]}
    vocabulary: dict[str, int] = tokenizer["model"]["vocab"]
    phrases = [token for token in tokenizer["added_tokens"] if token["id"] >= len(vocabulary)]
    new = {number: number for number in control}
    for numbers in (
        [number for number in vocabulary.values() if number not in control],
        [token["id"] for token in phrases],
    ):
        new |= dict(zip(numbers, rng.sample(numbers, len(numbers)), strict=True))
    tokenizer["model"]["vocab"] = {token: new[number] for token, number in vocabulary.items()}
    for token in tokenizer["added_tokens"]:
        token["id"] = new[token["id"]]
    tokenizer["added_tokens"].sort(key=lambda token: token["id"])
    path.write_text(json.dumps(tokenizer))
    return new


def play(folder: Path, model: Path, rounds: int, seed: int) -> dict[str, list[dict[str, Any]]]:
    """The rounds of both nodes. The one that listens continues until the other is done."""
    first = start(folder / "starter", seed, "--listen", "127.0.0.1:0")
    try:
        address = address_of(first)
        tell(f"linked at {address}")
        second = start(folder / "smaller", seed + 1, "--model", str(model), "--peer", address, "--rounds", str(rounds))
        try:
            second.process.wait(PATIENCE)
        finally:
            second.kill()
    finally:
        first.process.terminate()
        first.finish(60)
    return {"starter": first.rounds(), "smaller": second.rounds()}


def start(data: Path, seed: int, *words: str) -> Program:
    quiet = settings("validate_every=0", "curriculum=off", "low_priority=off")
    line = ["run", "--share", "--seed", str(seed), *words, *settings(f"questions={QUESTIONS}", "mix=4/4")]
    return Program([*line, *quiet], data)


def address_of(program: Program) -> str:
    """Where it listens, which it says."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        for event in list(program.events):
            if event["event"] == "notice" and str(event["text"]).startswith("Listening"):
                return str(event["text"]).rpartition("at ")[2]
        time.sleep(0.2)
    raise SystemExit("The first node did not come up.")


def figures(name: str, rounds: list[dict[str, Any]], wanted: int) -> list[Figure]:
    external = [event for event in rounds if event["external_groups"]]
    groups = sum(event["external_groups"] for event in rounds)
    rewards = [event["reward"] for event in rounds]
    window = min(5, len(rewards))
    note = f"reward {statistics.mean(rewards[:window]):.2f} in the first {window} rounds, "
    note += f"{statistics.mean(rewards[-window:]):.2f} in the last"
    least = max(1, wanted // 2)
    return [
        at_least(
            f"rounds that trained on the other's groups, {name}",
            len(external),
            "rounds",
            least,
            f"of {len(rounds)}; {groups} groups",
        ),
        Figure(
            f"answers of the other's that it would hardly write, and left out, {name}",
            sum(event["external_left_out"] for event in rounds) / max(1, groups),
            "a group",
        ),
        Figure(f"steps taken, {name}", sum(event["step"] for event in rounds), "steps", note=note),
    ]


if __name__ == "__main__":
    main()

"""Primes the starter from nothing: question -> worked steps and answer, on the training side of the catalogue.

    python packaging/starter/prime.py --minutes 60 --out .cache/starter [--resume] [--seed 1] [--cores 2]
    python packaging/starter/prime.py --minutes 8 --out .cache/guessing --start FOLDER --guesses 0.5 0.8

One stage, top to bottom: draw a batch, predict the completion, step. Cross-entropy on the completion and its <eos>
only. Muon for the matrices, AdamW for embedding and norms. The learning rate follows the share of the time budget that
is spent, so a slower machine makes fewer steps of the same schedule (and so the weights depend on the machine; data,
their order and the initial weights depend on the seed alone). A checkpoint every five minutes; `--resume` continues
from it after any kind of end. With `--cores N` each of N processes takes every Nth batch and gradients are averaged
before every step: threads within one process wait for each other at every small matrix product.

`--start` continues from a starter's weights at a third of the rates, `--guesses` gives these shares of the examples
without their steps, one family after the other. Such a model guesses where it could calculate, and rounds find out
which pays. Left out: validation during the run (check.py does it), several devices.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import model as starter
import tokenizer
from muon import Muon
from stream import Stream, with_fixed_hashing
from team import Team

BATCH_TOKENS = 2000
MATRIX_RATE, OTHER_RATE = 0.01, 2e-3
RATE_AFTER = 0.3  # of these, when weights are continued
WARM_UP, DECAY_FROM = 0.01, 0.55  # shares of the budget
SAVE_SECONDS = 300.0
LOG_STEPS = 200


@dataclass
class Progress:
    """The progress of the run; everything a resumed run needs besides weights and optimiser states."""

    steps: int = 0
    tokens: int = 0
    seconds: float = 0.0
    chunk: int = 0
    batch: int = 0


@dataclass(frozen=True)
class Recipe:
    """The options; stored in every checkpoint."""

    seed: int
    layers: int
    minutes: float
    cores: int
    start: str = ""
    guesses: tuple[float, ...] = (0.0,)


def rate(share: float) -> float:
    """Learning rate as a part of its peak, at `share` of the budget: warm-up, plateau, straight down to 0."""
    if share < WARM_UP:
        return share / WARM_UP
    return min(1.0, max(0.0, (1 - share) / (1 - DECAY_FROM)))


def tensors(examples: list[tuple[list[int], int]], device: torch.device) -> tuple[Tensor, Tensor]:
    """Right-padded ids and shifted targets, both (batch, length); -100 marks positions without a prediction."""
    length = max(len(ids) for ids, _ in examples)
    ids = torch.zeros(len(examples), length, dtype=torch.long)
    targets = torch.full((len(examples), length), -100)
    for row, (text, prompt) in enumerate(examples):
        ids[row, : len(text)] = torch.tensor(text)
        targets[row, prompt - 1 : len(text) - 1] = ids[row, prompt : len(text)]
    return ids.to(device), targets.to(device)


def save(path: Path, state: dict[str, Any]) -> None:
    """Replace the checkpoint atomically, so that a complete one remains after any interruption."""
    partial = path.with_suffix(".partial")
    torch.save(state, partial)
    with partial.open("rb") as file:
        os.fsync(file.fileno())
    partial.replace(path)


class Run:
    """A model in training, with its optimisers, its place in the stream, and its folder."""

    def __init__(self, out: Path, recipe: Recipe, device: torch.device, resume: bool) -> None:
        out.mkdir(parents=True, exist_ok=True)
        self.path, self.log = out / "checkpoint.pt", out / "training-log.jsonl"
        self.recipe, self.device = recipe, device
        self.words = tokenizer.build()
        self.model = starter.build(
            len(self.words), self.words.pad_token_id, self.words.eos_token_id, recipe.layers, recipe.seed
        ).to(device)
        if recipe.start and not (resume and self.path.exists()):
            self._begin_at(Path(recipe.start))
        named = list(self.model.named_parameters())
        matrices = [p for name, p in named if p.ndim == 2 and "embed" not in name]
        others = [p for name, p in named if p.ndim != 2 or "embed" in name]
        self.optimisers: list[torch.optim.Optimizer] = [
            Muon(matrices, lr=MATRIX_RATE, weight_decay=0.01),
            torch.optim.AdamW(others, lr=OTHER_RATE, betas=(0.9, 0.95), weight_decay=0.0),
        ]
        self.progress = Progress()
        if resume and self.path.exists():
            self._restore()

    def _begin_at(self, starter_folder: Path) -> None:
        weights = load_file(starter_folder / "model.safetensors")
        found = self.model.load_state_dict(weights, strict=False)
        if found.unexpected_keys or not set(found.missing_keys) <= {"lm_head.weight"}:  # the head is the embedding
            raise SystemExit(f"{starter_folder} is no starter of this size: {found}")

    def _restore(self) -> None:
        state = torch.load(self.path, map_location=self.device, weights_only=True)
        self.model.load_state_dict(state["model"])
        for optimiser, saved in zip(self.optimisers, state["optimisers"], strict=True):
            optimiser.load_state_dict(saved)
        self.progress = Progress(**state["progress"])

    def checkpoint(self) -> None:
        state = {
            "model": self.model.state_dict(),
            "optimisers": [optimiser.state_dict() for optimiser in self.optimisers],
            "progress": vars(self.progress),
            "recipe": vars(self.recipe),
        }
        save(self.path, state)

    def note(self, **values: float) -> None:
        """Add a line to the training log."""
        with self.log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(values) + "\n")

    def backward(self, examples: list[tuple[list[int], int]]) -> float:
        """Gradients of the mean loss over the completions of a batch; returns that loss."""
        ids, targets = tensors(examples, self.device)
        with torch.autocast("cuda", torch.bfloat16, enabled=self.device.type == "cuda"):
            loss = starter.loss(self.model, ids, targets)
        loss.backward()
        return loss.item()

    def step(self, share: float) -> None:
        """One update of everything at the rates for this share of the budget."""
        scale = RATE_AFTER if self.recipe.start else 1.0
        for optimiser, peak in zip(self.optimisers, (MATRIX_RATE, OTHER_RATE), strict=True):
            optimiser.param_groups[0]["lr"] = scale * peak * rate(share)
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)


def prime(run: Run, team: Team) -> None:
    """Trains until the budget is spent; see the module's docstring."""
    progress, budget = run.progress, 60 * run.recipe.minutes
    began, before = time.monotonic(), progress.seconds
    saved_at, noted, losses = progress.seconds, (progress.seconds, progress.tokens), []
    stream = Stream(run.words, run.recipe.seed, BATCH_TOKENS, team.rank, team.size, run.recipe.guesses)
    for chunk, batch, examples in stream(progress.chunk, progress.batch):
        loss = run.backward(examples)
        # Rank 0's clock decides for all, so that all take the same step and stop together.
        seconds = before + time.monotonic() - began if team.leads else 0.0
        tokens = sum(len(text) for text, _ in examples)
        loss, tokens, seconds = team.average(list(run.model.parameters()), [loss, tokens, seconds])
        share = seconds / budget
        run.step(min(share, 1.0))
        losses.append(loss / team.size)
        progress.steps += 1
        progress.tokens += int(tokens)
        progress.chunk, progress.batch, progress.seconds = chunk, batch, seconds
        if team.leads and progress.steps % LOG_STEPS == 0:
            run.note(
                steps=progress.steps,
                tokens=progress.tokens,
                loss=round(sum(losses) / len(losses), 4),
                tokens_per_second=round((progress.tokens - noted[1]) / (seconds - noted[0])),
                lr=round(MATRIX_RATE * rate(min(share, 1.0)), 6),
                minutes=round(seconds / 60, 2),
            )
            noted, losses = (seconds, progress.tokens), []
        if team.leads and (seconds - saved_at >= SAVE_SECONDS or share >= 1):
            run.checkpoint()
            saved_at = seconds
        if share >= 1:
            return


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description="Prime the starter model.")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--out", type=Path, default=Path(".cache/starter"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--cores", type=int, default=1, help="processes that train together")
    parser.add_argument("--start", default="", help="a starter's folder to continue from")
    parser.add_argument(
        "--guesses", type=float, nargs="+", default=[0.0], help="shares of examples without steps, families in turn"
    )
    parser.add_argument("--resume", action="store_true")
    chosen = parser.parse_args()
    with_fixed_hashing()
    name = chosen.device if chosen.device != "auto" else "cuda" if torch.cuda.is_available() else "cpu"
    team = Team(chosen.cores)
    if team.size > 1:
        torch.set_num_threads(1)
    recipe = Recipe(chosen.seed, chosen.layers, chosen.minutes, chosen.cores, chosen.start, tuple(chosen.guesses))
    if team.leads and not chosen.resume:
        (chosen.out / "training-log.jsonl").unlink(missing_ok=True)
    prime(Run(chosen.out, recipe, torch.device(name), chosen.resume), team)
    team.disband()


if __name__ == "__main__":
    main()

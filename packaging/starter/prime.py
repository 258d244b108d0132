"""Primes the starter from nothing: question -> worked steps and answer, on the training side of the catalogue.

    python packaging/starter/prime.py --minutes 60 --out .cache/starter [--resume] [--seed 1] [--device auto]

One stage, top to bottom: draw a batch, predict the completion, step. Cross-entropy on the completion and its <eos>
only. Muon for the matrices, AdamW for embedding and norms. The learning rate follows the share of the time budget that
is spent, so a slower machine makes fewer steps of the same schedule (and so the weights depend on the machine; data,
their order and the initial weights depend on the seed alone). A checkpoint every five minutes; `--resume` goes on from
it after any kind of end. Left out: validation during the run (check.py does it), several devices, mixed chunks.
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
from torch import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import model as starter
import tokenizer
from muon import Muon
from stream import Stream

BATCH_TOKENS = 2000
MATRIX_RATE, OTHER_RATE = 0.02, 3e-3
WARM_UP, DECAY_FROM = 0.01, 0.55  # shares of the budget
SAVE_SECONDS = 300.0
LOG_STEPS = 200


@dataclass
class Progress:
    """Where the run is; everything a resumed run needs beside weights and optimiser states."""

    steps: int = 0
    tokens: int = 0
    seconds: float = 0.0
    chunk: int = 0
    batch: int = 0


def rate(share: float) -> float:
    """Learning rate as a part of its peak, at `share` of the budget: warm-up, plateau, straight down to 0."""
    if share < WARM_UP:
        return share / WARM_UP
    return min(1.0, max(0.0, (1 - share) / (1 - DECAY_FROM)))


def tensors(examples: list[tuple[list[int], int]], device: torch.device) -> tuple[Tensor, Tensor]:
    """Right-padded ids and shifted targets, both (batch, length); -100 where nothing is to be predicted."""
    length = max(len(ids) for ids, _ in examples)
    ids = torch.zeros(len(examples), length, dtype=torch.long)
    targets = torch.full((len(examples), length), -100)
    for row, (text, prompt) in enumerate(examples):
        ids[row, : len(text)] = torch.tensor(text)
        targets[row, prompt - 1 : len(text) - 1] = ids[row, prompt : len(text)]
    return ids.to(device), targets.to(device)


def save(path: Path, state: dict[str, Any]) -> None:
    """Replaces the checkpoint in one move, so that an end at any instant leaves a whole one."""
    partial = path.with_suffix(".partial")
    torch.save(state, partial)
    with partial.open("rb") as file:
        os.fsync(file.fileno())
    partial.replace(path)


def prime(out: Path, minutes: float, seed: int, device: torch.device, layers: int, resume: bool) -> None:
    """Trains until the budget is spent; see the module's text."""
    out.mkdir(parents=True, exist_ok=True)
    path, log = out / "checkpoint.pt", out / "training-log.jsonl"
    words = tokenizer.build()
    model = starter.build(len(words), words.pad_token_id, words.eos_token_id, layers, seed).to(device)
    matrices = [p for name, p in model.named_parameters() if p.ndim == 2 and "embed" not in name]
    others = [p for name, p in model.named_parameters() if p.ndim != 2 or "embed" in name]
    optimisers: list[torch.optim.Optimizer] = [
        Muon(matrices, lr=MATRIX_RATE, weight_decay=0.01),
        torch.optim.AdamW(others, lr=OTHER_RATE, betas=(0.9, 0.95), weight_decay=0.0),
    ]
    peaks = [MATRIX_RATE, OTHER_RATE]
    progress = Progress()
    if resume and path.exists():
        state = torch.load(path, map_location=device, weights_only=True)
        model.load_state_dict(state["model"])
        for optimiser, saved in zip(optimisers, state["optimisers"], strict=True):
            optimiser.load_state_dict(saved)
        progress = Progress(**state["progress"])
    else:
        log.unlink(missing_ok=True)

    def checkpoint() -> None:
        state = {
            "model": model.state_dict(),
            "optimisers": [optimiser.state_dict() for optimiser in optimisers],
            "progress": vars(progress),
            "recipe": {"seed": seed, "layers": layers, "minutes": minutes},
        }
        save(path, state)

    began, before = time.monotonic(), progress.seconds
    saved_at, noted, losses = progress.seconds, (progress.seconds, progress.tokens), []
    stream = Stream(words, seed, BATCH_TOKENS)
    for chunk, batch, examples in stream(progress.chunk, progress.batch):
        share = progress.seconds / (60 * minutes)
        if share >= 1:
            break
        for optimiser, peak in zip(optimisers, peaks, strict=True):
            optimiser.param_groups[0]["lr"] = peak * rate(share)
        ids, targets = tensors(examples, device)
        with torch.autocast("cuda", torch.bfloat16, enabled=device.type == "cuda"):
            loss = starter.loss(model, ids, targets)
        loss.backward()
        for optimiser in optimisers:
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        losses.append(loss.item())
        progress.steps += 1
        progress.tokens += sum(len(text) for text, _ in examples)
        progress.chunk, progress.batch = chunk, batch + 1
        progress.seconds = before + time.monotonic() - began
        if progress.steps % LOG_STEPS == 0:
            speed = (progress.tokens - noted[1]) / (progress.seconds - noted[0])
            line = {
                "steps": progress.steps,
                "tokens": progress.tokens,
                "loss": round(sum(losses) / len(losses), 4),
                "tokens_per_second": round(speed),
                "lr": round(MATRIX_RATE * rate(share), 6),
                "minutes": round(progress.seconds / 60, 2),
            }
            with log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            noted, losses = (progress.seconds, progress.tokens), []
        if progress.seconds - saved_at >= SAVE_SECONDS:
            checkpoint()
            saved_at = progress.seconds
    checkpoint()


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description="Prime the starter model.")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--out", type=Path, default=Path(".cache/starter"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--resume", action="store_true")
    chosen = parser.parse_args()
    name = chosen.device if chosen.device != "auto" else "cuda" if torch.cuda.is_available() else "cpu"
    prime(chosen.out, chosen.minutes, chosen.seed, torch.device(name), chosen.layers, chosen.resume)


if __name__ == "__main__":
    main()

"""Training sequences cut into padded micro-batches: tensors the trainer's forward pass can take as they are.

Prompt and answer stand together, padding at the right only. Under a causal mask nothing looks to the right,
so no attention mask is needed and the padding never reaches a number that counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from sapo_desktop.core.records import TrainingSequence

LENGTH_STEP = 8
"""Lengths are rounded up to this, so that allocators meet few different shapes."""

ALIKE = 0.7
"""No sequence of a micro-batch is shorter than this share of its longest: padding costs as much as text."""


@dataclass(frozen=True)
class MicroBatch:
    """Sequences of similar length; N is the number of answer tokens in all of them."""

    sequences: list[int]
    """Places in the whole batch."""
    ids: Tensor
    """[S, T] int64, prompt, answer, zeros."""
    predicts: Tensor
    """[N] int64, places in the flattened [S * T] whose hidden state predicts an answer token."""
    targets: Tensor
    """[N] int64, those answer tokens."""
    lengths: list[int]
    """Answer tokens per sequence; they add up to N."""
    advantages: Tensor
    """[N] float32."""
    shaped: Tensor | None = None
    """[N] bool, None where no sequence is."""


def micro_batches(
    batch: Sequence[TrainingSequence], order: Sequence[int], size: int, device: torch.device, tokens: int = 0
) -> list[MicroBatch]:
    """Cut the sequences named by `order` into micro-batches of at most `size`, alike in length, longest first.

    Longest first: if memory runs out, it does so before any work is lost. Several sequences have at most `tokens`
    together, padding included (0: any number).
    """
    cut: list[list[int]] = []
    for place in sorted(order, key=lambda i: (-_length(batch[i]), i)):
        longest = _length(batch[cut[-1][0]]) if cut else 0
        most = min(size, tokens // _width(longest)) if cut and tokens else size
        if cut and len(cut[-1]) < most and _length(batch[place]) >= ALIKE * longest:
            cut[-1].append(place)
        else:
            cut.append([place])
    return [_micro_batch(batch, places, device) for places in cut]


def _length(sequence: TrainingSequence) -> int:
    return len(sequence.prompt) + len(sequence.tokens)


def _width(longest: int) -> int:
    return -(-longest // LENGTH_STEP) * LENGTH_STEP


def _micro_batch(batch: Sequence[TrainingSequence], places: list[int], device: torch.device) -> MicroBatch:
    chosen = [batch[i] for i in places]
    width = _width(max(map(_length, chosen)))
    ids = torch.zeros(len(chosen), width, dtype=torch.int64)
    predicts, targets, advantages = [], [], []
    for row, s in enumerate(chosen):
        end = _length(s)
        ids[row, :end] = torch.tensor(s.prompt + s.tokens)
        # Position p predicts token p + 1; the first answer token is predicted by the last prompt token.
        predicts.append(torch.arange(row * width + len(s.prompt) - 1, row * width + end - 1))
        targets.append(ids[row, len(s.prompt) : end])
        advantages.append(torch.full((len(s.tokens),), s.advantage, dtype=torch.float32))
    return MicroBatch(
        sequences=places,
        ids=ids.to(device),
        predicts=torch.cat(predicts).to(device),
        targets=torch.cat(targets).to(device),
        lengths=[len(s.tokens) for s in chosen],
        advantages=torch.cat(advantages).to(device),
        shaped=_shaped(chosen).to(device) if any(s.shaped for s in chosen) else None,
    )


def _shaped(chosen: Sequence[TrainingSequence]) -> Tensor:
    return torch.cat([torch.full((len(s.tokens),), s.shaped, dtype=torch.bool) for s in chosen])

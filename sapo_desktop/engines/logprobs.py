"""Log-probabilities of given tokens without ever holding all logits.

Logits dominate the memory of small models: 512 tokens x 151,936 words x 4 bytes are 297 MiB a copy. Here a
chunk of rows is multiplied by the output matrix, reduced to one number a row and dropped, in the forward
pass; the backward pass makes the chunk again. Left out: an output bias and capped logits (refused at
loading).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

CHUNK_BYTES = 32 * 1024 * 1024
"""Size of one copy of a chunk of float32 logits; two to three copies live at once."""


def chunk_rows(vocabulary: int) -> int:
    """Return how many rows of logits are made at a time."""
    return max(1, CHUNK_BYTES // (4 * vocabulary))


class _TokenLogprobs(torch.autograd.Function):
    """log softmax(h W^T / T)[target], row by row; d/dlogits = (onehot(target) - softmax) / T."""

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, weight: Tensor, targets: Tensor, temperature: float, rows: int
    ) -> Tensor:
        ctx.save_for_backward(hidden, weight, targets)
        ctx.temperature, ctx.rows = temperature, rows
        parts = []
        for h, t in zip(torch.split(hidden, rows), torch.split(targets, rows), strict=True):
            logits = (h @ weight.T).float() / temperature
            parts.append(logits.gather(1, t[:, None]).squeeze(1) - logits.logsumexp(1))
        return torch.cat(parts) if parts else hidden.new_zeros(0, dtype=torch.float32)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor | None, None, None, None]:
        hidden, weight, targets = ctx.saved_tensors
        rows = ctx.rows
        to_hidden = torch.empty_like(hidden)
        # Summed in float32: in bfloat16 hundreds of small chunks would be lost in a big sum.
        to_weight = (
            torch.zeros(weight.shape, dtype=torch.float32, device=weight.device)
            if ctx.needs_input_grad[1]
            else None
        )
        chunks = zip(
            torch.split(hidden, rows), torch.split(targets, rows), torch.split(grads[0], rows), strict=True
        )
        for number, (h, t, g) in enumerate(chunks):
            logits = (h @ weight.T).float().div_(ctx.temperature)
            slope = torch.softmax(logits, 1).neg_()
            slope[torch.arange(len(t), device=t.device), t] += 1
            slope.mul_((g / ctx.temperature)[:, None])
            low = slope.to(weight.dtype)
            to_hidden[number * rows : number * rows + len(t)] = low @ weight
            if to_weight is not None:
                to_weight += (low.T @ h).float()
        return to_hidden, None if to_weight is None else to_weight.to(weight.dtype), None, None, None


def token_logprobs(
    hidden: Tensor, weight: Tensor, targets: Tensor, temperature: float = 1.0, rows: int | None = None
) -> Tensor:
    """Return log p(target) of each row at logits / temperature, float32.

    hidden [N, d], weight [V, d], targets [N] int64 -> [N]. `rows` rows of logits exist at a time.
    """
    result: Tensor = _TokenLogprobs.apply(  # type: ignore[no-untyped-call]
        hidden, weight, targets, temperature, rows or chunk_rows(weight.shape[0])
    )
    return result

"""Log-probabilities of given tokens without ever storing all logits.

Logits dominate the memory of small models: 512 tokens x 151,936 words x 4 bytes are 297 MiB per copy. Here the forward
pass multiplies a chunk of rows by the output matrix, reduces it to one number per row and drops it; the backward pass
recomputes the chunk. Left out: an output bias and capped logits (refused at loading).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

CHUNK_BYTES = 32 * 1024 * 1024
"""Size of one copy of a chunk of float32 logits; one copy exists at a time, two in half precision."""


def chunk_rows(vocabulary: int) -> int:
    """Return how many rows of logits are computed at a time."""
    return max(1, CHUNK_BYTES // (4 * vocabulary))


class _TokenLogprobs(torch.autograd.Function):
    """log softmax(h W^T / T)[target], row by row; d/dlogits = (onehot(target) - softmax) / T."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, targets: Tensor, temperature: float, rows: int) -> Tensor:
        chunk = _chunk_buffer(hidden, weight, rows)
        result, norms = (chunk.new_empty(len(hidden)) for _ in range(2))
        for at in range(0, len(hidden), rows):
            cut = slice(at, at + rows)
            logits = _logits(hidden[cut], weight, temperature, chunk)
            chosen, highest = logits.gather(1, targets[cut, None]), logits.amax(1, keepdim=True)
            # logsumexp, without its second copy of the chunk
            norms[cut] = logits.sub_(highest).exp_().sum(1).log_().add_(highest.squeeze(1))
            result[cut] = chosen.squeeze(1) - norms[cut]
        ctx.save_for_backward(hidden, weight, targets, norms)
        ctx.temperature, ctx.rows = temperature, rows
        return result

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor | None, None, None, None]:
        hidden, weight, targets, norms = ctx.saved_tensors
        rows = ctx.rows
        to_hidden = torch.empty_like(hidden)
        # Summed in float32: in bfloat16 hundreds of small chunks would be lost in a large sum.
        to_weight = torch.zeros_like(weight, dtype=norms.dtype) if ctx.needs_input_grad[1] else None
        chunk = _chunk_buffer(hidden, weight, rows)
        for at in range(0, len(hidden), rows):
            cut = slice(at, at + rows)
            h, t, g = hidden[cut], targets[cut], grads[0][cut]
            # From logits to (onehot - softmax) g / T, all in the one chunk.
            slope = _logits(h, weight, ctx.temperature, chunk).sub_(norms[cut, None]).exp_().neg_()
            slope[torch.arange(len(t), device=t.device), t] += 1
            low = slope.mul_((g / ctx.temperature)[:, None]).to(weight.dtype)
            to_hidden[cut] = low @ weight
            if to_weight is not None:
                to_weight += low.T @ h
        return to_hidden, None if to_weight is None else to_weight.to(weight.dtype), None, None, None


def _chunk_buffer(hidden: Tensor, weight: Tensor, rows: int) -> Tensor:
    """One buffer for all chunks: allocating such sizes repeatedly makes the heap grow."""
    wide = torch.promote_types(weight.dtype, torch.float32)
    return torch.empty(min(rows, len(hidden)), weight.shape[0], dtype=wide, device=weight.device)


def _logits(hidden: Tensor, weight: Tensor, temperature: float, chunk: Tensor) -> Tensor:
    """Write h W^T / T into the buffer and return the rows written."""
    out = chunk[: len(hidden)]
    if out.dtype == weight.dtype:
        torch.mm(hidden, weight.T, out=out)
    else:
        out.copy_(hidden @ weight.T)
    return out.div_(temperature)


def token_logprobs(
    hidden: Tensor, weight: Tensor, targets: Tensor, temperature: float = 1.0, rows: int | None = None
) -> Tensor:
    """Return log p(target) of each row at logits / temperature, float32 or wider.

    hidden [N, d], weight [V, d], targets [N] int64 -> [N]. `rows` rows of logits exist at a time.
    """
    result: Tensor = _TokenLogprobs.apply(  # type: ignore[no-untyped-call]
        hidden, weight, targets, temperature, rows or chunk_rows(weight.shape[0])
    )
    return result

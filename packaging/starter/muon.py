"""Muon for the matrices, in fp32 and many matrices at a time; AdamW (torch's) for everything else.

torch.optim.Muon does its Newton-Schulz steps in bf16, matrix by matrix: on a CPU without bf16 arithmetic that costs
more than the training step. The update is Jordan et al.'s (2024): momentum, orthogonalised, scaled by
sqrt(rows / columns).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)  # coefficients of the quintic iteration, from the Muon paper's code


def orthogonalised(matrices: Tensor, steps: int = 5) -> Tensor:
    """Nearest (roughly) semi-orthogonal matrices of a stack (count, rows, columns)."""
    a, b, c = NEWTON_SCHULZ
    wide = matrices.shape[-2] <= matrices.shape[-1]
    x = matrices if wide else matrices.transpose(-1, -2)
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(steps):
        gram = x @ x.transpose(-1, -2)
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x if wide else x.transpose(-1, -2)


class Muon(torch.optim.Optimizer):
    """Muon on a list of equally treated 2-D weights; matrices of one shape are orthogonalised as one stack."""

    def __init__(
        self, parameters: Iterable[Tensor], lr: float, momentum: float = 0.95, weight_decay: float = 0.0
    ) -> None:
        super().__init__(parameters, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """One update of every matrix; `closure` is not used."""
        for group in self.param_groups:
            shapes: dict[torch.Size, list[Any]] = defaultdict(list)
            for weight in group["params"]:
                shapes[weight.shape].append(weight)
            for (rows, columns), weights in ((tuple(shape), w) for shape, w in shapes.items()):
                updates = orthogonalised(torch.stack([self._momentum(w, group["momentum"]) for w in weights]))
                scale = group["lr"] * max(1.0, rows / columns) ** 0.5
                for weight, update in zip(weights, updates, strict=True):
                    weight.mul_(1 - group["lr"] * group["weight_decay"]).add_(update, alpha=-scale)

    def _momentum(self, weight: Tensor, momentum: float) -> Tensor:
        """Nesterov's look-ahead of the running mean of gradients."""
        state = self.state[weight]
        if "mean" not in state:
            state["mean"] = torch.zeros_like(weight)
        assert weight.grad is not None
        state["mean"].lerp_(weight.grad, 1 - momentum)
        return weight.grad.lerp(state["mean"], momentum)

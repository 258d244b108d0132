"""Adam as in the paper, without weight decay; bit for bit the same numbers as torch's on a processor.

torch's own optimisers import its compiler at the first step (including sympy): 80 MB of memory and seconds of startup
for twenty lines of arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

BETAS = (0.9, 0.999)
EPSILON = 1e-8


class Adam:
    """Updates parameters by their gradients; parameters without a gradient stay."""

    def __init__(self, parameters: Sequence[Tensor], learning_rate: float) -> None:
        self.learning_rate = learning_rate
        self.state: dict[Tensor, dict[str, Tensor]] = {}
        """`step` (float32 scalar), `exp_avg` and `exp_avg_sq` (the parameter's shape), after the first step."""
        self._parameters = list(parameters)

    def zero_grad(self) -> None:
        """Drop the gradients."""
        for parameter in self._parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Take one step along the existing gradients."""
        for parameter in self._parameters:
            if parameter.grad is not None:
                self._move(parameter, parameter.grad)

    def _move(self, parameter: Tensor, gradient: Tensor) -> None:
        if parameter not in self.state:
            self.state[parameter] = {
                "step": torch.tensor(0.0),
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
            }
        state = self.state[parameter]
        first, second = BETAS
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        state["step"] += 1
        step = float(state["step"])
        mean.lerp_(gradient, 1 - first)
        square.mul_(second).addcmul_(gradient, gradient, value=1 - second)
        # Both averages start at 0; this division corrects the bias from the first step on.
        size = self.learning_rate / (1 - first**step)
        spread = (square.sqrt() / (1 - second**step) ** 0.5).add_(EPSILON)
        parameter.addcdiv_(mean, spread, value=-size)

"""Matrices of a base in 8 bits: half of what bfloat16 takes, for a card that has no room for more.

Each row is whole numbers from -127 to 127 times a scale of its own (absmax rounding, as in Dettmers et al., LLM.int8(),
arXiv 2208.07339, without its outliers kept apart). A product makes its matrix anew, in the model's format, and lets go
of it. A step taken so equals bfloat16's within the bounds of tests/engines/torch/test_number_formats.py; of 4 bits that
is not so (docs/speed.md). Left out: embeddings, output matrix and norms, which stay as they are; torchao's tensors,
which know no product but a linear layer's, where the written-out passes need the matrix itself.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

MOST = 127


class RoundedLinear(nn.Linear):
    """A linear layer whose weight [out, in] is int8, beside a scale [out, 1] in the model's format.

    torch's own class for peft's sake, which adapts no other; the passes of `llama/passes.py` compute it, nothing here.
    """

    scale: Tensor

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__(layer.in_features, layer.out_features, bias=False, device="meta")
        exact = layer.weight.detach().float()
        scale = (exact.abs().amax(1, keepdim=True) / MOST).to(layer.weight.dtype)
        scale[scale == 0] = 1  # of a row of zeros
        numbers = (exact / scale.float()).round().clamp(-MOST, MOST)
        self.weight = nn.Parameter(numbers.to(torch.int8), requires_grad=False)
        self.register_buffer("scale", scale, persistent=False)
        self.bias = layer.bias


def whole(weight: Tensor, scale: Tensor | None) -> Tensor:
    """The matrix [out, in] to compute with."""
    return weight if scale is None else weight * scale


def round_matrices(model: Any, where: torch.device) -> None:
    """Round the linear layers of all blocks, each on its way to the device: of what is no longer a page of the model's
    file the computer's memory holds one matrix at a time."""
    for block in model.model.layers:
        for part in (block.self_attn, block.mlp):
            for name, layer in list(part.named_children()):
                if isinstance(layer, nn.Linear):
                    setattr(part, name, RoundedLinear(layer).to(where))

"""Matrices of a base in 8 bits: half the size of bfloat16, for a card without room for more.

Each row consists of whole numbers from -127 to 127 and its own scale (absmax rounding, as in Dettmers et al.,
LLM.int8(), arXiv 2208.07339, without separate outliers). A product restores its matrix in the model's format and drops
it afterwards. Such a step equals bfloat16's within the bounds of tests/engines/torch/test_number_formats.py; 4 bits
would not (docs/speed.md). Left out: embeddings, output matrix and norms, which stay as they are; torchao's tensors,
which only support a linear layer's product, while the explicit passes need the matrix itself.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

MOST = 127


class RoundedLinear(nn.Linear):
    """A linear layer whose weight [out, in] is int8, with a scale [out, 1] in the model's format.

    A subclass of torch's own class, because peft adapts no other; the passes of `llama/passes.py` compute it.
    """

    scale: Tensor

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__(layer.in_features, layer.out_features, bias=False, device="meta")
        exact = layer.weight.detach().float()
        scale = (exact.abs().amax(1, keepdim=True) / MOST).to(layer.weight.dtype)
        scale[scale == 0] = 1  # for a row of zeros
        numbers = (exact / scale.float()).round().clamp(-MOST, MOST)
        self.weight = nn.Parameter(numbers.to(torch.int8), requires_grad=False)
        self.register_buffer("scale", scale, persistent=False)
        self.bias = layer.bias


def whole(weight: Tensor, scale: Tensor | None) -> Tensor:
    """The matrix [out, in] to compute with."""
    return weight if scale is None else weight * scale


def round_matrices(model: Any, where: torch.device) -> None:
    """Round the linear layers of all blocks, each on its way to the device. Apart from pages of the model's file,
    memory holds one matrix at a time."""
    for block in model.model.layers:
        for part in (block.self_attn, block.mlp):
            for name, layer in list(part.named_children()):
                if isinstance(layer, nn.Linear):
                    setattr(part, name, RoundedLinear(layer).to(where))

"""Llama and Qwen2 written out: fused matrices, the adapter merged in, some fifteen tensor operations a layer.

On a model of a few million parameters most of a pass through transformers' modules (and peft's beside them)
is Python and small operations. Decoding (`decoder_llama.py`) and training share what is here. Weights are
packed into new tensors, so only small models come this way; tests hold logits and gradients equal to
transformers' and peft's. Left out: sliding windows, rotary scalings that depend on the length, dropout, any
other architecture.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from sapo_desktop.engines.torch.bare_llama import BareLlama

STATIC_ROPE = {"default", "linear", "llama3", "yarn"}

SMALL = 64_000_000
"""Parameters up to which weights are copied and packed; above it Python's share of the work is small."""


class _Adapted(torch.autograd.Function):
    """x W^T [N, out] for W = W0 + B A: x [N, in], A [r, in], B [out, r]; W0 is fixed.

    Gradients reach A and B without the gradient of W [out, in], a third of the work, ever being made.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, A: Tensor, B: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight, A, B)
        return x @ weight.T

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, Tensor, Tensor]:
        x, weight, A, B = ctx.saved_tensors
        g = grads[0]
        return g @ weight, None, (g @ B).T @ x, g.T @ (x @ A.T)


@dataclass(frozen=True)
class _Affine:
    weight: Tensor
    bias: Tensor | None
    lora: tuple[Tensor, Tensor] | None = None
    """A and B, scaled, where gradients are to reach them; `weight` has them in it already."""

    def __call__(self, x: Tensor) -> Tensor:
        if self.lora is None:
            return F.linear(x, self.weight, self.bias)
        flat: Tensor = _Adapted.apply(  # type: ignore[no-untyped-call]
            x.reshape(-1, x.shape[-1]), self.weight, *self.lora
        )
        return (flat if self.bias is None else flat + self.bias).view(*x.shape[:-1], -1)

    def added_to(self, residual: Tensor, x: Tensor) -> Tensor:
        """Return residual + x W^T + b; all [..., features], the product and the sum in one operation."""
        if self.lora is not None:
            return residual + self(x)
        flat = torch.addmm(residual.view(-1, residual.shape[-1]), x.reshape(-1, x.shape[-1]), self.weight.T)
        if self.bias is not None:
            flat = flat + self.bias
        return flat.view(residual.shape)


@dataclass(frozen=True)
class _Layer:
    norm: Tensor
    qkv: _Affine
    out: _Affine
    mlp_norm: Tensor
    gate_up: _Affine
    down: _Affine


@dataclass(frozen=True)
class _Shape:
    heads: int
    kv_heads: int
    head: int
    eps: float


def can_be_written_out(model: Any) -> bool:
    """Say whether a model is of the architecture written out here, and small enough to be copied for it."""
    if isinstance(model, BareLlama):
        return True
    config = model.config
    rope = (config.rope_parameters or {}).get("rope_type", "default")
    kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
    return (
        config.model_type in {"llama", "qwen2"}
        and config.hidden_act == "silu"
        and rope in STATIC_ROPE
        and kinds == {"full_attention"}
        and sum(p.numel() for p in model.parameters()) <= SMALL
    )


class WrittenOutModel:
    """Packed weights of a transformers model, with its peft adapter added where `merged`.

    Built under autograd they are functions of the model's parameters and gradients flow to those; built
    without, they are copies, stale as soon as the model changes.
    """

    def __init__(self, model: Any, merged: bool) -> None:
        config, body = model.config, model.model
        head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        self.shape = _Shape(config.num_attention_heads, config.num_key_value_heads, head, config.rms_norm_eps)
        self.embedding = _own(body.embed_tokens.weight)
        self.norm = _own(body.norm.weight)
        self.output = _own(model.get_output_embeddings().weight)
        self.layers = [_pack(layer, merged) for layer in body.layers]
        self._rotary = body.rotary_emb
        self._padding = body.embed_tokens.padding_idx

    def rotations(self, length: int) -> tuple[Tensor, Tensor]:
        """Return cos and sin [length, head], sin with the sign of rotate_half's halves folded in."""
        positions = torch.arange(length, device=self.embedding.device)[None]
        cos, sin = self._rotary(self.embedding[:1], positions)
        half = self.shape.head // 2
        sign = torch.ones(self.shape.head, dtype=sin.dtype, device=sin.device)
        sign[:half] = -1
        return cos[0], sin[0] * sign

    def run(self, x: Tensor, attend: Callable[[int, Tensor], Tensor]) -> Tensor:
        """Return hidden states before the last norm; x [..., d], attend(layer, qkv [..., q + 2 kv]) -> [...,
        q]."""
        for number, layer in enumerate(self.layers):
            mixed = attend(number, layer.qkv(_rms(x, layer.norm, self.shape.eps)))
            x = layer.out.added_to(x, mixed)
            gate, up = layer.gate_up(_rms(x, layer.mlp_norm, self.shape.eps)).chunk(2, -1)
            x = layer.down.added_to(x, F.silu(gate) * up)
        return x

    def normed(self, x: Tensor) -> Tensor:
        """Return what the output matrix is multiplied with; x as `run` returns it."""
        return _rms(x, self.norm, self.shape.eps)

    def logits(self, x: Tensor) -> Tensor:
        return F.linear(self.normed(x), self.output)

    def hidden_states(self, ids: Tensor, places: Tensor) -> Tensor:
        """Return normed hidden states [N, d] of a batch ids [S, T] at `places` [N] of the flattened [S * T].

        Nothing is masked but the future: sequences start at position 0 and may be padded at the right.
        """
        size = self.shape
        count, length = ids.shape
        cos, sin = (r[:, None] for r in self.rotations(length))
        future = torch.full((length, length), float("-inf"), dtype=self.embedding.dtype, device=ids.device).triu(1)
        rotated = size.heads + size.kv_heads
        copies = size.heads // size.kv_heads

        def attend(layer: int, qkv: Tensor) -> Tensor:
            del layer
            heads = qkv.view(count, length, -1, size.head)
            qk = heads[:, :, :rotated]
            qk = torch.addcmul(qk * cos, qk.roll(size.head // 2, -1), sin).transpose(1, 2)
            query, key = qk[:, : size.heads], qk[:, size.heads :]
            value = heads[:, :, rotated:].transpose(1, 2)
            if copies > 1:
                key, value = key.repeat_interleave(copies, 1), value.repeat_interleave(copies, 1)
            query, key, value = (t.reshape(-1, length, size.head) for t in (query, key, value))
            scores = torch.baddbmm(future, query, key.transpose(1, 2), alpha=size.head**-0.5)
            mixed = torch.bmm(scores.softmax(-1), value).view(count, size.heads, length, size.head)
            return mixed.transpose(1, 2).reshape(count, length, -1)

        # As in transformers, the padding token is an input like any other but its row gets no gradient from here.
        hidden = self.run(F.embedding(ids, self.embedding, padding_idx=self._padding), attend)
        return self.normed(hidden.view(-1, hidden.shape[-1])[places])


def _rms(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    wide = x.float() if x.dtype.itemsize < 4 else x
    # One reduction over x instead of a square and a mean; what follows has one number a row.
    square = torch.linalg.vector_norm(wide, dim=-1, keepdim=True).square()
    return weight * (wide * torch.rsqrt(square / x.shape[-1] + eps)).to(x.dtype)


def _own(parameter: Tensor) -> Tensor:
    return parameter if torch.is_grad_enabled() else parameter.detach().clone()


def _pack(layer: Any, merged: bool) -> _Layer:
    attention, mlp = layer.self_attn, layer.mlp
    return _Layer(
        norm=_own(layer.input_layernorm.weight),
        qkv=_fuse([attention.q_proj, attention.k_proj, attention.v_proj], merged),
        out=_fuse([attention.o_proj], merged),
        mlp_norm=_own(layer.post_attention_layernorm.weight),
        gate_up=_fuse([mlp.gate_proj, mlp.up_proj], merged),
        down=_fuse([mlp.down_proj], merged),
    )


def _fuse(modules: list[Any], merged: bool) -> _Affine:
    """Stack linear layers that read the same input; peft wraps one and keeps it as `base_layer`."""
    weight = torch.cat([getattr(module, "base_layer", module).weight for module in modules])
    bias = None if modules[0].bias is None else torch.cat([module.bias for module in modules])
    if not merged or not hasattr(modules[0], "lora_A"):
        return _Affine(weight, bias)
    # The stack's adapter: B is block-diagonal, each layer with its own part of A.
    A = torch.cat([m.lora_A["default"].weight for m in modules]).to(weight.dtype)
    parts = [m.lora_B["default"].weight * m.scaling["default"] for m in modules]
    B = torch.block_diag(*parts).to(weight.dtype)  # type: ignore[no-untyped-call]
    adapted = (weight + B @ A).detach()
    return _Affine(adapted, bias, (A, B) if torch.is_grad_enabled() else None)

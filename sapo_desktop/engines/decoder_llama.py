"""Llama and Qwen2 decoding written out: fused matrices, the adapter merged in, a static cache.

On a model of a few million parameters most of a step through transformers' modules is Python. Here a layer is
some fifteen tensor operations. Weights are copied (that is how the adapter is merged and the matrices are
fused), so only small models come this way; tests hold the logits equal to transformers' to 1e-4. Left out:
sliding windows, rotary scalings that depend on the length, any other architecture.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from sapo_desktop.engines.decoder import PromptBatch, Start, Started

STATIC_ROPE = {"default", "linear", "llama3", "yarn"}


@dataclass(frozen=True)
class _Affine:
    weight: Tensor
    bias: Tensor | None

    def __call__(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)

    def added_to(self, residual: Tensor, x: Tensor) -> Tensor:
        """Return residual + x W^T + b; all [..., features], the product and the sum in one operation."""
        flat = torch.addmm(residual.view(-1, residual.shape[-1]), x.view(-1, x.shape[-1]), self.weight.T)
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


def can_be_written_out(config: Any) -> bool:
    """Say whether this architecture is the one written out here."""
    rope = (config.rope_parameters or {}).get("rope_type", "default")
    kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
    return (
        config.model_type in {"llama", "qwen2"}
        and config.hidden_act == "silu"
        and rope in STATIC_ROPE
        and kinds == {"full_attention"}
    )


class WrittenOutModel:
    """Weights packed for decoding; stale as soon as the model they were copied from changes."""

    def __init__(self, model: Any, merged: bool) -> None:
        """Copy a transformers model's weights, with its peft adapter added where `merged`."""
        config, body = model.config, model.model
        head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        self.shape = _Shape(config.num_attention_heads, config.num_key_value_heads, head, config.rms_norm_eps)
        self.embedding = body.embed_tokens.weight.detach().clone()
        self.norm = body.norm.weight.detach().clone()
        self.output = model.get_output_embeddings().weight.detach().clone()
        self.layers = [_pack(layer, merged) for layer in body.layers]
        self._rotary = body.rotary_emb

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

    def logits(self, x: Tensor) -> Tensor:
        return F.linear(_rms(x, self.norm, self.shape.eps), self.output)


class WrittenOutDecoding:
    """Sequences under way; keys and values live in static buffers [B * kv_heads, length, head] per layer."""

    def __init__(self, model: WrittenOutModel, batch: PromptBatch, room: int) -> None:
        self._model = model
        self._shape = model.shape
        self._length = batch.ids.shape[1]
        self._limit = self._length + room
        self._cos, self._sin = model.rotations(self._limit)
        blocks = [_Prefill(model, part, self._cos, self._sin) for part in batch.blocks()]
        self.first_logits = torch.cat([block.logits for block in blocks])[batch.rows]
        self._keys = [self._spread([b.keys[i] for b in blocks], batch.rows) for i in range(len(model.layers))]
        self._values = [self._spread([b.values[i] for b in blocks], batch.rows) for i in range(len(model.layers))]
        self._pads = batch.pads[batch.rows]
        self._mask = self._pad_mask()

    def step(self, tokens: Tensor) -> Tensor:
        model, size = self._model, self._shape
        at = self._length - self._pads
        cos, sin = self._cos[at][:, None], self._sin[at][:, None]
        count, rotated = len(tokens), (size.heads + size.kv_heads) * size.head
        self._length += 1
        now, scale = self._length, size.head**-0.5
        mask = None if self._mask is None else self._mask[:, :, :now]

        def attend(layer: int, qkv: Tensor) -> Tensor:
            qk = qkv[:, :rotated].view(count, -1, size.head)
            qk = torch.addcmul(qk * cos, qk.roll(size.head // 2, -1), sin)
            keys, values = self._keys[layer], self._values[layer]
            keys.view(count, size.kv_heads, -1, size.head)[:, :, now - 1] = qk[:, size.heads :]
            values.view(count, size.kv_heads, -1, size.head)[:, :, now - 1] = qkv[:, rotated:].view(
                count, size.kv_heads, size.head
            )
            query = qk[:, : size.heads].reshape(count * size.kv_heads, -1, size.head)
            past = keys[:, :now].transpose(1, 2)
            if mask is None:
                scores = torch.bmm(query, past).mul_(scale)
            else:
                scores = torch.baddbmm(mask, query, past, alpha=scale)
            return torch.bmm(scores.softmax(-1), values[:, :now]).view(count, -1)

        return model.logits(model.run(model.embedding[tokens], attend))

    def keep(self, rows: Tensor) -> None:
        self._keys = [self._spread([k], rows, self._length) for k in self._keys]
        self._values = [self._spread([v], rows, self._length) for v in self._values]
        self._pads = self._pads[rows]
        self._mask = self._pad_mask()

    def _spread(self, parts: list[Tensor], rows: Tensor, used: int | None = None) -> Tensor:
        """Take the given sequences of a cache into a buffer of full length."""
        size = self._shape
        held = torch.cat(parts) if len(parts) > 1 else parts[0]
        held = held.view(-1, size.kv_heads, held.shape[1], size.head)[:, :, :used]
        buffer = held.new_empty(len(rows), size.kv_heads, self._limit, size.head)
        buffer[:, :, : held.shape[2]] = held[rows]
        return buffer.view(-1, self._limit, size.head)

    def _pad_mask(self) -> Tensor | None:
        """Return what hides the padding: [B * kv_heads, 1, limit], 0 or -inf; None where nothing is
        padded."""
        if not bool(self._pads.any()):
            return None
        hidden = torch.arange(self._limit, device=self._pads.device)[None] < self._pads[:, None]
        mask = torch.zeros(hidden.shape, dtype=self._cos.dtype, device=self._pads.device)
        mask.masked_fill_(hidden, float("-inf"))
        return mask.repeat_interleave(self._shape.kv_heads, 0)[:, None]


class _Prefill:
    """Reads prompts: logits [P, V] of the next token, keys and values [P * kv_heads, T, head] per layer."""

    def __init__(self, model: WrittenOutModel, batch: PromptBatch, cos: Tensor, sin: Tensor) -> None:
        size = model.shape
        length = batch.ids.shape[1]
        at = (torch.arange(length, device=batch.ids.device)[None] - batch.pads[:, None]).clamp(min=0)
        self._cos, self._sin = cos[at][:, :, None], sin[at][:, :, None]
        order = torch.arange(length, device=batch.ids.device)
        seen = (order[None, :, None] >= order[None, None]) & (order[None, None] >= batch.pads[:, None, None])
        # A padding position sees itself: its output is never used, but no row may be all -inf.
        seen = seen | torch.eye(length, dtype=torch.bool, device=batch.ids.device)
        self._seen = seen[:, None]
        self._size = size
        self.keys: list[Tensor] = []
        self.values: list[Tensor] = []
        hidden = model.run(model.embedding[batch.ids], self._attend)
        self.logits = model.logits(hidden[:, -1])

    def _attend(self, layer: int, qkv: Tensor) -> Tensor:
        del layer  # layers come in order
        size = self._size
        count, length, _ = qkv.shape
        heads = qkv.view(count, length, -1, size.head)
        qk = heads[:, :, : size.heads + size.kv_heads]
        qk = torch.addcmul(qk * self._cos, qk.roll(size.head // 2, -1), self._sin)
        query = qk[:, :, : size.heads].transpose(1, 2)
        keys = qk[:, :, size.heads :].transpose(1, 2).contiguous()
        values = heads[:, :, size.heads + size.kv_heads :].transpose(1, 2).contiguous()
        self.keys.append(keys.view(-1, length, size.head))
        self.values.append(values.view(-1, length, size.head))
        mixed = F.scaled_dot_product_attention(
            query, keys, values, attn_mask=self._seen, enable_gqa=size.heads != size.kv_heads
        )
        return mixed.transpose(1, 2).reshape(count, length, -1)


def start_written_out(model: WrittenOutModel) -> Start:
    """Return a starter that decodes with these packed weights."""

    def start(batch: PromptBatch, room: int) -> Started:
        decoding = WrittenOutDecoding(model, batch, room)
        return Started(decoding.first_logits, decoding)

    return start


def _rms(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    wide = x.float()
    # One reduction over x instead of a square and a mean; what follows has one number a row.
    square = torch.linalg.vector_norm(wide, dim=-1, keepdim=True).square_()
    return weight * (wide * torch.rsqrt_(square.div_(x.shape[-1]).add_(eps))).to(x.dtype)


def _pack(layer: Any, merged: bool) -> _Layer:
    attention, mlp = layer.self_attn, layer.mlp
    return _Layer(
        norm=layer.input_layernorm.weight.detach().clone(),
        qkv=_fuse([attention.q_proj, attention.k_proj, attention.v_proj], merged),
        out=_fuse([attention.o_proj], merged),
        mlp_norm=layer.post_attention_layernorm.weight.detach().clone(),
        gate_up=_fuse([mlp.gate_proj, mlp.up_proj], merged),
        down=_fuse([mlp.down_proj], merged),
    )


def _fuse(modules: list[Any], merged: bool) -> _Affine:
    weights = [_effective(module, merged) for module in modules]
    biases = [module.bias for module in modules]
    bias = None if biases[0] is None else torch.cat([b.detach() for b in biases])
    return _Affine(torch.cat(weights), bias)


def _effective(module: Any, merged: bool) -> Tensor:
    """Return the weight with the adapter's delta added; peft wraps a linear layer and keeps it as
    base_layer."""
    base = getattr(module, "base_layer", module)
    weight: Tensor = base.weight.detach()
    if merged and base is not module:
        weight = weight + module.get_delta_weight("default").detach().to(weight.dtype)
    return weight

"""Llama, Qwen2, Qwen3 and SmolLM3 as explicit passes: about fifteen tensor operations per layer, prompts read once for
all answers.

With a few million parameters, most time in transformers' modules (and peft's) goes into Python and small operations.
With any model, modules read a prompt once per answer, pad, and keep several copies of an adapter's input. Decoding
(`decoding.py`) and training share this code. Weights of small models are packed into new tensors with the adapter
merged in; larger ones are used in place, next to the adapter. Tests require logits and gradients equal to transformers'
and peft's. Left out: sliding windows, rotary scalings that depend on the length, dropout, any other architecture.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from sapo_desktop.core.models import ROPE_TYPES
from sapo_desktop.engines.torch.batches import Packed
from sapo_desktop.engines.torch.rounded import whole

SMALL = 64_000_000
"""Weights of models up to this size are copied and packed; in larger ones, Python's share of the time is small."""
KINDS = {"llama", "qwen2", "qwen3", "smollm3"}


class _Adapted(torch.autograd.Function):
    """x W^T + (x A^T) B^T [N, out]: x [N, in], A [r, in], B [out, r]; W is fixed, and includes B A if `merged`.

    Gradients reach A and B without computing the gradient of W [out, in], a third of the work. Only x is kept, and
    layers that read the same input share it. A W in 8 bits, with its `scale`, is restored in each pass.
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, scale: Tensor | None, A: Tensor, B: Tensor, merged: bool
    ) -> Tensor:
        ctx.save_for_backward(x, weight, scale, A, B)
        ctx.merged = merged
        y = x @ whole(weight, scale).T
        return y if merged else y.addmm_(x @ A.T, B.T)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, None, None, Tensor, Tensor, None]:
        x, weight, scale, A, B = ctx.saved_tensors
        g = grads[0]
        # Thin products are transposed, [r, N], which libraries compute faster than r columns.
        inner = B.T.contiguous() @ g.T
        to_x = None
        if ctx.needs_input_grad[0]:  # the first layer's input needs no gradient: embeddings have no adapter
            to_x = g @ whole(weight, scale)
            if not ctx.merged:
                to_x.addmm_(inner.T, A)
        return to_x, None, None, inner @ x, ((A @ x.T) @ g).T, None


class _Laid(torch.autograd.Function):
    """Packed rows [M, c] as padded ones [n, c]: `index` [n] names a row each, any for padding; `places` [M], where
    each row went. The padding's content must not count."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, index: Tensor, places: Tensor) -> Tensor:
        ctx.save_for_backward(places)
        return x.index_select(0, index)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        (places,) = ctx.saved_tensors
        return grads[0].index_select(0, places), None, None


class _Picked(torch.autograd.Function):
    """The inverse: rows [M, c] at `places` [M] of padded ones [n, c]. (torch's own backward pass adds row by row.)"""

    @staticmethod
    def forward(ctx: Any, x: Tensor, places: Tensor) -> Tensor:
        ctx.save_for_backward(places)
        ctx.rows = len(x)
        return x.index_select(0, places)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        (places,) = ctx.saved_tensors
        (g,) = grads
        return g.new_zeros(ctx.rows, g.shape[1]).index_copy_(0, places, g), None


@dataclass(frozen=True)
class _Affine:
    weight: Tensor
    bias: Tensor | None
    lora: tuple[Tensor, Tensor] | None = None
    """A and B, scaled."""
    merged: bool = False
    """Whether `weight` already includes them."""
    scale: Tensor | None = None
    """[out, 1] for a weight in 8 bits."""

    def __call__(self, x: Tensor) -> Tensor:
        if self.lora is None:
            return F.linear(x, whole(self.weight, self.scale), self.bias)
        flat: Tensor = _Adapted.apply(  # type: ignore[no-untyped-call]
            x.reshape(-1, x.shape[-1]), self.weight, self.scale, *self.lora, self.merged
        )
        return (flat if self.bias is None else flat + self.bias).view(*x.shape[:-1], -1)

    def added_to(self, residual: Tensor, x: Tensor) -> Tensor:
        """Return residual + x W^T + b, all [..., features], as one operation."""
        if self.lora is not None:
            return residual + self(x)
        weight = whole(self.weight, self.scale)
        flat = torch.addmm(residual.view(-1, residual.shape[-1]), x.reshape(-1, x.shape[-1]), weight.T)
        if self.bias is not None:
            flat = flat + self.bias
        return flat.view(residual.shape)


@dataclass(frozen=True)
class _Fan:
    """Linear layers with the same input, packed into one or separate; their outputs come as two tensors."""

    affines: list[_Affine]
    first: int
    """Features of the first output."""

    def __call__(self, x: Tensor) -> tuple[Tensor, Tensor]:
        if len(self.affines) == 1:
            y = self.affines[0](x)
            first, second = torch.split(y, [self.first, y.shape[-1] - self.first], -1)
            return first, second
        *firsts, last = (affine(x) for affine in self.affines)
        return firsts[0] if len(firsts) == 1 else torch.cat(firsts, -1), last


@dataclass(frozen=True)
class _Layer:
    norm: Tensor
    qkv: _Fan
    """Queries and keys; values."""
    head_norm: Tensor | None
    """[heads + kv_heads, head] weights of Qwen3's norm of each query's and key's head."""
    out: _Affine
    mlp_norm: Tensor
    gate_up: _Fan
    down: _Affine


@dataclass(frozen=True)
class _Shape:
    heads: int
    kv_heads: int
    head: int
    eps: float


def can_be_written_out(config: Any) -> bool:
    """Whether a transformers configuration belongs to one of the supported architectures."""
    return (
        config.model_type in KINDS
        and config.hidden_act == "silu"
        and (config.rope_parameters or {}).get("rope_type", "default") in ROPE_TYPES
        and set(getattr(config, "layer_types", None) or ["full_attention"]) == {"full_attention"}
    )


def is_packed(model: Any) -> bool:
    """Whether weights of this model are copied and packed."""
    return sum(int(p.numel()) for p in model.parameters()) <= SMALL


class WrittenOutModel:
    """The weights of a transformers model, with its peft adapter if `adapted`.

    Built under autograd, they are functions of the model's parameters, which receive gradients. Built without, they are
    copies or views and outdated as soon as the model changes. `recompute`: the backward pass recomputes each layer's
    tensors instead of keeping them.
    """

    def __init__(self, model: Any, adapted: bool, recompute: bool = False) -> None:
        config, body = model.config, model.model
        head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        self.shape = _Shape(config.num_attention_heads, config.num_key_value_heads, head, config.rms_norm_eps)
        packed = is_packed(model)
        self.embedding = _own(body.embed_tokens.weight, packed)
        self.norm = _own(body.norm.weight, packed)
        self.output = _own(model.get_output_embeddings().weight, packed)
        self.layers = [_layer(layer, self.shape, adapted, packed) for layer in body.layers]
        self.rotates: list[bool] = list(map(bool, getattr(config, "no_rope_layers", None) or [True] * len(self.layers)))
        """Whether a layer applies rotary positions; every fourth of SmolLM3's does not."""
        self._recompute = recompute
        self._rotary = body.rotary_emb
        self._padding = body.embed_tokens.padding_idx

    def rotations(self, length: int) -> tuple[Tensor, Tensor]:
        """Return cos and sin [length, head]; sin includes the sign of rotate_half's halves."""
        positions = torch.arange(length, device=self.embedding.device)[None]
        cos, sin = self._rotary(self.embedding[:1], positions)
        half = self.shape.head // 2
        sign = torch.ones(self.shape.head, dtype=sin.dtype, device=sin.device)
        # rotate_half(x) is [-x2, x1]; a roll by half gives [x2, x1], so the sign goes into sin.
        sign[:half] = -1
        return cos[0], sin[0] * sign

    def rotated(self, layer: int, qk: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """Queries and keys [n, .., heads, head] rotated to their positions; cos and sin as in `rotations`, [n, ..,
        1, head]."""
        return torch.addcmul(qk * cos, qk.roll(self.shape.head // 2, -1), sin) if self.rotates[layer] else qk

    def run(self, x: Tensor, attend: Callable[[int, Tensor, Tensor], Tensor]) -> Tensor:
        """Return hidden states before the last norm; x [n, .., d].

        attend(layer, qk [n, .., heads + kv_heads, head], v [n, .., kv]) -> [m, .., q]: the last m of the n continue.
        """
        for number, layer in enumerate(self.layers):
            step = functools.partial(self._step, number, layer, attend)
            if self._recompute and torch.is_grad_enabled():
                from torch.utils.checkpoint import checkpoint  # a large import that small models never need

                x = checkpoint(step, x, use_reentrant=False)
            else:
                x = step(x)
        return x

    def _step(self, number: int, layer: _Layer, attend: Callable[[int, Tensor, Tensor], Tensor], x: Tensor) -> Tensor:
        qk, v = layer.qkv(_rms(x, layer.norm, self.shape.eps))
        qk = qk.view(*qk.shape[:-1], -1, self.shape.head)
        if layer.head_norm is not None:
            qk = _rms(qk, layer.head_norm, self.shape.eps)
        mixed = attend(number, qk, v)
        x = layer.out.added_to(x[len(x) - len(mixed) :], mixed)
        gate, up = layer.gate_up(_rms(x, layer.mlp_norm, self.shape.eps))
        return layer.down.added_to(x, F.silu(gate) * up)

    def normed(self, x: Tensor) -> Tensor:
        """Return the input of the output matrix; x as `run` returns it."""
        return _rms(x, self.norm, self.shape.eps)

    def logits(self, x: Tensor) -> Tensor:
        return F.linear(self.normed(x), self.output)

    def hidden_states(self, packed: Packed) -> Tensor:
        """Return the normed hidden states [N, d] that predict the answers' tokens."""
        size = self.shape
        cos, sin = (r[packed.positions][:, None] for r in self.rotations(int(packed.positions.max()) + 1))
        parts = [len(packed.prompt_places), len(packed.answer_places)]
        groups, before = packed.prompts.shape
        last = len(self.layers) - 1
        # torch's attention is faster with numeric masks than with boolean ones.
        wide = torch.float32 if packed.ids.device.type == "cpu" else self.embedding.dtype
        seen = torch.zeros_like(packed.seen, dtype=wide).masked_fill_(~packed.seen, float("-inf"))
        grouped = size.heads != size.kv_heads

        def rows(x: Tensor, index: Tensor, places: Tensor) -> Tensor:
            """[M, ..] -> [rows, heads, T, head]."""
            flat = x.flatten(1)
            laid: Tensor = _Laid.apply(flat, index.view(-1), places)  # type: ignore[no-untyped-call]
            return laid.view(*index.shape, flat.shape[1] // size.head, size.head).transpose(1, 2)

        def picked(mixed: Tensor, places: Tensor) -> Tensor:
            """[rows, heads, T, head] -> [M, q]."""
            found: Tensor = _Picked.apply(  # type: ignore[no-untyped-call]
                mixed.transpose(1, 2).flatten(2).flatten(0, 1), places
            )
            return found.to(self.embedding.dtype)

        def continued(prompt: Tensor, answer: Tensor) -> Tensor:
            """Keys or values of each prompt, followed by those of its answers: [G * K, kv_heads, P + A, head]."""
            answer = answer.view(groups, -1, *answer.shape[1:])
            both = [prompt[:, None].expand(-1, answer.shape[1], -1, -1, -1), answer]
            return torch.cat(both, 3).flatten(0, 1)

        def attend(layer: int, qk: Tensor, v: Tensor) -> Tensor:
            # On processors, attention to short sequences takes torch twice as long in bfloat16 as in float32.
            of_prompts, of_answers = torch.split(self.rotated(layer, qk, cos, sin).to(wide), parts)
            values = torch.split(v.to(wide), parts)
            both = [size.heads, size.kv_heads]
            query, key = torch.split(rows(of_answers, packed.answers, packed.answer_places), both, 1)
            prompt_query, prompt_key = torch.split(rows(of_prompts, packed.prompts, packed.prompt_places), both, 1)
            value = rows(values[1], packed.answers, packed.answer_places)
            prompt_value = rows(values[0], packed.prompts, packed.prompt_places)
            answers = F.scaled_dot_product_attention(
                query,
                continued(prompt_key, key),
                continued(prompt_value, value),
                attn_mask=seen,
                enable_gqa=grouped,
            )
            if layer == last or not before:
                return picked(answers, packed.answer_places)  # nothing follows the prompts' tokens
            prompts = F.scaled_dot_product_attention(
                prompt_query, prompt_key, prompt_value, is_causal=True, enable_gqa=grouped
            )
            return torch.cat([picked(prompts, packed.prompt_places), picked(answers, packed.answer_places)])

        # As in transformers, the padding token is an ordinary input, but its row gets no gradient from here.
        return self.normed(self.run(F.embedding(packed.ids, self.embedding, padding_idx=self._padding), attend))


def _rms(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    wide = x.float() if x.dtype.itemsize < 4 else x
    # One reduction over x instead of a square and a mean; the rest has one number per row.
    square = torch.linalg.vector_norm(wide, dim=-1, keepdim=True).square()
    return weight * (wide * torch.rsqrt(square / x.shape[-1] + eps)).to(x.dtype)


def _own(parameter: Tensor, packed: bool) -> Tensor:
    if torch.is_grad_enabled():
        return parameter
    return parameter.detach().clone() if packed else parameter.detach()


def _layer(layer: Any, shape: _Shape, adapted: bool, packed: bool) -> _Layer:
    attention, mlp = layer.self_attn, layer.mlp
    norms = [
        (getattr(attention, name, None), heads) for name, heads in (("q_norm", shape.heads), ("k_norm", shape.kv_heads))
    ]
    head_norm = [norm.weight.expand(heads, -1) for norm, heads in norms if norm is not None]
    return _Layer(
        norm=_own(layer.input_layernorm.weight, packed),
        qkv=_fan([attention.q_proj, attention.k_proj, attention.v_proj], adapted, packed),
        head_norm=torch.cat(head_norm) if head_norm else None,
        out=_affine([attention.o_proj], adapted, packed),
        mlp_norm=_own(layer.post_attention_layernorm.weight, packed),
        gate_up=_fan([mlp.gate_proj, mlp.up_proj], adapted, packed),
        down=_affine([mlp.down_proj], adapted, packed),
    )


def _fan(modules: list[Any], adapted: bool, packed: bool) -> _Fan:
    first = sum(_base(module).weight.shape[0] for module in modules[:-1])
    if packed:
        return _Fan([_affine(modules, adapted, packed)], first)
    return _Fan([_affine([module], adapted, packed) for module in modules], first)


def _base(module: Any) -> Any:
    """The layer itself; peft wraps it."""
    return getattr(module, "base_layer", module)


def _scale(layer: Any) -> Tensor | None:
    """The scale of a layer in 8 bits (rounded.py)."""
    return getattr(layer, "scale", None)


def _affine(modules: list[Any], adapted: bool, packed: bool) -> _Affine:
    """Linear layers that read the same input, stacked."""
    alone = _base(modules[0])
    if packed:
        weight, scale = torch.cat([whole(_base(m).weight, _scale(_base(m))) for m in modules]), None
    else:
        weight, scale = alone.weight, _scale(alone)
    bias = None if alone.bias is None else torch.cat([_base(module).bias for module in modules])
    if not adapted or not hasattr(modules[0], "lora_A"):
        return _Affine(weight, bias, scale=scale)
    dtype = weight.dtype if scale is None else scale.dtype
    # The stack's adapter: B is block-diagonal, and each layer has its own part of A.
    A = torch.cat([m.lora_A["default"].weight for m in modules]).to(dtype)
    parts = [m.lora_B["default"].weight * m.scaling["default"] for m in modules]
    B = (torch.block_diag(*parts) if len(parts) > 1 else parts[0]).to(dtype)  # type: ignore[no-untyped-call]
    if not packed:
        return _Affine(weight, bias, (A, B), scale=scale)
    merged = (weight + B @ A).detach()
    return _Affine(merged, bias, (A, B), merged=True) if torch.is_grad_enabled() else _Affine(merged, bias)

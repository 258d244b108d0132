"""The starter's network: a Llama, and a lean forward pass over its weights for training on padded batches.

Saved and loaded it is transformers' LlamaForCausalLM, nothing else. For priming on one core the library's own forward
pass spends a large part of the time between the matrix products; `hidden` does the same sums with fewer of them
(a test holds both against each other).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import LlamaConfig, LlamaForCausalLM

EPSILON = 1e-6
THETA = 10000.0


def build(vocabulary: int, pad: int, eos: int, layers: int = 4, seed: int = 1) -> LlamaForCausalLM:
    """A fresh model; the same seed gives the same weights."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=192,
        intermediate_size=512,
        num_hidden_layers=layers,
        num_attention_heads=6,
        num_key_value_heads=6,
        max_position_embeddings=1024,
        rms_norm_eps=EPSILON,
        rope_parameters={"rope_type": "default", "rope_theta": THETA},
        tie_word_embeddings=True,
        initializer_range=0.02,
        pad_token_id=pad,
        eos_token_id=eos,
        bos_token_id=None,
    )
    model = LlamaForCausalLM(config)
    for layer in model.model.layers:  # each starts as the identity, so no first steps are spent on undoing noise
        nn.init.zeros_(layer.self_attn.o_proj.weight)
        nn.init.zeros_(layer.mlp.down_proj.weight)
    return model


def rotation(length: int, width: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Cosine and sine of the rotary embedding, each (length, width)."""
    frequencies = THETA ** (-torch.arange(0, width, 2, device=device).float() / width)
    angles = torch.outer(torch.arange(length, device=device).float(), frequencies).repeat(1, 2)
    return angles.cos(), angles.sin()


def _rotated(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    half = x.shape[-1] // 2
    return x * cosine + torch.cat((-x[..., half:], x[..., :half]), dim=-1) * sine


def hidden(model: LlamaForCausalLM, ids: Tensor) -> Tensor:
    """Last hidden states, (batch, length, width), of right-padded ids (batch, length).

    Padding follows the text, so the causal mask alone hides it from every real position.
    """
    core = model.model
    heads, width = model.config.num_attention_heads, model.config.hidden_size
    batch, length = ids.shape
    cosine, sine = rotation(length, width // heads, ids.device)
    x = core.embed_tokens(ids)
    for layer in core.layers:
        attention: nn.Module = layer.self_attn
        y = F.rms_norm(x, (width,), layer.input_layernorm.weight, EPSILON)
        q, k, v = (
            p(y).view(batch, length, heads, -1).transpose(1, 2)
            for p in (attention.q_proj, attention.k_proj, attention.v_proj)
        )
        y = _attend(_rotated(q, cosine, sine), _rotated(k, cosine, sine), v)
        x = x + attention.o_proj(y.transpose(1, 2).reshape(batch, length, width))
        y = F.rms_norm(x, (width,), layer.post_attention_layernorm.weight, EPSILON)
        x = x + layer.mlp.down_proj(F.silu(layer.mlp.gate_proj(y)) * layer.mlp.up_proj(y))
    return F.rms_norm(x, (width,), core.norm.weight, EPSILON)


def _attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Causal attention, (batch, heads, length, head width). Written out on the CPU, where that is faster."""
    if q.is_cuda:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    length = q.shape[-2]
    mask = torch.full((length, length), float("-inf"), device=q.device).triu_(1)
    return torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 + mask, dim=-1) @ v


def loss(model: LlamaForCausalLM, ids: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy over the positions where targets (batch, length) is not -100; targets are already shifted."""
    kept = targets != -100
    logits = F.linear(hidden(model, ids)[kept], model.model.embed_tokens.weight)
    return F.cross_entropy(logits.float(), targets[kept])

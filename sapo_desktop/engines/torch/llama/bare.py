"""A small Llama as weights alone, and its LoRA adapter, under transformers' and peft's names.

The explicit passes of `passes.py` need only the weights. transformers' modelling code and peft import torch's compiler,
which costs 120 MB of memory and seconds of startup. Folders, checkpoints and the adapter's initial values are the same,
bit for bit. Exports use the real libraries (`in_modules` of `lora.py`). For anything but a plain Llama in one file,
`load_bare` returns None, and transformers loads it or explains what is wrong.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Literal

import msgspec
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

WEIGHTS = "model.safetensors"
ADAPTER = "default"
"""peft's name of the single adapter."""
PREFIX = "base_model.model."
"""peft's prefix of the model's own names."""
_ADAPTED = {"self_attn": ("q_proj", "k_proj", "v_proj", "o_proj"), "mlp": ("gate_proj", "up_proj", "down_proj")}


class Rope(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Plain rotary embedding."""

    rope_theta: float
    rope_type: Literal["default"] = "default"


class BareConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The supported config.json; fields of type None would make it a different kind of model if set."""

    model_type: Literal["llama"]
    hidden_act: Literal["silu"]
    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    rms_norm_eps: float
    max_position_embeddings: int
    tie_word_embeddings: bool
    rope_parameters: Rope
    pad_token_id: int | None = None
    attention_bias: bool = False
    mlp_bias: bool = False
    rope_scaling: None = None
    layer_types: None = None
    quantization_config: None = None


class BareLlama(nn.Module):
    """The weights. Nothing here computes, except the rotary positions."""

    def __init__(self, config: BareConfig, folder: Path) -> None:
        super().__init__()
        self.config, self.folder = config, folder
        self.model = _Body(config)
        if not config.tie_word_embeddings:
            self.lm_head = _Weight(config.vocab_size, config.hidden_size)

    def get_output_embeddings(self) -> nn.Module:
        """The module whose weight is the output matrix [V, d]."""
        return self.model.embed_tokens if self.config.tie_word_embeddings else self.lm_head


class _Body(nn.Module):
    def __init__(self, config: BareConfig) -> None:
        super().__init__()
        self.embed_tokens = _Weight(config.vocab_size, config.hidden_size)
        self.embed_tokens.padding_idx = config.pad_token_id
        self.layers = nn.ModuleList([_Layer(config) for _ in range(config.num_hidden_layers)])
        self.norm = _Weight(config.hidden_size)
        self.rotary_emb = _Rotary(config.rope_parameters.rope_theta, config.head_dim)


class _Layer(nn.Module):
    def __init__(self, config: BareConfig) -> None:
        super().__init__()
        d, f = config.hidden_size, config.intermediate_size
        query, key = config.num_attention_heads * config.head_dim, config.num_key_value_heads * config.head_dim
        # In transformers' order, in which peft draws the adapter's initial values.
        self.self_attn = nn.ModuleDict(
            {"q_proj": _Weight(query, d), "k_proj": _Weight(key, d), "v_proj": _Weight(key, d)}
            | {"o_proj": _Weight(d, query)}
        )
        self.mlp = nn.ModuleDict({"gate_proj": _Weight(f, d), "up_proj": _Weight(f, d), "down_proj": _Weight(d, f)})
        self.input_layernorm, self.post_attention_layernorm = _Weight(d), _Weight(d)


class _Weight(nn.Module):
    """One weight that is loaded later. Not torch's own class, because its initialisation imports the compiler."""

    bias: None = None
    padding_idx: int | None = None

    def __init__(self, *shape: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(shape, device="meta"))


class _Rotary:
    """cos and sin [1, T, head] of positions [1, T]."""

    def __init__(self, theta: float, head: int) -> None:
        self._frequencies = 1.0 / (theta ** (torch.arange(0, head, 2, dtype=torch.float) / head))

    def __call__(self, like: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
        angles = positions[..., None].float() * self._frequencies.to(like.device)
        both = torch.cat((angles, angles), -1)
        return both.cos().to(like.dtype), both.sin().to(like.dtype)


class AdaptedLinear(nn.Module):
    """A linear layer and its LoRA factors, with the attributes of peft's layer."""

    bias: None = None

    def __init__(self, base: _Weight, rank: int, alpha: int) -> None:
        super().__init__()
        self.base_layer = base
        outputs, inputs = base.weight.shape
        # As in peft, layer by layer: both factors are initialised, then A again, and B is zero.
        A, B = nn.Linear(inputs, rank, bias=False), nn.Linear(rank, outputs, bias=False)
        nn.init.kaiming_uniform_(A.weight, a=math.sqrt(5))
        nn.init.zeros_(B.weight)
        self.lora_A, self.lora_B = nn.ModuleDict({ADAPTER: A}), nn.ModuleDict({ADAPTER: B})
        self.to(base.weight.device)
        self.scaling = {ADAPTER: alpha / rank}


def load_bare(folder: Path, device: torch.device, most: int) -> BareLlama | None:
    """The weights of a folder in float32, on `device`; None if it is not a complete plain Llama of at most `most`
    parameters."""
    try:
        config = msgspec.json.decode((folder / "config.json").read_bytes(), type=BareConfig)
        tensors = _read(folder / WEIGHTS, config, most)
        if tensors is None or config.attention_bias or config.mlp_bias:
            return None
        model = BareLlama(config, folder)
        model.load_state_dict(tensors, assign=True)  # strict: names and shapes must match the configuration
    except (OSError, ValueError, RuntimeError, SafetensorError):
        return None  # transformers finds out what is wrong, and its error is explained elsewhere
    return model.to(device).eval()


def _read(path: Path, config: BareConfig, most: int) -> dict[str, Tensor] | None:
    """The tensors in float32; None if their number does not match the layers, or they are too large."""
    with safe_open(path, framework="pt") as file:
        names = list(file.keys())
        if len(names) != 9 * config.num_hidden_layers + (2 if config.tie_word_embeddings else 3):
            return None
        if sum(math.prod(file.get_slice(name).get_shape()) for name in names) > most:
            return None
        return {name: file.get_tensor(name).float() for name in names}


def with_bare_adapter(model: BareLlama, rank: int, alpha: int) -> nn.Module:
    """Add an adapter to every linear layer except the output; return the tree with peft's names."""
    model.requires_grad_(False)
    for layer in model.model.layers:
        for part, names in _ADAPTED.items():
            modules = getattr(layer, part)
            for name in names:
                modules[name] = AdaptedLinear(modules[name], rank, alpha)
    return nn.ModuleDict({"base_model": nn.ModuleDict({"model": model})})


def factors_of(model: BareLlama) -> tuple[dict[str, Tensor], float]:
    """The adapter in the form of `gguf.write_adapter`: factors by module, and their one scaling."""
    ending = f".{ADAPTER}.weight"
    factors = {name.removesuffix(ending): factor for name, factor in model.named_parameters() if name.endswith(ending)}
    scaling = next(layer.scaling[ADAPTER] for layer in model.modules() if isinstance(layer, AdaptedLinear))
    return dict(factors), scaling


def adapter_settings(model: BareLlama, rank: int, alpha: int) -> str:
    """The content of adapter_config.json, as peft and servers that load its adapters read it."""
    values = {
        "base_model_name_or_path": str(model.folder),
        "bias": "none",
        "fan_in_fan_out": False,
        "inference_mode": True,
        "init_lora_weights": True,
        "lora_alpha": alpha,
        "lora_dropout": 0.0,
        "modules_to_save": None,
        "peft_type": "LORA",
        "r": rank,
        "target_modules": sorted(name for names in _ADAPTED.values() for name in names),
        "task_type": "CAUSAL_LM",
        "use_dora": False,
        "use_rslora": False,
    }
    return json.dumps(values, indent=2) + "\n"

"""The starter at a width of 256 where it has 192, computing the same: llama.cpp's k-quants need rows of 256.

At the starter's own width `q4_k_m` would be mostly other formats, which llama.cpp falls back to. What is added is zero:
64 numbers of the hidden state, and two heads. Root-mean-square norms divide by the width, so their weights and epsilon
are scaled.
"""

import math
import shutil
from pathlib import Path

import torch
from transformers import LlamaConfig, LlamaForCausalLM

WIDTH = 256
COPIED = ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "generation_config.json")


def widened(starter: Path, folder: Path) -> Path:
    """Write the wider model to `folder`, in float32; returns it."""
    narrow = LlamaForCausalLM.from_pretrained(starter, dtype=torch.float32)
    config: LlamaConfig = narrow.config
    share = config.hidden_size / WIDTH
    changed = {
        "hidden_size": WIDTH,
        "num_attention_heads": WIDTH // config.head_dim,
        "num_key_value_heads": WIDTH // config.head_dim,
        "rms_norm_eps": config.rms_norm_eps * share,
    }
    wide = LlamaForCausalLM(LlamaConfig(**config.to_dict() | changed))
    with torch.no_grad():
        for (name, target), source in zip(wide.named_parameters(), narrow.parameters(), strict=True):
            target.zero_()
            target[tuple(slice(size) for size in source.shape)] = source
            if name.endswith("norm.weight"):
                target.mul_(math.sqrt(share))
    wide.save_pretrained(folder)
    for name in COPIED:
        shutil.copyfile(starter / name, folder / name)
    return folder

"""A model's weights as safetensors files; each weight is made, written and released in turn.

safetensors' own writer takes all tensors of a file at once, which for a merged model in one file means a second model
in memory. The format is simple (huggingface.co/docs/safetensors): 8 bytes of length, a header in JSON, then the numbers
in sequence. The bytes equal those of `huggingface_hub.save_torch_state_dict`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from huggingface_hub import split_torch_state_dict_into_shards
from torch import Tensor

_NAMES = {torch.bfloat16: "BF16", torch.float16: "F16", torch.float32: "F32"}
_METADATA = {"format": "pt"}


def save_weights(
    shapes: Mapping[str, tuple[int, ...]],
    weights: Mapping[str, Tensor],
    dtype: torch.dtype,
    folder: Path,
    most: int | str = "5GB",
) -> None:
    """Write `model.safetensors`, or several files and their index if it would be larger than `most`.

    Args:
        shapes: of the weights to write, by name.
        weights: each is read once, and may be computed then.
        dtype: the number format in the files.
        folder: it must exist.
        most: bytes of a file, or as in `5GB`; a larger weight gets its own file.
    """
    planned = {name: torch.empty(shape, dtype=dtype, device="meta") for name, shape in shapes.items()}
    split = split_torch_state_dict_into_shards(planned, max_shard_size=most)
    for file, names in split.filename_to_tensors.items():
        _write(folder / file, sorted(names), shapes, weights, dtype)  # in safetensors' order
    if split.is_sharded:
        index = {"metadata": split.metadata | _METADATA, "weight_map": split.tensor_to_filename}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=2), encoding="utf-8")


def _write(
    path: Path,
    names: Sequence[str],
    shapes: Mapping[str, tuple[int, ...]],
    weights: Mapping[str, Tensor],
    dtype: torch.dtype,
) -> None:
    header: dict[str, object] = {"__metadata__": _METADATA}
    end = 0
    for name in names:
        begin, end = end, end + math.prod(shapes[name]) * dtype.itemsize
        header[name] = {"dtype": _NAMES[dtype], "shape": shapes[name], "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        for name in names:
            values = weights[name].to(dtype).contiguous()
            file.write(values.view(-1).view(torch.uint8).numpy().data)

"""Files that are written weight by weight are those of the libraries, byte for byte."""

import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import torch
from huggingface_hub import save_torch_state_dict
from torch import Tensor

from sapo_desktop.engines.exporting.shards import save_weights

SHAPES = {"model.norm.weight": (24,), "lm_head.weight": (40, 24), "model.b.bias": (7,), "a": (3, 5), "Ä": (2, 2)}


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
@pytest.mark.parametrize("most", ["5GB", 200])
def test_the_bytes_are_the_libraries(tmp_path: Path, dtype: torch.dtype, most: int | str) -> None:
    torch.manual_seed(1)
    weights = {name: torch.randn(shape) for name, shape in SHAPES.items()}
    weights["a"] = torch.randn(5, 3).T
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    ours.mkdir()
    theirs.mkdir()
    values = {name: value.to(dtype) for name, value in weights.items()}
    save_torch_state_dict(values, theirs, metadata={"format": "pt"}, max_shard_size=most)
    save_weights(SHAPES, weights, dtype, ours, most)
    assert files(ours) == files(theirs)
    assert ("model.safetensors.index.json" in files(ours)) == (most == 200)


class Made(Mapping[str, Tensor]):
    """Weights that are made when they are asked for; counts those that somebody holds."""

    def __init__(self) -> None:
        self._held: weakref.WeakSet[Tensor] = weakref.WeakSet()
        self.most = 0

    def __getitem__(self, name: str) -> Tensor:
        made = torch.zeros(SHAPES[name])
        self._held.add(made)
        self.most = max(self.most, len(self._held))
        return made

    def __iter__(self) -> Iterator[str]:
        return iter(SHAPES)

    def __len__(self) -> int:
        return len(SHAPES)


def test_no_second_model_is_held(tmp_path: Path) -> None:
    weights = Made()
    save_weights(SHAPES, weights, torch.bfloat16, tmp_path)
    assert weights.most == 1

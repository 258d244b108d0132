"""A causal language model and its tokenizer, loaded from a local folder or GGUF file.

Nothing is downloaded or unpickled: weights must be safetensors, and code in a model folder never runs. The weights of a
GGUF file are dequantised in memory (engines/gguf/reading.py). Left out: other quantised weights, and layers that
`llama/passes.py` does not support.
"""

from __future__ import annotations

import functools
import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import torch
from safetensors import SafetensorError

from sapo_desktop.core.errors import CardUnusable, ModelError
from sapo_desktop.core.files.gguf import is_gguf
from sapo_desktop.core.files.reading import read_json
from sapo_desktop.engines.bare_tokenizer import BareTokenizer
from sapo_desktop.engines.tokenizer import ModelTokenizer, load_tokenizer
from sapo_desktop.engines.torch import products
from sapo_desktop.engines.torch.llama import passes
from sapo_desktop.engines.torch.llama.bare import load_bare
from sapo_desktop.engines.torch.memory import is_out_of_memory, without_holes
from sapo_desktop.engines.torch.rounded import round_matrices

if TYPE_CHECKING:
    from sapo_desktop.engines.gguf.reading import GgufModelFile

SMALL_MODEL = 100_000_000
"""Parameters below which float32 is as fast as anything, and more exact."""


@dataclass(frozen=True)
class LanguageModel:
    """Weights and tokenizer of one folder or file."""

    folder: Path
    """Or the GGUF file, the first of several."""
    model: Any
    """transformers' `...ForCausalLM` in eval mode (there is no dropout); for a small Llama a BareLlama."""
    words: ModelTokenizer
    device: torch.device
    dtype: torch.dtype
    parameters: int
    """Parameters of the base, without adapter."""
    rounded: bool = False
    """Whether the matrices of its blocks are stored in 8 bits."""

    @property
    def context(self) -> int:
        """The model's context length, for prompt and answer together."""
        return int(self.model.config.max_position_embeddings)

    @property
    def vocabulary(self) -> int:
        return int(self.model.get_output_embeddings().weight.shape[0])

    @property
    def tokenizer(self) -> Any:
        """transformers' tokenizer, read now if the engine did not need it before."""
        return (
            load_tokenizer(self.folder).backend if isinstance(self.words.backend, BareTokenizer) else self.words.backend
        )


def load_language_model(
    folder: Path, device: str = "auto", dtype: str = "auto", bare: bool = True, rounded: bool = False
) -> LanguageModel:
    """Load the model of a folder in transformers' layout, or of a GGUF file. Raises ModelError with advice.

    `bare`: load a small Llama as weights alone (`llama/bare.py`). `rounded`: store the matrices of its blocks in 8 bits
    (`rounded.py`).
    """
    where = find_device(device)
    if is_gguf(folder):
        from sapo_desktop.engines.gguf.reading import GgufModelFile  # imports libraries that the starter does not need
        from sapo_desktop.engines.gguf.words import read_tokenizer

        file = GgufModelFile(folder)
        words, precision = read_tokenizer(file.fields), _file_dtype(dtype, where, file)
        model = _from_file(file, precision)
    else:
        words, precision = load_tokenizer(folder, bare), _dtype(dtype, where, folder)
        found = load_bare(folder, where, passes.SMALL) if bare and precision == torch.float32 and not rounded else None
        model = found or _through_transformers(folder, precision)
    if rounded:
        with without_holes():
            round_matrices(model, where)
    count = sum(p.numel() for p in model.parameters())
    return LanguageModel(folder, model.to(where), words, where, precision, count, rounded)


def _through_transformers(folder: Path, precision: torch.dtype) -> Any:
    """The model, before it is moved to the device."""
    os.environ["HF_HUB_OFFLINE"] = "1"  # before transformers is imported, which reads it once
    import transformers

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    try:
        config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
        if not passes.can_be_written_out(config):
            raise ModelError(
                "Models of type {kind} are not supported if they have unusual layers, such as sliding "
                "windows. Choose another model.",
                kind=str(config.model_type),
            )
        model, info = transformers.AutoModelForCausalLM.from_pretrained(
            folder,
            config=config,
            dtype=precision,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError, json.JSONDecodeError) as error:
        if is_out_of_memory(error):
            raise  # nothing is wrong with the folder
        raise ModelError(
            "The model in {folder} cannot be read: {reason}. Download the folder again.",
            folder=str(folder),
            reason=str(error),
        ) from error
    if info["missing_keys"] or info["mismatched_keys"]:
        lacking = ", ".join(sorted(map(str, [*info["missing_keys"], *info["mismatched_keys"]]))[:3])
        raise ModelError(
            "The weights in {folder} are incomplete ({names}). Download the folder again.",
            folder=str(folder),
            names=lacking,
        )
    return model.eval()


def _from_file(file: GgufModelFile, precision: torch.dtype) -> Any:
    """The model of a GGUF file, before it is moved to the device; it uses the dequantised tensors without copies."""
    import transformers

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    network = getattr(transformers, file.config.architectures[0])
    tensors = {name: file.read(name, precision) for name in file}
    model = network.from_pretrained(None, config=file.config, state_dict=tensors, dtype=precision)
    # peft records this as the adapter's base.
    model.config._name_or_path = model.name_or_path = str(file.path)
    return model.eval()


def find_device(name: str) -> torch.device:
    """Where to compute; `auto`: on a card if there is one. Raises ModelError; CardUnusable if that card cannot
    compute."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        ones = torch.ones(8, 8, device=name)
        float((ones @ ones).sum())  # a card may be present but unusable, for example too old for this torch
        return ones.device
    except (RuntimeError, AssertionError) as error:
        if name == "cuda":
            reason = str(error).partition("\n")[0]
            raise CardUnusable("The graphics card cannot be used ({reason}).", reason=reason) from error
        raise ModelError(
            "The device '{name}' cannot be used, so set device to auto. The reason: {reason}",
            name=name,
            reason=str(error),
        ) from error


class _Widths(msgspec.Struct, frozen=True):
    """The fields of config.json that define the width of the model's products."""

    hidden_size: int
    intermediate_size: int


@functools.cache
def _pays(widths: _Widths) -> bool:
    """Whether this processor is faster in bfloat16, measured for a second, once per process and width. A node
    measures before loading, remembers the result, and names the format (worker/hosts/loading.py)."""
    return products.measure(widths.hidden_size, widths.intermediate_size).bfloat16_pays


def _file_dtype(name: str, device: torch.device, file: GgufModelFile) -> torch.dtype:
    small = sum(math.prod(file.shape(tensor)) for tensor in file) < SMALL_MODEL
    widths = _Widths(file.config.hidden_size, file.config.intermediate_size)
    return _named_dtype(name) or _best(small, device, widths)


def _dtype(name: str, device: torch.device, folder: Path) -> torch.dtype:
    small = sum(path.stat().st_size for path in folder.glob("*.safetensors")) < 2 * SMALL_MODEL
    try:
        widths = read_json(folder / "config.json", _Widths)
    except (OSError, msgspec.DecodeError):
        widths = None  # transformers explains what is wrong with it
    return _named_dtype(name) or _best(small, device, widths)


def _best(small: bool, device: torch.device, widths: _Widths | None) -> torch.dtype:
    if small or widths is None:
        return torch.float32
    return torch.bfloat16 if device.type != "cpu" or _pays(widths) else torch.float32


def _named_dtype(name: str) -> torch.dtype | None:
    """None: choose the best."""
    if name == "auto":
        return None
    known = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
    if name not in known:
        raise ModelError("Unknown number format '{name}'. Choose auto, {known}.", name=name, known=", ".join(known))
    return known[name]

"""What the trainer hands to a generator in another process: its base as a GGUF file once, its adapter after each step.

Files are written beside their name and renamed at the end, so that a reader, or a killed process, never finds half
of one under it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import Tensor

from sapo_desktop.core.errors import ModelError, UsageError
from sapo_desktop.core.files.durable import disk_errors_as
from sapo_desktop.core.sentences import sentence
from sapo_desktop.engines.exporting.export import lora_factors
from sapo_desktop.engines.gguf.folder import write_folder
from sapo_desktop.engines.gguf.write import write_adapter
from sapo_desktop.engines.protocols import GgufWeights
from sapo_desktop.engines.torch.llama.bare import BareLlama, factors_of
from sapo_desktop.engines.torch.lm import LanguageModel
from sapo_desktop.engines.torch.lora import ADAPTER_FILE, Policy, read_tensors

_PREFIX, _SUFFIX = "base_model.model.", ".weight"
"""What peft puts around a factor's name in its files."""


def write_base(model: Path, path: Path, weights: GgufWeights) -> None:
    """Write the model in a folder as a GGUF file; raises ModelError where llama.cpp would compute another one."""
    part = path.with_name(f"{path.name}.part")
    with disk_errors_as(ModelError, sentence("{name} could not be written", name=path.name)):
        write_folder(model, part, weights)
        part.replace(path)


def write_trained(lm: LanguageModel, policy: Policy, path: Path, checkpoint: Path | None) -> None:
    """Write the adapter as it is, or as a checkpoint's folder has it.

    Raises:
        UsageError: there is no adapter, because all weights are trained.
        CheckpointError: the checkpoint cannot be read.
    """
    if policy.method != "lora":
        raise UsageError(sentence("llama.cpp answers with a LoRA adapter. Set method to lora, or generator to torch."))
    factors, scaling = factors_of(lm.model) if isinstance(lm.model, BareLlama) else lora_factors(policy.model)
    if checkpoint is not None:
        factors = _factors_of(checkpoint)
    part = path.with_name(f"{path.name}.part")
    with disk_errors_as(ModelError, sentence("The adapter could not be handed to the generator")):
        write_adapter(part, _config(lm), factors, scaling)
        part.replace(path)


def _config(lm: LanguageModel) -> Any:
    if not isinstance(lm.model, BareLlama):
        return lm.model.config
    from transformers import AutoConfig

    return AutoConfig.from_pretrained(lm.folder, local_files_only=True)


def _factors_of(checkpoint: Path) -> dict[str, Tensor]:
    saved = read_tensors(checkpoint / ADAPTER_FILE)
    return {name.removeprefix(_PREFIX).removesuffix(_SUFFIX): tensor for name, tensor in saved.items()}

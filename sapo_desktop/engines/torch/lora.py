"""The trained part: a LoRA adapter on all linear layers (peft), or every weight of a tiny model.

The base weights are preserved: LoRA never changes them, and full training keeps a copy for answers of the base and for
a reset. Files are peft's own (adapter_model.safetensors, adapter_config.json) for LoRA, weights.safetensors for full
training. Left out: adapters on embeddings and on the output layer, dropout.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from sapo_desktop.core.errors import CheckpointError
from sapo_desktop.core.records import TrainerSettings
from sapo_desktop.core.sentences import sentence
from sapo_desktop.engines.torch.llama.bare import BareLlama, adapter_settings, with_bare_adapter

ADAPTER_FILE = "adapter_model.safetensors"
WEIGHTS_FILE = "weights.safetensors"


class Policy:
    """A model with its trainable part; `version` grows whenever the weights change."""

    def __init__(self, model: Any, settings: TrainerSettings) -> None:
        self.causal = model
        self.settings = settings
        self.method = settings.method
        self.version = 0
        self._base: dict[str, Tensor] = {}
        if self.method == "lora":
            self.model = _with_adapter(model, settings)
        else:
            self.model = model
            self._base = {name: p.detach().clone() for name, p in model.named_parameters()}
        self._start = {name: p.detach().clone() for name, p in self.trainable().items()}

    def trainable(self) -> dict[str, torch.nn.Parameter]:
        """Return the trained parameters by name, in a fixed order."""
        return {name: p for name, p in self.model.named_parameters() if p.requires_grad}

    @property
    def bare(self) -> bool:
        """Whether the model is weights alone, without transformers and peft."""
        return isinstance(self.causal, BareLlama)

    def changed(self) -> None:
        """Note that the weights changed, so copies made from them are outdated."""
        self.version += 1

    def output_weight(self) -> Tensor:
        """Return the output matrix [V, d]."""
        weight: Tensor = self.causal.get_output_embeddings().weight
        return weight

    @contextmanager
    def as_base(self) -> Iterator[None]:
        """Inside, the model's own weights are those of the untrained base. With an adapter they always are."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def reset(self) -> None:
        """Return to the untrained start."""
        self.take(self._start)

    def save(self, folder: Path) -> list[str]:
        """Write the trained part into `folder`; return the names of the files."""
        if self.method == "full":
            save_file({n: p.detach().contiguous() for n, p in self.trainable().items()}, folder / WEIGHTS_FILE)
            return [WEIGHTS_FILE]
        if isinstance(self.causal, BareLlama):
            self._save_bare(self.causal, folder)
        else:
            # Otherwise the network is asked whether embeddings changed.
            self.model.save_pretrained(folder, save_embedding_layers=False)
            (folder / "README.md").unlink(missing_ok=True)  # peft's empty model card
        return [ADAPTER_FILE, "adapter_config.json"]

    def _save_bare(self, model: BareLlama, folder: Path) -> None:
        tensors = {n.replace(".default.", "."): p.detach().contiguous() for n, p in self.trainable().items()}
        save_file(tensors, folder / ADAPTER_FILE, metadata={"format": "pt"})
        text = adapter_settings(model, self.settings.lora_rank, self.settings.lora_alpha)
        (folder / "adapter_config.json").write_text(text, encoding="utf-8")

    def in_modules(self, model: Any) -> Any:
        """This policy's model, with what it learned, in transformers' and peft's modules. `model`: the base as
        transformers loads it."""
        policy = Policy(model, self.settings)
        policy.take(self.trainable())
        return policy.model

    def load(self, folder: Path) -> None:
        """Load what `save` wrote. Raises CheckpointError if it is damaged or does not fit."""
        name = WEIGHTS_FILE if self.method == "full" else ADAPTER_FILE
        self.take({self._own_name(key): value for key, value in read_tensors(folder / name).items()})

    def _own_name(self, saved: str) -> str:
        """peft omits the adapter's name from the names in its files."""
        if self.method == "full":
            return saved
        for part in (".lora_A.", ".lora_B."):
            saved = saved.replace(part, f"{part}default.")
        return saved

    def take(self, values: Mapping[str, Tensor]) -> None:
        """Set the trained part. Raises CheckpointError if it does not fit."""
        mine = self.trainable()
        check_fit({name: p.shape for name, p in mine.items()}, values)
        with torch.no_grad():
            for name, parameter in mine.items():
                parameter.copy_(values[name])
        self.changed()

    def _swap(self) -> None:
        parameters = dict(self.model.named_parameters())
        for name, base in self._base.items():
            parameters[name].data, self._base[name] = base, parameters[name].data


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Read a safetensors file of a checkpoint. Raises CheckpointError."""
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise CheckpointError(
            "{path} cannot be read: {reason}. Go back to an older checkpoint.", path=str(path), reason=str(error)
        ) from error


def check_fit(shapes: Mapping[str, torch.Size], values: Mapping[str, Tensor]) -> None:
    """Raise CheckpointError unless names and shapes are the same."""
    if shapes.keys() != values.keys() or any(values[n].shape != s for n, s in shapes.items()):
        raise CheckpointError(
            sentence(
                "The checkpoint was written for another model or adapter size. Set the model, method and "
                "rank that it was trained with, or start over."
            )
        )


def _with_adapter(model: Any, settings: TrainerSettings) -> Any:
    if isinstance(model, BareLlama):
        with _seeded(settings.seed, model):
            return with_bare_adapter(model, settings.lora_rank, settings.lora_alpha).eval()
    from peft import LoraConfig, TaskType, get_peft_model

    config = LoraConfig(
        task_type=TaskType.CAUSAL_LM,
        r=settings.lora_rank,
        lora_alpha=settings.lora_alpha,
        lora_dropout=0.0,
        target_modules="all-linear",
    )
    with _seeded(settings.seed, model):
        return get_peft_model(model, config).eval()


@contextmanager
def _seeded(seed: int, model: Any) -> Iterator[None]:
    """Inside, the global random generators (of the processor and the model's card) are seeded, because an adapter's
    initial values come from them. torch's own helper would include all cards and wake up unused ones."""
    device = next(model.parameters()).device
    with torch.random.fork_rng([] if device.type == "cpu" else [device], device_type=device.type):
        torch.manual_seed(seed)
        yield

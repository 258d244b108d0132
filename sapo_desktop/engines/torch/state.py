"""A trainer on disk: adapter or weights, optimiser and counters, in safetensors and JSON; nothing is pickled.

The adapter's own file has the average of the recent weights, which answers questions and is exported. The live weights
are stored next to it. There is no random state to keep: initial values, draws and orders all come from seeds that the
caller names. Learning rate and other settings are not read from the files: the caller loads the engine with the current
ones.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec
import torch
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor

from sapo_desktop.core.errors import CheckpointError, NotWritten
from sapo_desktop.core.files.reading import read_json
from sapo_desktop.engines.torch.lora import check_fit, read_tensors
from sapo_desktop.engines.torch.trainer import GrpoTrainer

OPTIMISER_FILE = "optimizer.safetensors"
LIVE_FILE = "live.safetensors"
STATE_FILE = "trainer.json"
STATE_VERSION = 1


class TrainerState(msgspec.Struct, frozen=True, kw_only=True):
    """The content of trainer.json."""

    version: int = STATE_VERSION
    method: str
    steps: int
    """Optimiser steps behind the weights; the learning rate's decay counts these."""
    adam: int | None = None
    """Steps included in the moments: fewer after a roll-back. None: all of them."""
    dtype: str = ""
    """Number format of a trainer on a processor, in which the worker resumes the run. Empty: it was a card, whose
    format follows from what fits, or an older version."""


def save_trainer(trainer: GrpoTrainer, folder: Path, *, averaged: bool = True) -> list[str]:
    """Write everything that `restore_trainer` needs to continue bit for bit; return the files' names. Without
    `averaged`, the adapter's file has the live weights, for a generator that answers in rounds.

    Raises:
        NotWritten: the folder cannot be written (for example, disk full); the trainer is unaffected.
    """
    try:
        return _save(trainer, folder, averaged)
    except (OSError, SafetensorError) as error:
        raise NotWritten(
            "The training state could not be saved ({reason}). Free some space.", reason=str(error)
        ) from error


def _save(trainer: GrpoTrainer, folder: Path, averaged: bool) -> list[str]:
    with trainer.averaged() if averaged else contextlib.nullcontext():
        files = trainer.policy.save(folder)
    live = {name: p.detach().contiguous() for name, p in trainer.policy.trainable().items()}
    save_file(live, folder / LIVE_FILE)
    moments: dict[str, Tensor] = {}
    adam = 0
    for name, parameter in trainer.policy.trainable().items():
        state = trainer.optimiser.state.get(parameter, {})
        for kind in ("exp_avg", "exp_avg_sq"):
            moments[f"{kind}.{name}"] = state.get(kind, torch.zeros_like(parameter)).contiguous()
        adam = int(state.get("step", 0))
    save_file(moments, folder / OPTIMISER_FILE)
    weight = trainer.policy.output_weight()
    dtype = str(weight.dtype).removeprefix("torch.") if weight.device.type == "cpu" else ""
    state_record = TrainerState(method=trainer.policy.method, steps=trainer.steps, adam=adam, dtype=dtype)
    (folder / STATE_FILE).write_bytes(msgspec.json.encode(state_record))
    return [*files, LIVE_FILE, OPTIMISER_FILE, STATE_FILE]


def restore_trainer(trainer: GrpoTrainer, folder: Path, weights_only: bool = False) -> None:
    """Load what `save_trainer` wrote, including its count of steps. Raises CheckpointError and changes nothing if it
    does not fit. `weights_only`: continue from the average, with a fresh optimiser."""
    state = _read_state(folder)
    if state.method != trainer.policy.method:
        raise CheckpointError(
            "The checkpoint was trained with method '{method}', but the setting is '{wanted}'. Set the "
            "method that it was trained with, or start over.",
            method=state.method,
            wanted=trainer.policy.method,
        )
    parameters = trainer.policy.trainable()
    moments = read_tensors(folder / OPTIMISER_FILE)
    check_fit({f"{kind}.{n}": p.shape for kind in ("exp_avg", "exp_avg_sq") for n, p in parameters.items()}, moments)
    # Checkpoints of an earlier version have no average: their adapter is the live one.
    live = read_tensors(folder / LIVE_FILE) if (folder / LIVE_FILE).exists() and not weights_only else {}
    if live:
        check_fit({name: p.shape for name, p in parameters.items()}, live)
    trainer.policy.load(folder)
    trainer.begin_average()
    if live:
        trainer.policy.take(live)
    trainer.optimiser = trainer.fresh_optimiser()
    trainer.steps = state.steps
    adam = state.steps if state.adam is None else state.adam
    if weights_only or not adam:
        return
    for name, parameter in parameters.items():
        trainer.optimiser.state[parameter] = {
            "step": torch.tensor(float(adam)),
            "exp_avg": moments[f"exp_avg.{name}"].to(parameter),
            "exp_avg_sq": moments[f"exp_avg_sq.{name}"].to(parameter),
        }


def reset_trainer(trainer: GrpoTrainer) -> None:
    """Return to the untrained start, including the optimiser."""
    trainer.policy.reset()
    trainer.begin_average()
    trainer.optimiser = trainer.fresh_optimiser()
    trainer.steps = 0


def _read_state(folder: Path) -> TrainerState:
    path = folder / STATE_FILE
    try:
        state = read_json(path, TrainerState)
    except (OSError, msgspec.DecodeError) as error:
        raise CheckpointError(
            "{path} cannot be read: {reason}. Go back to an older checkpoint.", path=str(path), reason=str(error)
        ) from error
    if state.version > STATE_VERSION:
        raise CheckpointError(
            "{path} was written by a newer version of SAPO Desktop. Update, or start over.", path=str(path)
        )
    return state

"""How much a model is asked for at once: memory is looked at anew before each load, and models/fit.py decides.

What did not fit once (a checkpoint's micro-batch, a killed engine's) is an upper bound that stays. Where a model does
not fit at all the largest smaller one that is on disk takes its place, at last the starter; that is for a node without
checkpoints, since those belong to their model.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import msgspec

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.settings import Settings
from sapo_desktop.models.catalogue import model_catalogue
from sapo_desktop.models.fit import Model, plan
from sapo_desktop.models.folder import ModelFolder, read_folder
from sapo_desktop.models.memory import TORCH_RUNTIME
from sapo_desktop.models.shape import shape_of
from sapo_desktop.models.starter import STARTER, starter_folder
from sapo_desktop.system.hardware import Hardware, probe
from sapo_desktop.worker.engine import EnginePlan
from sapo_desktop.worker.librarian import models_folder

Probe = Callable[[Path], Hardware]
Say = Callable[[str], None]


class Fitting:
    """Adapts an engine's plan to the memory that is free now. `shorten` is told a lower token limit, `say`
    sentences."""

    def __init__(
        self,
        settings: Callable[[], Settings],
        shorten: Callable[[int], None],
        say: Say,
        look: Probe = probe,
    ) -> None:
        self._settings, self._shorten, self._say, self._look = settings, shorten, say, look
        self._said: set[str] = set()

    def __call__(self, asked: EnginePlan) -> EnginePlan:
        """The plan with as much at once as fits; the engine's host runs already, with its libraries.

        Raises:
            TooBig: the model does not fit.
        """
        settings = self._settings()
        way = plan(described(asked.model), self._look(asked.model), settings, running=TORCH_RUNTIME)
        self._tell(way.why_not)
        if way.max_tokens < settings.max_tokens and way.max_tokens < asked_tokens(asked, settings):
            self._shorten(way.max_tokens)
            self._tell(f"Not enough memory for longer answers: they are cut at {way.max_tokens} tokens.")
        micro_batch = min(asked.trainer.micro_batch, way.micro_batch)
        trainer = msgspec.structs.replace(asked.trainer, micro_batch=micro_batch)
        batch = min(asked.batch, way.batch) if asked.batch else way.batch
        return EnginePlan(asked.model, trainer, asked.threads, asked.device, batch)

    def _tell(self, text: str) -> None:
        """Say a sentence once, not at every load."""
        if text and text not in self._said:
            self._said.add(text)
            self._say(text)


def asked_tokens(asked: EnginePlan, settings: Settings) -> int:
    """The longest answer that settings and the model's context allow."""
    model = described(asked.model)
    return min(settings.max_tokens, model.context - model.prompt_tokens)


def described(folder: Path) -> Model:
    """A model folder as models/fit.py needs it."""
    config = json.loads((folder / "config.json").read_bytes())
    shipped = folder == starter_folder()
    return Model(
        id=STARTER if shipped else folder.name,
        shape=shape_of(config),
        architecture=str(config["architectures"][0]),
        context=int(config["max_position_embeddings"]),
        shipped=shipped,
    )


def smaller_model(than: int, settings: Settings, look: Probe = probe) -> ModelFolder | None:
    """The largest model on disk with fewer parameters than `than` that fits; None where not even the starter does."""
    for entry in sorted(model_catalogue().models, key=lambda entry: -entry.exact_parameters):
        path = starter_folder() if entry.shipped else models_folder(settings) / entry.id
        if entry.exact_parameters < than and path.is_dir() and (found := _usable(path, settings, look)):
            return found
    return None


def _usable(path: Path, settings: Settings, look: Probe) -> ModelFolder | None:
    """The model in that folder where it is whole and fits; a damaged one is no way out, and is named when asked for."""
    try:
        plan(described(path), look(path), settings, running=TORCH_RUNTIME)
        return read_folder(path)  # last: it reads all of the weights for their hash
    except (SapoError, OSError):
        return None

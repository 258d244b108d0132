"""Which engines answer and learn: one decision from settings and model, or a refusal with the reason.

```
torch answers and learns                        one process, one copy of the weights
llama.cpp answers, torch learns                 two processes; the adapter is passed after each step
llama.cpp answers, nothing learns               answer-only: no torch; rounds are answered, scored and shared
a remote server answers, torch learns           the adapter is passed in a shared folder
a remote server answers, nothing learns         answer-only, with the server's model
```
If the settings leave it open, models/fit/ways.py chooses by the free memory. If a model does not fit at all, the
largest smaller one on disk replaces it, finally the starter. This applies only to a node without checkpoints, since
those belong to their model.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sapo_desktop.core import fitting
from sapo_desktop.core.errors import ModelError, NoEnginePack, SapoError, UsageError
from sapo_desktop.core.files.gguf import is_gguf, parts_of
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.models.catalogue import model_catalogue
from sapo_desktop.models.describe import describe
from sapo_desktop.models.files.folder import ModelFolder, file_hash, read_folder
from sapo_desktop.models.files.gguf_file import check_gguf
from sapo_desktop.models.files.locate import locate
from sapo_desktop.models.fit import ways
from sapo_desktop.models.fit.memory import LLAMA_RUNTIME, UNLOADED_RUNTIME
from sapo_desktop.models.fit.ways import way_for
from sapo_desktop.models.starter import starter_folder
from sapo_desktop.system.hardware import Hardware, other_engine, probe
from sapo_desktop.system.installation import can_learn, only_relays
from sapo_desktop.worker.hosts.librarian import models_folder

Look = Callable[[Path], Hardware]
"""Returns this computer's hardware and free memory."""

NO_ENGINE_PACK = sentence(
    "The training engine is not installed yet, and the settings need it. Get the engine pack, then start the "
    "node again.",
    in_terminal="sapo-desktop engine install",
)
ANSWERS_UNTIL_PACK = sentence(
    "The training engine is not installed yet, so this node only answers. To have it learn, "
    "get the engine pack, then start the node again.",
    in_terminal="sapo-desktop engine install",
)
OTHER_PACK = sentence(
    "This computer's graphics card or its driver changed, so another engine pack fits now. Get "
    "it, then restart the node. Until then the node uses the current one.",
    in_terminal="sapo-desktop engine install",
)
ONLY_RELAYS = sentence(
    "Only what a relay needs was set up here. To run a node, set up the rest: python3 installers/bootstrap.py setup"
)
REFUSED_IN_SILO = sentence(
    "In silo nothing leaves this computer, so a remote server cannot answer. Set generator to "
    "auto and restart the node, or set silo to off."
)


@dataclass(frozen=True)
class BaseModel:
    """The model that answers, before it is loaded."""

    path: Path
    """A folder in transformers' layout, or a GGUF file."""
    hash: str
    parameters: int
    """0 for a GGUF file that can only answer: it is known after loading."""
    only_answers: Text = ""
    """For a GGUF file: why it cannot learn; empty if it can."""

    @property
    def is_gguf(self) -> bool:
        return is_gguf(self.path)


@dataclass(frozen=True)
class EngineChoice:
    """Which engines answer and learn."""

    generator: Literal["torch", "llama.cpp", "remote"]
    trains: bool
    device: str = ""
    """Where torch computes; empty: as in the setting `device`."""
    note: Text = ""
    """What the user should know about the choice."""


TORCH_ALONE = EngineChoice(generator="torch", trains=True)


def find_model(name: str, models: Path) -> BaseModel:
    """The model that the setting names; `models`: the folder of installed models. Raises ModelError."""
    path = locate(name, models)
    if is_gguf(path):
        return _gguf(path)
    folder = read_folder(path)
    return BaseModel(path=folder.path, hash=folder.hash, parameters=folder.parameters)


def _gguf(path: Path) -> BaseModel:
    why = check_gguf(parts_of(path)).only_answers
    return BaseModel(path, _gguf_hash(path), 0 if why else describe(path).parameters, why)


def _gguf_hash(path: Path) -> str:
    """SHA-256 of the file; for a model in several files, of all their hashes, in order."""
    hashes = []
    for part in parts_of(path):
        try:
            hashes.append(file_hash(part))
        except OSError as error:
            raise ModelError(
                "{path} cannot be read: {error}.", path=str(part), error=error.strerror or str(error)
            ) from error
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()


def choose_engine(settings: Settings, model: BaseModel, look: Look = probe) -> EngineChoice:
    """Choose which engines answer and learn; `look` returns the free memory.

    Raises:
        UsageError: the settings contradict each other, or need something that is not installed.
    """
    if only_relays():
        raise UsageError(ONLY_RELAYS)
    if settings.generator == "remote":
        return _remote_choice(settings, model, look)
    if model.only_answers and settings.trainer == "torch":
        raise UsageError(model.only_answers)
    trains = settings.trainer != "none" and not model.only_answers
    if settings.generator == "torch" and not trains:
        raise UsageError(sentence("Without training, llama.cpp answers. Set generator to llama.cpp, or to auto."))
    if settings.generator == "llama.cpp" and settings.trainer != "none" and trains and settings.method == "full":
        raise UsageError(
            sentence(
                "Full training changes all weights, but llama.cpp can load only an adapter. Set method to "
                "lora, or generator to torch."
            )
        )
    llama_cpp = importlib.util.find_spec("llama_cpp") is not None
    if trains and not can_learn():
        if settings.generator == "torch" or not llama_cpp:
            raise NoEnginePack(NO_ENGINE_PACK)
        return _without_engine_pack(settings, "llama.cpp")
    if not llama_cpp and (settings.generator == "llama.cpp" or not trains):
        raise UsageError(
            sentence(
                "llama.cpp is not installed here. Build it (python3 installers/bootstrap.py llama), or set generator "
                "to torch and train a model in transformers' layout."
            )
        )
    if not trains:
        return EngineChoice(generator="llama.cpp", trains=False)
    return _fitting_choice(settings, model, look, llama_cpp)


def _without_engine_pack(settings: Settings, generator: Literal["llama.cpp", "remote"]) -> EngineChoice:
    """Without its engine pack, an installed application only answers, unless the settings insist on learning."""
    if settings.trainer == "torch":
        raise NoEnginePack(NO_ENGINE_PACK)
    return EngineChoice(generator=generator, trains=False, note=ANSWERS_UNTIL_PACK)


def _fitting_choice(settings: Settings, model: BaseModel, look: Look, llama_cpp: bool) -> EngineChoice:
    """Choose by the free memory. If nothing fits, the loader decides, because it has smaller models."""
    here = look(model.path)
    found = way_for(describe(model.path), here, settings, llama_cpp=llama_cpp)
    assert found.generator != "remote"
    if not found.fits:
        return TORCH_ALONE if settings.generator != "llama.cpp" else EngineChoice(generator="llama.cpp", trains=True)
    if found.trainer == "torch":
        note = OTHER_PACK if other_engine() is not None else ""
        return EngineChoice(generator=found.generator, trains=True, device=_device(found, here, settings), note=note)
    return EngineChoice(
        generator=found.generator,
        trains=False,
        note=sentence(
            "There is not enough free memory to learn with {model} now, so this node only answers. A "
            "smaller model can learn. To try this one anyway, set trainer to torch.",
            in_terminal="sapo-desktop fit",
            model=found.model,
        ),
    )


def _remote_choice(settings: Settings, model: BaseModel, look: Look) -> EngineChoice:
    if settings.silo:
        raise UsageError(REFUSED_IN_SILO)
    if not settings.remote_url:
        raise UsageError(
            sentence("Set remote_url to the server that should answer: http://HOST:PORT (docs/remote.md).")
        )
    if model.is_gguf:
        raise UsageError(
            sentence(
                "A remote server answers in the tokens of a model folder. Set model to a folder (in "
                "transformers' layout) with the server's model."
            )
        )
    if settings.trainer == "torch" and not settings.remote_adapters:
        raise UsageError(
            sentence(
                "What is learned here cannot reach the server. Set remote_adapters to a folder that both can "
                "see (docs/remote.md), or set trainer to none."
            )
        )
    trains = settings.trainer != "none" and bool(settings.remote_adapters)
    if trains and not can_learn():
        return _without_engine_pack(settings, "remote")
    if trains and settings.method == "full":
        raise UsageError(
            sentence("A server can load a LoRA adapter, but not all weights. Set method to lora, or trainer to none.")
        )
    return _fitting_with_server(settings, model, look) if trains else EngineChoice(generator="remote", trains=False)


def _fitting_with_server(settings: Settings, model: BaseModel, look: Look) -> EngineChoice:
    """Learning here if it fits into the free memory. Otherwise the server still answers, unless the settings insist
    on learning; then the loader refuses, since no smaller model can replace the server's."""
    here = look(model.path)
    found = way_for(describe(model.path), here, settings, llama_cpp=False)
    if found.fits or settings.trainer == "torch":
        return EngineChoice(generator="remote", trains=True, device=_device(found, here, settings))
    reason = sentence("{model} does not fit: {reason}", model=found.model, reason=found.why_not)
    return EngineChoice(generator="remote", trains=False, note=only_answers(reason))


def only_answers(reason: Text) -> Text:
    """The note if a server answers and there is no memory to learn as well. `reason`: a sentence, with numbers."""
    return sentence("{reason} So this node only answers until it is started with more free memory.", reason=reason)


def _device(found: fitting.Way, here: Hardware, settings: Settings) -> str:
    """Where torch computes; empty if the setting says it."""
    return found.device if found.fits and here.gpus and settings.device == "auto" else ""


def smaller_model(than: int, settings: Settings, choice: EngineChoice, look: Look = probe) -> ModelFolder | None:
    """The largest model on disk with fewer parameters than `than` that fits in the same way; None if not even the
    starter does."""
    for entry in sorted(model_catalogue().models, key=lambda entry: -entry.exact_parameters):
        path = starter_folder() if entry.shipped else models_folder(settings) / entry.id
        if entry.exact_parameters < than and path.is_dir() and (found := _usable(path, settings, choice, look)):
            return found
    return None


def _usable(path: Path, settings: Settings, choice: EngineChoice, look: Look) -> ModelFolder | None:
    """The model in that folder if it is complete and fits. A damaged one is skipped, and reported when it is
    requested."""
    try:
        held = UNLOADED_RUNTIME + (LLAMA_RUNTIME if choice.generator == "llama.cpp" else 0)
        ways.plan(describe(path), look(path), settings, running=held, generator=choice.generator, device=choice.device)
        return read_folder(path)  # last: it reads all weights for their hash
    except (SapoError, OSError):
        return None

"""llama.cpp answers from a GGUF file, in its own host.

The base is written as a GGUF file once and cached by its hash; after each step the adapter is passed as a small file.
It answers rounds, held-out scores and `ask` alike, so that one node's scores are comparable.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.files.gguf import is_gguf
from sapo_desktop.core.records import Prompt, Sampling
from sapo_desktop.core.resources import resource
from sapo_desktop.core.settings import Settings
from sapo_desktop.engines.protocols import Configure, Generate, GgufWeights, Loaded, LoadGguf, Quantise, WriteGguf
from sapo_desktop.models.catalogue import catalogue_specs
from sapo_desktop.models.describe import describe
from sapo_desktop.models.files.folder import ModelFolder
from sapo_desktop.models.files.gguf_file import check_gguf
from sapo_desktop.models.files.locate import locate
from sapo_desktop.models.files.store import Store
from sapo_desktop.models.fit.ways import weights_of
from sapo_desktop.worker.hosts.generator import HostedGenerator
from sapo_desktop.worker.hosts.hosting import Host
from sapo_desktop.worker.hosts.librarian import models_folder
from sapo_desktop.worker.hosts.trainer import WORK_SECONDS, EnginePlan, Trainer

_AS_IT_CAME = "f16"
"""For an original GGUF file: llama.cpp's default way to compute, whatever the format."""
_LEAST_CACHE = 64 * 2**20
_ASKED = [
    "What is 17 + 25?",
    "What is the capital of Italy?",
    "Spell the word 'stone' backwards.",
    "How many legs do three cats have?",
    "Which is larger, 9 or 12?",
    "Name a color of the rainbow.",
]


@dataclass(frozen=True)
class GgufBase:
    """The generator's base weights: their path, and how to make them if they are missing."""

    model: Path
    """The source folder."""
    file: Path
    weights: str
    """f32, f16, q8_0, q4_0 or q4_k_m."""
    written_here: bool = True
    """Whether they are written to the cache; otherwise the file is original and must not be changed."""

    @property
    def exact(self) -> bool:
        return self.weights == "f32"

    async def is_there(self) -> bool:
        """Whether it can be loaded; an incomplete cached file does not count."""
        return self.file.exists() and (not self.written_here or await asyncio.to_thread(_is_whole, self.file))

    async def convert(self, trainer: Host, generator: Host, threads: int) -> None:
        """Write the model, and quantise it if fewer bits are wanted. Cached files of other models are deleted.

        Raises:
            ModelError: llama.cpp would compute a different model.
        """
        if not self.written_here or await self.is_there():
            return
        self.file.parent.mkdir(parents=True, exist_ok=True)
        for other in self.file.parent.iterdir():
            other.unlink()
        plain: GgufWeights = "F32" if self.exact else "F16"
        quantised = self.weights not in ("f32", "f16")
        written = self.file.with_suffix(".plain") if quantised else self.file
        write = WriteGguf(model=str(self.model), file=str(written), weights=plain)
        await trainer.call(write, WORK_SECONDS)
        if quantised:
            request = Quantise(source=str(written), target=str(self.file), weights=self.weights, threads=threads)
            await generator.call(request, WORK_SECONDS)
            written.unlink()


def _is_whole(file: Path) -> bool:
    try:
        check_gguf([file])
    except ModelError:
        return False
    return True


FindBase = Callable[[ModelFolder], GgufBase]


def base_of(cache: Path, model: Path, hash: str, settings: Settings) -> GgufBase:
    """The file for llama.cpp: the model itself, an installed published one, or one that is written here."""
    if is_gguf(model):
        return GgufBase(model=model, file=model, weights=_AS_IT_CAME, written_here=False)
    weights = weights_of(describe(model)).lower()
    made = _shipped(model, weights) or _published(model, weights, models_folder(settings))
    if made is not None:
        return GgufBase(model=model, file=made, weights=weights, written_here=False)
    return GgufBase(model=model, file=cache / "gguf" / f"{hash[:16]}-{weights}.gguf", weights=weights)


def _shipped(model: Path, weights: str) -> Path | None:
    """The starter as shipped with an installed application, which cannot write it before the engine pack is
    installed."""
    file = model.with_name(f"{model.name}-{weights}.gguf")
    return file if model == resource("starter") and file.exists() else None


def _published(model: Path, weights: str, models: Path) -> Path | None:
    """The GGUF version that the catalogue names for one of its models, if it was downloaded."""
    name = f"{model.name}-{weights}"
    if model.parent != models or name not in catalogue_specs() or not Store(models).folder(name).exists():
        return None
    return locate(name, models)


class LlamaCpp(HostedGenerator):
    """A host of kind `generator` with its model and adapter."""

    load: LoadGguf

    def __init__(
        self,
        host: Host,
        base: GgufBase,
        plan: EnginePlan,
        folder: Path,
        trainer: Trainer | None = None,
        find_base: FindBase | None = None,
    ) -> None:
        """`folder`: for the passed adapters; emptied first. `find_base`: of another model."""
        load = LoadGguf(
            model=str(base.file),
            threads=plan.threads,
            device=plan.device,
            cache_bytes=plan.cache_bytes,
            exact=base.exact,
        )
        super().__init__(host, load, folder, trainer)
        self._base = base
        self._find_base = find_base
        self._compared: Path | None = None
        """The base whose answers were found to equal the trainer's."""
        self._most_cache = 0
        """Limit for keys and values after the system killed it once; 0: it never did."""

    def use_model(self, model: ModelFolder) -> Path | None:
        if self._find_base is not None:
            self._base = self._find_base(model)
        return self._base.file

    async def prepare(self, plan: EnginePlan) -> None:
        """Write the file if it is missing. ModelError if that is impossible."""
        await super().prepare(plan)
        if self.load.model != str(self._base.file):
            self.load = msgspec.structs.replace(self.load, model=str(self._base.file))
            # Frees the old model's memory; also, Windows cannot delete an open file.
            await self.host.stop()
        await self._revive()
        if self.trainer is not None:
            await self._base.convert(self.trainer.host, self.host, plan.threads)

    async def begin(self, plan: EnginePlan) -> Loaded:
        self._bound(plan.cache_bytes)
        loaded = await self.start()
        if self.trainer is not None and self._compared != self._base.file:
            await self._compare(self.trainer)
            self._compared = self._base.file
        return loaded

    async def configure(self, threads: int) -> None:
        self.load = msgspec.structs.replace(self.load, threads=threads)
        if self.host.pid is not None and self.loaded is not None:
            await self._call(Configure(threads=threads))

    def _bound(self, cache_bytes: int) -> None:
        """Limit keys and values; if the limit falls, the model is reloaded."""
        bounds = [bound for bound in (cache_bytes, self._most_cache) if bound]
        before, now = self.load.cache_bytes, min(bounds, default=0)
        self.load = msgspec.structs.replace(self.load, cache_bytes=now)
        if now and (now < before or not before):
            self._process = None

    def _ask_for_less(self) -> None:
        """From now on half the memory for keys and values."""
        half = max(_LEAST_CACHE, self.load.cache_bytes // 2)
        self._most_cache = min(self.load.cache_bytes or half, half)
        self._bound(self._most_cache)

    async def _compare(self, trainer: Trainer) -> None:
        """Check that llama.cpp predicts from its file what the trainer does. Fewer bits per weight change close
        decisions; a different model changes everything.

        Raises:
            ModelError: it does not; a cached file is then deleted.
        """
        asked = [Prompt(question=question) for question in _ASKED]
        request = Generate(prompts=asked, answers=1, sampling=Sampling(max_tokens=1, greedy=True), base=True)
        expected = (await trainer.answer(request)).completions
        found = (await self.answer(request)).completions
        same = sum(mine[0].tokens == theirs[0].tokens for mine, theirs in zip(expected, found, strict=True))
        if same < len(_ASKED) / 2:
            if self._base.written_here:
                self._base.file.unlink(missing_ok=True)
            raise ModelError(
                "llama.cpp gives other answers than PyTorch with {model}, so it is not used. Set generator "
                "to torch, and please report this.",
                model=self._base.model.name,
            )

    async def _write_adapter(self, trainer: Trainer, place: Path, checkpoint: Path | None, averaged: bool) -> Path:
        file = place.with_suffix(".gguf")
        await trainer.write_adapter(file, checkpoint, averaged)
        return file

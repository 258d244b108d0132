"""The model catalogue, resources/models.toml: the models that a node can start with, and known facts about them.

Read strictly by type. A test checks that the shipped file is consistent (shapes, sizes, names). The commit and files of
a repository are looked up and fixed at the first download. Left out: downloading, and whether a model fits this
computer (models/fit/fit.py).
"""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.models import Installed, ModelSpec, Package
from sapo_desktop.core.resources import resource
from sapo_desktop.models.fit.shape import Architecture, ModelShape

CATALOGUE = "models.toml"
BITS_A_WEIGHT = {"Q8_0": 8.5, "Q4_K_M": 5.1, "Q4_0": 4.6, "F16": 16.0, "F32": 32.0}
"""For files of unknown size. Q4_K_M varies between models: 4.9 to 6.45 bits were seen."""

Count = Annotated[int, Meta(gt=0)]
Repository = Annotated[str, Meta(pattern=r"^([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)?$")]
Fact = Literal["shape", "context", "licence", "gate", "parameters", "vocabulary"]


class CatalogueRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of the file's records."""


class GgufFile(CatalogueRecord, frozen=True, kw_only=True):
    """A published GGUF version of a model; its files are found by its quantisation."""

    repository: Repository
    quantisation: Literal["Q4_K_M", "Q8_0", "F16"]
    size: Annotated[int, Meta(ge=0)] = 0
    """Bytes, rounded; 0: unknown."""


class Entry(CatalogueRecord, frozen=True, kw_only=True):
    """One model."""

    id: Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9.-]{0,63}$")]
    name: Annotated[str, Meta(min_length=1)]
    about: str
    """One sentence to help the user choose."""
    architecture: Architecture
    parameters: Count
    """The published number; the shape gives the exact number."""
    shape: ModelShape
    context: Count
    licence: Annotated[str, Meta(min_length=1)]
    gate: Literal["open", "account"]
    """`account`: the licence must be accepted on the hub by a signed-in user."""
    repository: Repository = ""
    gguf: list[GgufFile] = []
    package: Package | None = None
    """A second source if the hub cannot be reached."""
    shipped: bool = False
    """Included in the program: nothing to download."""
    unverified: list[Fact] = []
    """Facts that were not checked against the source."""

    def is_in(self, model: Installed) -> bool:
        """Whether this installed model is the same, by name, source, or the hash of its package's file."""
        packaged = self.package is not None and any(f.sha256 == self.package.sha256 for f in model.files.values())
        return packaged or model.name == self.id or (bool(self.repository) and model.source == self.repository)

    @property
    def exact_parameters(self) -> int:
        """The number of parameters that the shape implies."""
        return self.shape.parameters(self.architecture)

    def gguf_bytes(self, quantisation: str) -> int:
        """Size of a GGUF file of that quantisation: as published if known, otherwise by bits per weight."""
        for file in self.gguf:
            if file.quantisation == quantisation and file.size:
                return file.size
        return int(self.exact_parameters * BITS_A_WEIGHT[quantisation] / 8)


class ModelCatalogue(CatalogueRecord, frozen=True, kw_only=True):
    """The whole file."""

    models: list[Entry]

    def find(self, name: str) -> Entry | None:
        """The entry of that id."""
        return next((entry for entry in self.models if entry.id == name), None)


# At import, so that msgspec knows the type: two threads that resolved it at once crashed the worker.
msgspec.json.Decoder(ModelCatalogue)


@functools.cache
def model_catalogue() -> ModelCatalogue:
    """The shipped catalogue."""
    return read_catalogue(resource(CATALOGUE))


def read_catalogue(path: Path) -> ModelCatalogue:
    """Read a catalogue. Raises ModelError, which says what is wrong with it."""
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), ModelCatalogue)
    except (OSError, ValueError, RecursionError) as error:  # includes tomllib's and msgspec's errors
        raise ModelError(
            "The model catalogue {path} cannot be used, so install SAPO Desktop again. The reason: {reason}",
            path=str(path),
            reason=str(error),
        ) from error


def catalogue_specs() -> dict[str, ModelSpec]:
    """The download for each name of the catalogue. A model's name is its id; a published GGUF version adds its
    quantisation, as in `qwen2.5-0.5b-q8_0`. The starter is never downloaded."""
    specs: dict[str, ModelSpec] = {}
    for entry in model_catalogue().models:
        if not entry.shipped:
            specs[entry.id] = ModelSpec(name=entry.id, repository=entry.repository, package=entry.package)
        for file in entry.gguf:
            name = f"{entry.id}-{file.quantisation.lower()}"
            specs[name] = ModelSpec(name=name, repository=file.repository, quantisation=file.quantisation)
    return specs

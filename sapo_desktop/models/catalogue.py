"""The model catalogue, resources/models.toml: which models a node can be started with, and what is known of them.

Read strictly: an unknown field, a shape that does not give the stated number of parameters, or two models of one id are
errors, so that a slip in the file is found by a test and not by a volunteer. What is not known is said so (`revision`
and `sha256` empty, `size` 0) and fixed at the first download. Left out: downloading, and whether a model fits this
machine (models/fit/fit.py).
"""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.resources import resource
from sapo_desktop.models.fit.shape import Architecture, ModelShape

CATALOGUE = "models.toml"
VERSION = 1
BITS_A_WEIGHT = {"Q8_0": 8.5, "Q4_K_M": 5.1, "Q4_0": 4.6, "F16": 16.0, "F32": 32.0}
"""For files whose size nobody wrote down. Q4_K_M differs from model to model: 4.9 to 6.45 bits were seen."""
_TOLERANCE = 0.01

Count = Annotated[int, Meta(gt=0)]
Sha256 = Annotated[str, Meta(pattern=r"^([0-9a-f]{64})?$")]
Commit = Annotated[str, Meta(pattern=r"^([0-9a-f]{40})?$")]
Repository = Annotated[str, Meta(pattern=r"^([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)?$")]
Fact = Literal["shape", "context", "licence", "gate", "parameters", "vocabulary"]


class CatalogueRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of what the file holds."""


class CatalogueFile(CatalogueRecord, frozen=True, kw_only=True):
    """A file of a repository."""

    name: Annotated[str, Meta(min_length=1, max_length=200)]
    size: Annotated[int, Meta(ge=0)] = 0
    """Bytes; 0: not known."""
    sha256: Sha256 = ""
    """Empty: not known, fixed at the first download."""


class GgufFile(CatalogueRecord, frozen=True, kw_only=True):
    """A published GGUF version of a model."""

    repository: Repository
    quantisation: Literal["Q4_K_M", "Q8_0", "F16"]
    revision: Commit = ""
    file: str = ""
    """Empty: found at the first download, by its quantisation."""
    size: Annotated[int, Meta(ge=0)] = 0
    approximate: bool = False
    """The size is rounded."""
    sha256: Sha256 = ""
    parts: Count = 1


class Entry(CatalogueRecord, frozen=True, kw_only=True):
    """One model."""

    id: Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9.-]{0,63}$")]
    name: Annotated[str, Meta(min_length=1)]
    about: str
    """One sentence for whoever chooses."""
    architecture: Architecture
    parameters: Count
    """As published; the shape gives the exact number."""
    shape: ModelShape
    context: Count
    licence: Annotated[str, Meta(min_length=1)]
    gate: Literal["open", "account"]
    """account: the licence has to be accepted on the hub, by a user who is signed in."""
    repository: Repository = ""
    revision: Commit = ""
    """Empty: fixed at the first download."""
    files: list[CatalogueFile] = []
    """Those whose size or hash is known; others are found in the repository."""
    gguf: list[GgufFile] = []
    shipped: bool = False
    """Inside the program: nothing to download."""
    unverified: list[Fact] = []
    """Facts from memory."""

    @property
    def exact_parameters(self) -> int:
        """The number that the shape gives."""
        return self.shape.parameters(self.architecture)

    def gguf_bytes(self, quantisation: str) -> int:
        """Size of a GGUF file of that quantisation: as published where known, else by bits a weight."""
        for file in self.gguf:
            if file.quantisation == quantisation and file.size:
                return file.size
        return int(self.exact_parameters * BITS_A_WEIGHT[quantisation] / 8)


class Tier(CatalogueRecord, frozen=True, kw_only=True):
    """Settings to start from, on one kind of device with at least so much memory."""

    device: Literal["any", "cpu", "gpu"]
    from_gigabytes: Annotated[float, Meta(ge=0)]
    models: list[str]
    """Ids, or `*`."""
    picks: list[str]
    """Ids of models that may be chosen for a user from this tier on."""
    lora_rank: Count
    learning_rate: Annotated[float, Meta(gt=0, le=0.1)]
    answers: Annotated[int, Meta(ge=2, le=64)]
    max_tokens: Annotated[int, Meta(ge=8, le=8192)]


class ModelCatalogue(CatalogueRecord, frozen=True, kw_only=True):
    """The whole file."""

    version: int
    models: list[Entry]
    tiers: list[Tier]

    def find(self, name: str) -> Entry | None:
        """The model of that id."""
        return next((entry for entry in self.models if entry.id == name), None)

    def recommended(self, entry: Entry, device: Literal["cpu", "gpu"], memory: int) -> Tier:
        """Settings to start this model with, on a device with so many bytes in all."""
        named = [tier for tier in self._reached(device, memory) if _names(tier, entry)]
        # What names the model comes before what holds for all.
        return max(named, key=lambda tier: (entry.id in tier.models, tier.from_gigabytes))

    def picks(self, device: Literal["cpu", "gpu"], memory: int) -> set[str]:
        """Ids of the models that may be chosen for a user on such a device."""
        return {name for tier in self._reached(device, memory) for name in tier.picks}

    def _reached(self, device: str, memory: int) -> list[Tier]:
        # What is sold as 16 GB has 16 GiB, less what the machine keeps to itself.
        gigabytes = memory / 1e9 * 1.02
        return [tier for tier in self.tiers if tier.device in ("any", device) and tier.from_gigabytes <= gigabytes]


@functools.cache
def model_catalogue() -> ModelCatalogue:
    """The catalogue that ships with the program."""
    return read_catalogue(resource(CATALOGUE))


def read_catalogue(path: Path) -> ModelCatalogue:
    """Read and check a catalogue.

    Raises:
        ModelError: it cannot be read, or something in it is wrong; the sentence says what.
    """
    try:
        catalogue = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), ModelCatalogue)
    except (OSError, ValueError, RecursionError) as error:  # tomllib's and msgspec's errors are ValueErrors
        raise ModelError(
            "The model catalogue {path} cannot be used, so install SAPO Desktop again. The reason: {reason}",
            path=str(path),
            reason=str(error),
        ) from error
    if catalogue.version != VERSION:
        raise ModelError(
            "The model catalogue {path} has version {version}; this program reads {known}. Install SAPO Desktop again.",
            path=str(path),
            version=catalogue.version,
            known=VERSION,
        )
    for problem in _problems(catalogue):
        raise ModelError(
            "The model catalogue {path} cannot be used, so install SAPO Desktop again. The reason: {reason}",
            path=str(path),
            reason=problem,
        )
    return catalogue


def _names(tier: Tier, entry: Entry) -> bool:
    return entry.id in tier.models or ("*" in tier.models and not entry.shipped)


def _problems(catalogue: ModelCatalogue) -> list[str]:
    ids = [entry.id for entry in catalogue.models]
    found = [f"{name} stands there twice" for name in sorted({name for name in ids if ids.count(name) > 1})]
    for entry in catalogue.models:
        exact = entry.exact_parameters
        if abs(exact - entry.parameters) > _TOLERANCE * entry.parameters:
            found.append(f"{entry.id}: its shape gives {exact:,} parameters, stated are {entry.parameters:,}")
        if entry.shipped == bool(entry.repository):
            found.append(f"{entry.id}: a model is either shipped or in a repository")
        for device in ("cpu", "gpu"):
            if not any(
                t.device in ("any", device) and not t.from_gigabytes and _names(t, entry) for t in catalogue.tiers
            ):
                found.append(f"{entry.id}: no tier has settings for it on a {device}")
    known = {"*", *ids}
    for tier in catalogue.tiers:
        found += [f"a tier names {name}" for name in [*tier.models, *tier.picks] if name not in known]
    return found

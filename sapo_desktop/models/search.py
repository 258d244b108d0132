"""The hub's search results by words, without models that do not run here. Only the listing is read, and only fields
of the right type count."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, get_args

import msgspec
from msgspec import Meta

from sapo_desktop.core.errors import ModelError, UsageError
from sapo_desktop.core.files.gguf import ARCHITECTURES
from sapo_desktop.core.models import Access, HubModel, HubModels, spec_of
from sapo_desktop.models.catalogue import BITS_A_WEIGHT
from sapo_desktop.models.files.choice import choose
from sapo_desktop.models.files.hub import Hub
from sapo_desktop.models.files.names import kind_of
from sapo_desktop.models.fit.shape import Architecture
from sapo_desktop.models.fit.ways import SMALL_PARAMETERS

_MOST = 60
"""Number of results requested."""
_WIDTHS = {"F32": 4, "BF16": 2, "F16": 2}
"""Bytes per weight in the supported formats of safetensors."""
_UNKNOWN_BITS = 8.5
"""Bits per weight of a GGUF file whose name does not say it."""
_LICENCE = re.compile(r"license:([A-Za-z0-9.+-]{1,40})")

Count = Annotated[int, Meta(gt=0, le=10**13)]


class _File(msgspec.Struct, frozen=True):
    rfilename: str


class _Config(msgspec.Struct, frozen=True):
    architectures: list[str] = []
    quantization_config: Any = None


class _Safetensors(msgspec.Struct, frozen=True):
    parameters: dict[str, Count]


class _Gguf(msgspec.Struct, frozen=True):
    total: Count
    architecture: str = ""


class _Hit(msgspec.Struct, frozen=True):
    """A result in huggingface_hub's form."""

    id: str
    siblings: list[_File]
    config: _Config | None = None
    safetensors: _Safetensors | None = None
    gguf: _Gguf | None = None
    tags: list[str] | None = None
    downloads: Annotated[int, Meta(ge=0)] | None = None
    gated: bool | str | None = None


def search(words: str, access: Access) -> HubModels:
    """Models of the hub that would run here, the most downloaded first. Raises DownloadError."""
    found = Hub(access).search(words, _MOST)
    models = {model.repository: model for hit in found if (model := _taken(hit)) is not None}
    return HubModels(models=list(models.values()), left_out=len(found) - len(models))


def _taken(found: object) -> HubModel | None:
    """The model, if its kind and layout run here."""
    try:
        hit = msgspec.convert(found, _Hit, from_attributes=True)
        repository = spec_of(hit.id).repository
        names = [file.rfilename for file in hit.siblings if "/" not in file.rfilename]
        model = _folder(hit, repository, names) or _gguf(hit, repository, names)
    except (msgspec.ValidationError, UsageError, ModelError):
        return None
    if model is None:
        return None
    licences = [found[1] for tag in hit.tags or () if (found := _LICENCE.fullmatch(tag))]
    return msgspec.structs.replace(
        model, downloads=hit.downloads or 0, licence=next(iter(licences), ""), gated=bool(hit.gated)
    )


def _folder(hit: _Hit, repository: str, names: Sequence[str]) -> HubModel | None:
    """Weights in safetensors of a kind that torch supports. Raises ModelError if the files form no model."""
    config, weights = hit.config, hit.safetensors
    if config is None or weights is None or config.quantization_config is not None:
        return None
    kinds = [kind for kind in get_args(Architecture) if kind in config.architectures[:1]]
    sizes = weights.parameters
    if not kinds or not sizes or not sizes.keys() <= _WIDTHS.keys():
        return None
    if "weights" not in map(kind_of, choose(repository, names)):
        return None
    return HubModel(
        repository=repository,
        kind="transformers",
        architecture=kinds[0],
        parameters=sum(sizes.values()),
        bytes=sum(_WIDTHS[name] * size for name, size in sizes.items()),
    )


def _gguf(hit: _Hit, repository: str, names: Sequence[str]) -> HubModel | None:
    """From several GGUF files, the best one for llama.cpp here."""
    if hit.gguf is None:
        return None
    total = hit.gguf.total
    best = ("Q8_0", "Q4_K_M") if total < SMALL_PARAMETERS else ("Q4_K_M", "Q8_0")
    for quantisation in dict.fromkeys((*best, *BITS_A_WEIGHT, "")):
        try:
            chosen = [name for name in choose(repository, names, (), quantisation) if kind_of(name) == "gguf"]
        except ModelError:  # none, or several of that kind
            continue
        bits = BITS_A_WEIGHT.get(quantisation, _UNKNOWN_BITS)
        return HubModel(
            repository=repository,
            kind="gguf",
            files=chosen[:1],
            architecture=ARCHITECTURES.get(hit.gguf.architecture, ""),
            parameters=total,
            bytes=int(total * bits / 8),
        )
    return None

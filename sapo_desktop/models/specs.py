"""What each name of the catalogue stands for in a download.

A model is known by its id, a published GGUF version of it by id and quantisation: `qwen2.5-0.5b-q8_0`. The starter is
part of the program and is never downloaded.
"""

from __future__ import annotations

from sapo_desktop.core.models import FileSpec, ModelSpec
from sapo_desktop.models.catalogue import Entry, GgufFile, ModelCatalogue, model_catalogue


def catalogue_specs(catalogue: ModelCatalogue | None = None) -> dict[str, ModelSpec]:
    """Downloads by name."""
    specs: dict[str, ModelSpec] = {}
    for entry in (catalogue or model_catalogue()).models:
        if entry.shipped:
            continue
        for spec in (_model(entry), *(_gguf(entry, file) for file in entry.gguf)):
            specs.setdefault(spec.name, spec)  # of two GGUF files of one quantisation the first named one
    return specs


def _model(entry: Entry) -> ModelSpec:
    known = [FileSpec(name=file.name, bytes=file.size or None, sha256=file.sha256 or None) for file in entry.files]
    return ModelSpec(name=entry.id, repository=entry.repository, revision=entry.revision, files=known)


def _gguf(entry: Entry, file: GgufFile) -> ModelSpec:
    size = None if file.approximate else file.size or None
    known = [FileSpec(name=file.file, bytes=size, sha256=file.sha256 or None)] if file.file else []
    return ModelSpec(
        name=f"{entry.id}-{file.quantisation.lower()}",
        repository=file.repository,
        revision=file.revision,
        files=known,
        only=[file.file] if file.file and file.parts == 1 else [],
        quantisation=file.quantisation,
    )

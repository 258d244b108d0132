"""A model as models/fit/ways.py needs it: from its config.json, a GGUF file's header, or an estimate from the hub's
listing."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.files.gguf import ARCHITECTURES, is_gguf, parts_of
from sapo_desktop.core.models import HubModel
from sapo_desktop.models.catalogue import BITS_A_WEIGHT, model_catalogue
from sapo_desktop.models.files.folder import LONGEST_CONTEXT, read_json
from sapo_desktop.models.files.gguf_file import check_gguf
from sapo_desktop.models.fit.shape import shape_of
from sapo_desktop.models.fit.ways import AS_IT_IS, Model
from sapo_desktop.models.starter import STARTER, starter_folder


def describe(path: Path) -> Model:
    """The model in a folder of transformers' layout, or in a GGUF file (the first of several parts).

    Raises:
        ModelError: its shape is unknown.
    """
    return _gguf(path) if is_gguf(path) else _folder(path)


def supposed(found: HubModel) -> Model:
    """Estimate a model of the hub, whose parameters and architecture are known. The shape is the catalogue's nearest
    of that architecture, with the number of layers adjusted."""
    entries = [entry for entry in model_catalogue().models if not entry.shipped]
    alike = [entry for entry in entries if entry.architecture == found.architecture] or entries
    nearest = min(alike, key=lambda entry: abs(math.log(entry.exact_parameters / found.parameters)))
    shape = nearest.shape
    rest = found.parameters - (nearest.exact_parameters - shape.linear_weights)
    return Model(
        id=found.repository,
        shape=msgspec.structs.replace(shape, layers=max(1, round(rest * shape.layers / shape.linear_weights))),
        architecture=nearest.architecture,
        context=nearest.context,
        gguf={AS_IT_IS: found.bytes} if found.kind == "gguf" else _sizes(found.parameters),
        trainable=bool(found.architecture),
    )


def _sizes(parameters: int) -> dict[str, int]:
    """Bytes that llama.cpp would use, by number format."""
    return {name: int(parameters * bits / 8) for name, bits in BITS_A_WEIGHT.items()}


def _folder(path: Path) -> Model:
    config = read_json(path / "config.json")
    match config.get("architectures"), config.get("max_position_embeddings"):
        case [str(architecture), *_], int(context) if 0 < context <= LONGEST_CONTEXT:
            pass
        case _:
            raise ModelError(
                "{path} does not describe a model: it has no architecture or context. Choose another one.",
                path=str(path / "config.json"),
            )
    shape, shipped = shape_of(config), path == starter_folder()
    return Model(
        id=STARTER if shipped else path.name,
        shape=shape,
        architecture=architecture,
        context=context,
        gguf=_sizes(shape.parameters(architecture)),
        shipped=shipped,
    )


def _gguf(path: Path) -> Model:
    file = check_gguf(parts_of(path))
    if file.shape is None or not 0 < file.context <= LONGEST_CONTEXT:
        raise ModelError(
            "{path} does not describe the model's shape in the usual way. Choose another model.", path=str(path)
        )
    return Model(
        id=path.stem,
        shape=msgspec.structs.replace(file.shape, tied=not file.own_head),
        architecture=ARCHITECTURES.get(file.architecture, file.architecture),
        context=file.context,
        gguf={AS_IT_IS: file.bytes + file.held_twice},
        trainable=not file.only_answers,
    )

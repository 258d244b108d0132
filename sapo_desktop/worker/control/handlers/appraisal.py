"""What would run here: the worker's answer, and `python -m sapo_desktop.worker.control.handlers.appraisal --data DIR`
where no node runs.

That process reads one request from standard input and writes the reply to standard output, both JSON. A node started
for the question would load the very model that may not fit. Memory is looked at anew at every call.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.fitting import Fit
from sapo_desktop.core.settings import Settings
from sapo_desktop.models.catalogue import model_catalogue
from sapo_desktop.models.files.store import Store
from sapo_desktop.models.fit.fit import badges, described, fit
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.hardware import Hardware, probe
from sapo_desktop.worker.control.messages.fitting import CatalogueIs, FitIs, FitReply, FitRequest, GetCatalogue, GetFit
from sapo_desktop.worker.hosts.librarian import models_folder


def appraise(request: FitRequest, settings: Settings, folder: Path, held: int = 0) -> FitReply:
    """Answer; `folder`: any on the disk that counts, there or not. `held`: bytes that this node's own model takes now,
    and another one in its place could have."""
    here = hardware(folder)
    here = msgspec.structs.replace(here, memory_free=min(here.memory, here.memory_free + held))
    built = importlib.util.find_spec("llama_cpp") is not None
    match request:
        case GetFit():
            machine = described(request.ram, request.vram, here)
            return FitIs(fit=_fit(machine, settings, built or machine is not here))
        case GetCatalogue():
            models = badges(here, model_catalogue(), settings, downloaded(settings), llama_cpp=built)
            return CatalogueIs(models=models)


def _fit(machine: Hardware, settings: Settings, llama_cpp: bool) -> Fit:
    found = fit(machine, model_catalogue(), settings, llama_cpp=llama_cpp)
    if llama_cpp:
        return found
    note = (
        "llama.cpp, which answers where memory is too short to learn, is not built here: installers/bootstrap.py llama"
    )
    available = msgspec.structs.replace(found.available, notes=(*found.available.notes, note))
    return msgspec.structs.replace(found, available=available)


def hardware(folder: Path) -> Hardware:
    """This computer now; the disk is that of `folder` or of what is above it."""
    return probe(next(place for place in (folder, *folder.absolute().parents) if place.exists()))


def downloaded(settings: Settings) -> frozenset[str]:
    """Names of the models in the models folder."""
    return frozenset(model.name for model in Store(models_folder(settings)).contents().models)


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer one request; returns the exit code."""
    parser = argparse.ArgumentParser(prog="sapo_desktop.worker.control.handlers.appraisal", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    folder = parser.parse_args(arguments).data
    try:
        request = msgspec.json.decode(sys.stdin.buffer.read(), type=FitRequest)
        path = DataFolder.at(folder).settings
        settings = settings_file.read(path, time.time()).settings if path.exists() else Settings()
        sys.stdout.buffer.write(msgspec.json.encode(appraise(request, settings, folder)))
    except SapoError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

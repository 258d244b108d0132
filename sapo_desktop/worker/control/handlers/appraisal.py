"""What would run here: the worker's answer, and `python -m sapo_desktop.worker.control.handlers.appraisal --data DIR`
without a node.

That process reads one request from standard input and writes the reply to standard output, both in JSON. Starting a
node for the question would load the model that may not fit. Memory is read at every call; the processor is measured
once, for a second.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import ModelError, SapoError, TooBig
from sapo_desktop.core.fitting import Fit, Pace, ProductTimes
from sapo_desktop.core.sentences import sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.models.catalogue import model_catalogue
from sapo_desktop.models.describe import describe, supposed
from sapo_desktop.models.files.locate import locate
from sapo_desktop.models.files.store import Store
from sapo_desktop.models.fit.fit import badges, estimate, fit
from sapo_desktop.models.fit.formats import remember, with_measured
from sapo_desktop.models.fit.pace import shown
from sapo_desktop.models.fit.room import described
from sapo_desktop.models.fit.ways import Model, plan
from sapo_desktop.system import processes
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.hardware import Hardware, probe
from sapo_desktop.system.installation import can_learn
from sapo_desktop.worker.control.messages.models import (
    CatalogueIs,
    EstimatesAre,
    FitIs,
    FitReply,
    FitRequest,
    GetCatalogue,
    GetEstimates,
    GetFit,
)
from sapo_desktop.worker.control.parent import last_words
from sapo_desktop.worker.hosts.librarian import models_folder
from sapo_desktop.worker.store.played import last_played

NOT_BUILT = sentence(
    "llama.cpp is not built here. It answers when memory is too short to learn. To build it: "
    "python3 installers/bootstrap.py llama"
)
_MOVES = 0.1
ROUNDS = 10
"""Number of recent rounds that determine the pace."""
_MEASURED = "smollm2-135m"
"""The model at whose width the processor is measured: the smallest common one."""
_MEASURING_SECONDS = 40.0
NO_PACK = sentence(
    "Nothing can be trained here until the engine pack is installed.", in_terminal="sapo-desktop engine install"
)


class Steady:
    """A number of bytes that only changes when the measured value moves by a tenth of the whole, so that estimates
    do not flicker."""

    def __init__(self) -> None:
        self._said = -1

    def __call__(self, found: int, whole: int) -> int:
        """The value to report for `found`."""
        if self._said < 0 or abs(found - self._said) > _MOVES * whole:
            self._said = found
        return self._said


Measure = Callable[[], ProductTimes | None]


def measured_apart() -> ProductTimes | None:
    """A second of measuring in a separate process; None if that is impossible."""
    entry = model_catalogue().find(_MEASURED)
    if entry is None or not can_learn():
        return None
    words = [str(entry.shape.hidden), str(entry.shape.ffn)]
    try:
        done = subprocess.run(
            [*processes.python_command("sapo_desktop.engines.torch.products"), *words],
            env=processes.python_environment({}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_MEASURING_SECONDS,
            check=True,
        )
        return msgspec.json.decode(done.stdout, type=ProductTimes)
    except (OSError, subprocess.SubprocessError, msgspec.DecodeError):
        return None


def appraise(
    request: FitRequest,
    settings: Settings,
    folder: Path,
    held: int = 0,
    steady: Steady | None = None,
    measure: Measure = measured_apart,
) -> FitReply:
    """Answer a request. `folder`: any folder on the relevant disk, existing or not. `held`: bytes of this node's own
    model, which another one could use. `steady`: the previously reported free memory. `measure`: measure the
    processor if that was never done."""
    here = _with_pace(_measured(hardware(folder), DataFolder.at(folder).cache, measure), settings, folder)
    free = min(here.memory, here.memory_free + held)
    here = msgspec.structs.replace(here, memory_free=(steady or Steady())(free, here.memory))
    built = importlib.util.find_spec("llama_cpp") is not None
    match request:
        case GetFit():
            machine = described(request.ram, request.vram, here)
            return FitIs(fit=_fit(machine, settings, built or machine is not here))
        case GetCatalogue():
            models = badges(
                here, model_catalogue(), settings, Store(models_folder(settings)).contents().models, llama_cpp=built
            )
            return CatalogueIs(models=models, disk_free=hardware(models_folder(settings)).disk_free)
        case GetEstimates(models=names, hub=hub):
            known = {one.repository: supposed(one) for one in hub} | _described(names, models_folder(settings))
            found = {name: estimate(model, here, settings, llama_cpp=built) for name, model in known.items()}
            return EstimatesAre(estimates=found)


def _measured(here: Hardware, cache: Path, measure: Measure) -> Hardware:
    known = with_measured(here, cache)
    if known.products or (times := measure()) is None:
        return known
    with contextlib.suppress(OSError):  # nothing was stored here yet: the next request measures again
        remember(cache, times)
    return with_measured(here, cache, [times])


def _with_pace(here: Hardware, settings: Settings, folder: Path) -> Hardware:
    """The hardware with the pace of the last rounds on this computer."""
    return msgspec.structs.replace(here, pace=_pace(here, settings, folder))


def _pace(here: Hardware, settings: Settings, folder: Path) -> Pace | None:
    played = last_played(DataFolder.at(folder).history, ROUNDS)
    if played is None:
        return None
    manifest = played.manifest
    try:
        model = describe(locate(str(manifest.settings.get("model")), models_folder(settings)))
        way = plan(
            model,
            here,
            settings,
            running=here.memory,
            device=manifest.device.partition(":")[0],
            precision=manifest.dtype,
        )
    except (ModelError, TooBig):
        return None  # it is gone, or cannot learn
    return shown(played.reports, way, model.shape, here, manifest.threads)


def _fit(machine: Hardware, settings: Settings, llama_cpp: bool) -> Fit:
    found = fit(machine, model_catalogue(), settings, llama_cpp=llama_cpp)
    notes = [] if llama_cpp else [NOT_BUILT]
    notes += [] if can_learn() else [NO_PACK]
    available = msgspec.structs.replace(found.available, notes=(*found.available.notes, *notes))
    return msgspec.structs.replace(found, available=available)


def hardware(folder: Path) -> Hardware:
    """This computer now; the disk is that of `folder` or of its nearest existing parent."""
    return probe(next(place for place in (folder, *folder.absolute().parents) if place.exists()))


def _described(names: Sequence[str], folder: Path) -> dict[str, Model]:
    """Descriptions of the readable ones among these models."""
    found = {}
    for name in names:
        with contextlib.suppress(ModelError, OSError):
            found[name] = describe(locate(name, folder))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer one request; returns the exit code."""
    parser = argparse.ArgumentParser(prog="sapo_desktop.worker.control.handlers.appraisal", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    folder = parser.parse_args(arguments).data
    try:
        request = msgspec.json.decode(sys.stdin.buffer.read(), type=FitRequest)
        path = DataFolder.at(folder).settings
        settings = settings_file.read(path).settings if path.exists() else Settings()
        sys.stdout.buffer.write(msgspec.json.encode(appraise(request, settings, folder)))
    except SapoError as error:
        print(last_words(error), file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

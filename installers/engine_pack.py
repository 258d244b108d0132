"""The engine pack (torch and peft) for an application installed without it: `python -m installers.engine_pack`.

    install FOLDER [--from FOLDER]     download what is missing, install, test; resumes an interrupted run
    fetch FOLDER                       fill a folder, for `--from` on a computer without a network
    remove FOLDER

`FOLDER/downloads` keeps whole wheels until everything is installed; `FOLDER/packages` appears by a rename once torch
has computed something from it. The requirements are those lines of the platform's lock that the application lacks. Run
by the application's own Python and pip; pip's settings (mirror, proxy, certificates) hold, as in a clone.
"""

from __future__ import annotations

import _thread
import argparse
import contextlib
import hashlib
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TextIO

from installers.environment import alone, check_space
from installers.flavour import Flavour, choose
from installers.progress import Progress
from installers.tool import clean_environment
from installers.torch_build import get_torch
from installers.trouble import CommandFailed, SetupError

REQUIREMENTS = Path(__file__).resolve().parent.parent / "packaging" / "requirements"
LEARNS = ("torch", "peft", "accelerate")
"""Only an engine needs these; if torch brings more (its CUDA build), the lock lists it."""
STAMP = "engine.json"
SIZES_MB = {"linux-cpu": (195, 1_000)}
"""Kind -> measured download, and maximum disk space during installation (docs/installing.md)."""
TRY = "import torch, peft; assert torch.ones(2, 2).matmul(torch.ones(2, 2)).sum() == 8"


def entries(lock: Path) -> dict[str, str]:
    """Name of each package of a lock -> its lines with hashes; all lines if it has several versions."""
    found: dict[str, str] = {}
    for block in re.split(r"(?m)^(?=[a-z0-9])", lock.read_text()):
        if match := re.match(r"[a-z0-9.-]+(?===)", block):
            found[match[0]] = found.get(match[0], "") + block
    return found


def of_application(lock: str) -> dict[str, str]:
    """What an installed application has from the start: `lock`, of the CPU build, without the engine pack."""
    return {name: lines for name, lines in entries(REQUIREMENTS / f"{lock}.txt").items() if name not in LEARNS}


def of_pack(flavour: Flavour) -> dict[str, str]:
    """What the engine pack adds. torch comes first if it has its own index."""
    present = of_application(flavour.name.replace("-cuda", "-cpu"))
    torch = entries(REQUIREMENTS / f"{flavour.torch_lock}.txt") if flavour.torch_lock else {}
    return torch | {
        name: lines for name, lines in entries(REQUIREMENTS / f"{flavour.name}.txt").items() if name not in present
    }


def fingerprint(flavour: Flavour) -> str:
    """Hash of everything that distinguishes one pack from another."""
    text = "".join([f"{sys.version_info[:2]}\n", *of_pack(flavour).values()])
    return hashlib.sha256(text.encode()).hexdigest()


def install(folder: Path, flavour: Flavour, out: TextIO, source: Path | None = None) -> None:
    """Install the pack into `folder`, from the network or from `source`, a folder that `fetch` filled.

    Raises:
        SetupError: it failed; the text says why, and what is there already is kept.
    """
    with _own(folder, out):
        fetched, needed = SIZES_MB.get(flavour.name, (None, flavour.disk_mb))
        out.write(_announcement(flavour, fetched, needed, source))
        check_space(shutil.disk_usage(folder).free // 10**6, _megabytes(folder / "downloads"), needed, folder)
        progress = Progress(out, len(of_pack(flavour)) + 2, folder / "engine.log")
        flavour = _fetch(folder / "downloads", flavour, progress, source)
        part = folder / "packages.part"
        shutil.rmtree(part, ignore_errors=True)
        with progress.step("Installing"):
            _install(of_pack(flavour), folder / "downloads", part, progress)
        with progress.step("Trying it"):
            _try(part, progress)
        (part / STAMP).write_text(json.dumps({"kind": flavour.name, "fingerprint": fingerprint(flavour)}))
        _put_in_place(part, folder / "packages")
        shutil.rmtree(folder / "downloads", ignore_errors=True)
        progress.finished()


def fetch(folder: Path, flavour: Flavour, out: TextIO) -> None:
    """Only download: afterwards `folder` serves `install --from` on any computer of this kind. Raises SetupError."""
    with _own(folder, out):
        progress = Progress(out, len(of_pack(flavour)), folder / "engine.log")
        _fetch(folder, flavour, progress, None)
        progress.finished()


def remove(folder: Path) -> None:
    """Delete everything; on Windows, what a running node uses may stay until it ends. Raises SetupError."""
    try:
        if folder.exists():
            shutil.rmtree(folder)
    except OSError as error:
        raise SetupError(f"{error.filename} is in use or not yours: end SAPO Desktop, then try again.") from error


@contextlib.contextmanager
def _own(folder: Path, out: TextIO) -> Iterator[None]:
    """The folder, created, for this process alone."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SetupError(
            f"{folder} cannot be made ({error.strerror}). Check the free space and its permissions."
        ) from error
    with alone(folder, out):
        yield


def _announcement(flavour: Flavour, fetched: int | None, needed: int, source: Path | None) -> str:
    size = f"{fetched} MB" if fetched else "some gigabytes" if "cuda" in flavour.name else "some hundred megabytes"
    minutes = f" (half a minute at 50 Mbit/s, {fetched * 8 // 5 // 60} minutes at 5)" if fetched else ""
    way = f"from {source}" if source else f"over the network{minutes}"
    return (
        f"The engine pack for {flavour.name}: {size} {way}, {needed / 1000:.1f} GB of disk while it is installed. "
        "It can be stopped at any time; the same command continues.\n"
    )


def _fetch(into: Path, flavour: Flavour, progress: Progress, source: Path | None) -> Flavour:
    """Download what is missing; returns its flavour: the plain one if no source has torch's build."""
    into.mkdir(parents=True, exist_ok=True)
    for name, lines in of_pack(flavour).items():
        with progress.step(name):
            if _is_there(name, lines, into):
                continue
            one = into / "wanted.txt"
            one.write_text(lines)
            command = [*_pip("download"), "--dest", str(into), "--require-hashes", "-r", str(one)]
            command += ["--no-index", "--find-links", str(source)] if source else []
            if name != "torch" or not flavour.torch_index or source:
                progress.run(command, _environment(into))
                continue
            asking = ["--extra-index-url", flavour.torch_index]
            got = get_torch(flavour, command, asking, progress, _environment(into))
        if got is not flavour:
            check_space(shutil.disk_usage(into).free // 10**6, _megabytes(into), got.disk_mb, into)
            progress.steps += len(of_pack(got)) - len(of_pack(flavour)) + 1
            return _fetch(into, got, progress, source)
    (into / "wanted.txt").unlink(missing_ok=True)
    return flavour


def _is_there(name: str, lines: str, folder: Path) -> bool:
    """Whether a complete wheel was downloaded before; pip moves only complete ones into place."""
    hashes = set(re.findall(r"sha256:([0-9a-f]{64})", lines))
    for wheel in folder.glob(f"{name.replace('-', '_')}-*.whl"):
        if hashlib.sha256(wheel.read_bytes()).hexdigest() in hashes:
            return True
        wheel.unlink()  # damaged on the disk
    return False


def _install(wanted: dict[str, str], wheels: Path, into: Path, progress: Progress) -> None:
    files = [str(next(wheels.glob(f"{name.replace('-', '_')}-*.whl"))) for name in wanted]
    command = [*_pip("install"), "--no-index", "--no-compile", "--target", str(into), *files]
    progress.run(command, _environment(wheels))


def _try(packages: Path, progress: Progress) -> None:
    paths = [str(packages), os.environ.get("PYTHONPATH", "")]
    env = {**_environment(packages), "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    try:
        progress.run([sys.executable, "-P", "-c", TRY], env)
    except CommandFailed as error:
        shutil.rmtree(packages, ignore_errors=True)
        raise SetupError(
            f"The engine pack was installed but does not run on this computer, so it was removed again. {error}"
        ) from error


def _put_in_place(part: Path, place: Path) -> None:
    before = place.with_name("packages.before")
    shutil.rmtree(before, ignore_errors=True)
    try:
        if place.exists():
            place.rename(before)
        part.rename(place)
    except OSError as error:
        raise SetupError(f"{place} is in use ({error.strerror}): end SAPO Desktop, then try again.") from error
    shutil.rmtree(before, ignore_errors=True)


def _pip(what: str) -> list[str]:
    newer = tuple(int(part) for part in version("pip").split(".")[:2]) >= (25, 1)
    moving = ["--progress-bar", "raw", "--resume-retries", "20"] if newer and what == "download" else []
    words = ["--no-input", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:"]
    return [sys.executable, "-P", "-m", "pip", what, *words, *(moving or ["--progress-bar", "off"])]


def _environment(place: Path) -> dict[str, str]:
    """Temporary files are on the disk whose free space was checked. Forbidden bytecode stays forbidden: new files in
    an installed program would break its signature."""
    env = clean_environment({**os.environ, "TMPDIR": str(place.parent), "PIP_USER": "0", "PIP_NO_CACHE_DIR": "1"})
    if forbidden := os.environ.get("PYTHONDONTWRITEBYTECODE"):
        env["PYTHONDONTWRITEBYTECODE"] = forbidden
    return env


def _megabytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("*.whl")) // 10**6


def _stop_with_the_starter() -> None:
    """Stop, as by Ctrl-C, once the process at the other end of standard input has ended: nobody else could stop it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # it may have been ignored where the starter began

    def wait() -> None:
        while os.read(0, 1024):
            pass
        _thread.interrupt_main()

    threading.Thread(target=wait, daemon=True).start()


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; returns 0, or 1 with a sentence on standard error."""
    parser = argparse.ArgumentParser(prog="installers.engine_pack", description=__doc__)
    parser.add_argument("what", choices=("install", "fetch", "remove"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--from", dest="source", type=Path, metavar="FOLDER")
    parser.add_argument("--started", action="store_true", help="stop once standard input ends")
    given = parser.parse_args(arguments)
    if given.started:
        _stop_with_the_starter()
    try:
        if given.what == "remove":
            remove(given.folder)
            return 0
        flavour = choose(platform.system(), platform.machine())
        if given.what == "fetch":
            fetch(given.folder, flavour, sys.stderr)
        else:
            install(given.folder, flavour, sys.stderr, given.source)
    except (SetupError, subprocess.SubprocessError) as error:
        sys.stderr.write(f"\n{error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("\nStopped. The same command continues from here.\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

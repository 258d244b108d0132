"""The checkout's own environment, `.venv`: created, filled from the lock, resumed after a kill, recognised when ready.

A stamp file in it, written last, names the lock, Python and path it was made for; while it matches, starting only reads
that file. Packages that a kill left half installed are removed before continuing. Left out: llama.cpp (llama.py),
because a node runs without it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Literal, TextIO, TypeAlias

from installers.flavour import FLAVOURS, RELAY, Flavour, choose
from installers.progress import Progress
from installers.tool import Tool, find_tool
from installers.torch_build import get_torch
from installers.trouble import SetupError

Purpose: TypeAlias = Literal["relay", "run", "test", "slow"]
PURPOSES: tuple[Purpose, ...] = ("run", "test", "slow")  # each includes all before it
FORMAT = "2"
SOURCES = "sources"
# reasoning_gym imports pycosat only for zebra_puzzles, which is not in the catalogue. It exists as C source only, so
# every volunteer would need a compiler: an empty module replaces it.
STAND_IN = '"""Stands in for pycosat, which needs a C compiler and which SAPO Desktop does not use."""\n'
TITLES = {
    "sources": "Packages without a wheel",
    "pip": "pip",
    "test": "Test tools",
    "slow": "Packages for the slow tests",
}


def environment_python(root: Path) -> Path:
    """The environment's interpreter on this system."""
    return root / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def is_ready(root: Path, purpose: Purpose) -> bool:
    """Whether the stamp matches the locks, the Python and the path; reads three small files."""
    try:
        flavour, found = _stamp(root, purpose).read_text().split()
        return found == fingerprint(root, purpose, RELAY if purpose == "relay" else FLAVOURS[flavour])
    except (OSError, ValueError, KeyError):
        return False


def fingerprint(root: Path, purpose: Purpose, flavour: Flavour) -> str:
    """Hash of everything the environment depends on."""
    parts = [FORMAT, purpose, str(root), platform.machine(), str(sys.version_info[:2]), flavour.name]
    content = b"".join(lock.read_bytes() for lock in _locks(root, purpose, flavour))
    return hashlib.sha256("\n".join(parts).encode() + content).hexdigest()


def prepare(root: Path, purpose: Purpose, out: TextIO) -> Path:
    """The interpreter of an environment that is ready for `purpose`, created or completed if necessary.

    Raises:
        SetupError: that failed; the text says why and what to do.
    """
    if not is_ready(root, purpose):
        with alone(root, out) as lock:
            if not is_ready(root, purpose):  # another start may have finished while we waited
                _fill(root, purpose, out, lock)
    return environment_python(root)


@contextlib.contextmanager
def alone(root: Path, out: TextIO) -> Iterator[IO[str]]:
    """Hold this checkout's setup lock. Tools inherit it (except on Windows), so that one that outlives a killed
    start still counts."""
    folder = root / ".cache"
    try:
        folder.mkdir(exist_ok=True)
        lock = (folder / "setup.lock").open("a")
    except OSError as error:
        raise SetupError(
            f"The environment is made inside the checkout, and {folder} cannot be written ({error.strerror}). "
            "Clone into a folder of your own, for instance in your home, and start from there."
        ) from error
    with lock:
        if not _locked(lock):
            out.write("Another setup is running in this checkout; waiting for it ...\n")
            out.flush()
            while not _locked(lock):
                time.sleep(1)
        yield lock


def _locked(lock: IO[str]) -> bool:
    """Take the lock, unless another process has it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def check_space(free_mb: int, present_mb: int, needed_mb: int, folder: Path) -> None:
    """Raises SetupError if `free_mb` and the remains of an earlier start are less than `needed_mb`."""
    if free_mb + present_mb < needed_mb:
        raise SetupError(
            f"Setup needs {needed_mb / 1000:.1f} GB in {folder}, and {(free_mb + present_mb) / 1000:.1f} GB are "
            "free. Make room there, or clone onto another disk, then type the same command again."
        )


def _fill(root: Path, purpose: Purpose, out: TextIO, lock: IO[str]) -> None:
    flavour = RELAY if purpose == "relay" else choose(platform.system(), platform.machine())
    venv = root / ".venv"
    check_space(shutil.disk_usage(root).free // 10**6, _size_mb(venv), flavour.disk_mb, root)
    tool, python = find_tool(), environment_python(root)
    steps = 1 + len(_locks(root, purpose, flavour))
    progress = Progress(out, steps, root / ".cache" / "setup.log")
    out.write(f"Setting up SAPO Desktop for {flavour.name} in {venv} (once; an interrupted setup continues).\n")
    keep_open = [] if os.name == "nt" else [lock.fileno()]
    scratch = root / ".cache" / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)  # of an interrupted setup
    scratch.mkdir()
    env = tool.environment(scratch)

    with progress.step(f"Environment ({tool.name}, Python {platform.python_version()})"):
        for ready in [_stamp(root, "relay")] if purpose == "relay" else venv.glob("sapo-*.stamp"):
            ready.unlink(missing_ok=True)
        _create(root, venv, tool, progress, env, keep_open)
    if flavour.torch_lock and flavour.torch_index:
        with progress.step("PyTorch"):
            command = tool.install(python, _lock(root, flavour.torch_lock))
            asking = tool.extra_index(flavour.torch_index)
            chosen, flavour = flavour, get_torch(flavour, command, asking, progress, env, keep_open)
        if flavour is not chosen:
            check_space(shutil.disk_usage(root).free // 10**6, _size_mb(venv), flavour.disk_mb, root)
    for path in _locks(root, purpose, flavour)[bool(flavour.torch_lock) :]:
        with progress.step(TITLES.get(path.stem, "Packages"), of=_count(path)):
            command = tool.install(python, path, sources=path.stem == SOURCES)
            progress.run(command, env, keep_open)
    shutil.rmtree(scratch, ignore_errors=True)
    for done in _served(purpose):
        _write_last(_stamp(root, done), f"{flavour.name} {fingerprint(root, done, flavour)}\n")
    progress.finished()


def _create(
    root: Path, venv: Path, tool: Tool, progress: Progress, env: Mapping[str, str], keep_open: list[int]
) -> None:
    if _works(environment_python(root)):
        remove_half_installed(venv)
    else:
        shutil.rmtree(venv, ignore_errors=True)
        progress.run([*tool.create, str(venv)], env, keep_open)
        if tool.uv:  # the others include pip; uv would download it, without checking a hash
            progress.run(tool.install(environment_python(root), _lock(root, "pip")), env, keep_open)
    packages = _site_packages(venv)
    (packages / "pycosat.py").write_text(STAND_IN)
    # Relative: Python 3.11 and 3.12 read the file in the system's encoding, which may not cover every folder's name.
    (packages / "sapo_desktop_checkout.pth").write_text(os.path.relpath(root, packages) + "\n")


def _works(python: Path) -> bool:
    """Whether the environment exists, has pip, and has this Python's version."""
    question = f"import sys, pip; sys.exit(sys.version_info[:2] != {sys.version_info[:2]})"
    try:
        return subprocess.run([python, "-c", question], capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def remove_half_installed(venv: Path) -> None:
    """Make half-installed packages count as missing: installers write INSTALLER at the end."""
    for info in _site_packages(venv).glob("*.dist-info"):
        if not (info / "INSTALLER").exists() or not (info / "RECORD").exists():
            shutil.rmtree(info)


def _locks(root: Path, purpose: Purpose, flavour: Flavour) -> list[Path]:
    """In the order of installation: what builds the sources is in the lock before them. Tests build the programs for
    Windows from pip's files, which Debian's pip lacks."""
    served = _served(purpose)[1:]
    names = (flavour.torch_lock, flavour.name, SOURCES, *(["pip"] if "test" in served else []), *served)
    return [_lock(root, name) for name in names if name]


def _lock(root: Path, name: str) -> Path:
    return root / "packaging" / "requirements" / f"{name}.txt"


def _served(purpose: Purpose) -> tuple[Purpose, ...]:
    """What an environment for `purpose` is ready for."""
    return PURPOSES[: PURPOSES.index(purpose) + 1] if purpose in PURPOSES else (purpose,)


def _stamp(root: Path, purpose: str) -> Path:
    return root / ".venv" / f"sapo-{purpose}.stamp"


def _write_last(path: Path, text: str) -> None:
    part = path.with_suffix(".part")
    part.write_text(text)
    part.replace(path)


def _count(lock: Path) -> int:
    return len(set(re.findall(r"^([a-z0-9.-]+)==", lock.read_text(), re.MULTILINE)))


def _site_packages(venv: Path) -> Path:
    if os.name == "nt":
        return venv / "Lib" / "site-packages"
    return venv / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"


def _size_mb(folder: Path) -> int:
    sizes = (Path(at, name).lstat().st_size for at, _, names in os.walk(folder) for name in names)
    return sum(sizes) // 10**6

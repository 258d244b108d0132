"""llama.cpp for this computer: from a cache, or built once from llama-cpp-python's source, and installed.

The index has no wheel of it. Ours contains several variants of its x86-64 code, of which the best one that runs is
loaded (engines/llama_cpp/model.py), and does not use OpenMP, whose active waiting makes threads very slow on a busy
computer. A node runs without it; tests that need it are then skipped.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TextIO

from installers.environment import alone, environment_python
from installers.progress import Progress
from installers.tool import clean_environment
from installers.trouble import GET_COMPILER, CommandFailed

VERSION = "0.3.36"
BUILD = 2
"""Increased when the same version is built differently: wheels of another build are not used."""
PORTABLE = ("-DGGML_NATIVE=OFF", "-DGGML_OPENMP=OFF", "-DLLAVA_BUILD=OFF")
VARIANTS = ("-DGGML_BACKEND_DL=ON", "-DGGML_CPU_ALL_VARIANTS=ON")
"""Everything that llama_build.cmake leaves."""
INSIDE = tuple(
    f"-DCMAKE_INSTALL_{kind}DIR=llama_cpp/{folder}"
    for kind, folder in (("BIN", "lib"), ("LIB", "lib"), ("INCLUDE", "include"))
)
"""Otherwise variants would be in the environment's bin/, and everything twice."""
X86 = {"x86_64", "amd64"}
COMPILERS = ("c++", "g++", "clang++", "cl")


def provide(root: Path, out: TextIO) -> bool:
    """Whether llama.cpp is in the environment afterwards; if not, `out` gets the reason in a sentence."""
    python = environment_python(root)
    if _installed(python):
        return True
    with alone(root, out):
        progress = Progress(out, 1, root / ".cache" / "setup.log")
        try:
            with progress.step(f"llama.cpp (llama-cpp-python {VERSION})"):
                wheel = find_wheel(wheel_folders(root)) or _build(root, python, progress)
                if wheel is None:
                    return False
                command = [str(python), "-m", "pip", "install", "--no-deps", "--no-index", "--force-reinstall"]
                progress.run([*command, str(wheel)], _environment())
        except CommandFailed as error:
            progress.note(f"llama.cpp is left out; everything else works without it. {error}")
            return False
    return True


def wheel_folders(root: Path) -> list[Path]:
    """The folders for wheels of this build: the checkout's own, and the user's cache, which outlives a clone."""
    if sys.platform == "win32":
        cache = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    else:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return [folder / f"llama-{BUILD}" for folder in (root / ".cache" / "wheels", cache / "sapo-desktop" / "wheels")]


def find_wheel(folders: list[Path]) -> Path | None:
    """A wheel of our version for this kind of computer."""
    system = {"linux": "linux", "darwin": "macosx", "win32": "win"}.get(sys.platform, sys.platform)
    machine = platform.machine().lower()
    for folder in folders:
        for wheel in sorted(folder.glob(f"llama_cpp_python-{VERSION}-*{system}*.whl")):
            if wheel.stem.lower().endswith(machine):
                return wheel
    return None


def build_flags(machine: str) -> tuple[str, ...]:
    """The build's configuration on `platform.machine()`."""
    less = f"-DCMAKE_PROJECT_llama_cpp_INCLUDE={Path(__file__).with_name('llama_build.cmake').absolute().as_posix()}"
    return (*PORTABLE, *INSIDE, less, *(VARIANTS if machine.lower() in X86 else ()))


def _build(root: Path, python: Path, progress: Progress) -> Path | None:
    """Build the wheel, store it in both folders, and return it; None without a compiler."""
    if not any(shutil.which(name) for name in COMPILERS):
        progress.note("No C++ compiler was found, so llama.cpp is left out; everything else works without it.")
        progress.note(f"To get it, install one ({GET_COMPILER}), then python3 installers/bootstrap.py llama")
        return None
    progress.note("Building it from source: this takes some minutes, once. The wheel is kept for other clones.")
    env = _environment()
    env["CMAKE_ARGS"] = shlex.join(build_flags(platform.machine()))
    env.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count() or 1))
    folders, locks = wheel_folders(root), root / "packaging" / "requirements"
    with tempfile.TemporaryDirectory(dir=root / ".cache") as folder:
        pip = [str(python), "-m", "pip"]
        checked = ["--no-deps", "--require-hashes"]
        tools = ["--only-binary", ":all:", "--target", f"{folder}/tools", "-r", str(locks / "build.txt")]
        progress.run([*pip, "install", *checked, *tools], env)
        source = ["--no-binary", ":all:", "--no-cache-dir", "-r", str(locks / "llama.txt"), "--wheel-dir", folder]
        command = [*pip, "wheel", *checked, "--no-build-isolation", *source]
        progress.run([*_gently(), *command], {**env, "PYTHONPATH": f"{folder}/tools"})
        built = next(Path(folder).glob("*.whl"))
        checkout, cache = folders
        _keep(built, checkout)
        try:
            _keep(built, cache)
        except OSError as error:
            progress.note(f"Other clones will build it again: {cache} cannot be written ({error.strerror}).")
    return find_wheel(folders)


def _keep(wheel: Path, folder: Path) -> None:
    """Copy so that a killed start leaves no half wheel under the final name."""
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{wheel.name}.part"
    shutil.copyfile(wheel, part)
    part.replace(folder / wheel.name)


def _installed(python: Path) -> bool:
    """Whether our version is in the environment, and not an earlier build of ours."""
    question = (
        "from importlib.metadata import distribution; found = distribution('llama-cpp-python'); "
        f"assert found.version == '{VERSION}'; "
        "assert '/wheels/llama_cpp_python-' not in (found.read_text('direct_url.json') or '')"
    )
    return subprocess.run([python, "-c", question], capture_output=True).returncode == 0


def _environment() -> dict[str, str]:
    return clean_environment({**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_USER": "0"})


def _gently() -> list[str]:
    nice = shutil.which("nice")
    return [nice, "-n", "10"] if nice else []

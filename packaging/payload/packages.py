"""The packages of the platform's lock without the engine pack, checked by hash, for any platform on any computer, by
pip."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from packaging.markers import Marker  # noqa: E402
from platforms import VERSION, Platform  # noqa: E402

from installers import engine_pack  # noqa: E402
from installers.environment import STAND_IN  # noqa: E402

LEFT_OUT = ("matplotlib", "contourpy", "cycler", "fonttools", "kiwisolver", "pillow", "pyparsing")
"""What draws plots of the lab, and nothing else once slim.py was at cellpylib: an eighth of the folder."""
_PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
_QUIET = ["--quiet", "--no-input", "--no-deps"]
_HEAD = re.compile(r"(?P<name>[a-z0-9.-]+)==\S+(?P<marker> ; [^\\]+?)?(?= \\\n)")


def install(folder: Path, platform: Platform, llama: Path | None) -> None:
    """Fill `folder`, which pip creates. `llama`: a wheel of llama.cpp, or None."""
    chosen = {**_chosen(platform), "pip": (engine_pack.REQUIREMENTS / "pip.txt").read_text()}
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as name:
        scratch = Path(name)
        _build_sources(scratch, chosen["setuptools"])
        wheels = _list(scratch / "wheels.txt", list(chosen.values()))
        _put(folder, platform, "--require-hashes", "-r", str(wheels))
        _put(folder, platform, "--no-index", *map(str, sorted(scratch.glob("*.whl"))), *([str(llama)] if llama else []))
    (folder / "pycosat.py").write_text(STAND_IN)
    shutil.rmtree(folder / "bin", ignore_errors=True)  # they contain the path of this computer's Python


def _build_sources(folder: Path, setuptools: str) -> None:
    """Wheels of the packages that have none: plain Python, the same for all systems, built by hashed tools alone."""
    tools, sources = folder / "tools", engine_pack.REQUIREMENTS / "sources.txt"
    checked = [*_QUIET, "--require-hashes"]
    builder = ["--only-binary", ":all:", "--target", str(tools), "-r", str(_list(folder / "tools.txt", [setuptools]))]
    subprocess.run([*_PIP, "install", *checked, *builder], check=True)
    made = ["--no-binary", ":all:", "--no-build-isolation", "--wheel-dir", str(folder), "-r", str(sources)]
    subprocess.run([*_PIP, "wheel", *checked, *made], env={**os.environ, "PYTHONPATH": str(tools)}, check=True)


def _chosen(platform: Platform) -> dict[str, str]:
    """Name -> the line for the platform, with its hashes and without its marker, which pip would evaluate for this
    computer."""
    version = ".".join(map(str, VERSION))
    asked = {**platform.marker, "python_version": version, "python_full_version": f"{version}.0"}
    found = {}
    for lines in engine_pack.of_application(platform.lock).values():
        for block in re.split(r"(?m)^(?=[a-z0-9])", lines):
            head = _HEAD.match(block)
            if head is None or head["name"] in LEFT_OUT:
                continue
            if head["marker"] is None or Marker(head["marker"].lstrip(" ;")).evaluate(asked):
                found[head["name"]] = block.replace(head["marker"] or "", "", 1)
    return found


def _put(folder: Path, platform: Platform, *what: str) -> None:
    version = ".".join(map(str, VERSION))
    abis = (f"cp{version.replace('.', '')}", "abi3", "none")
    tags = [word for tag in platform.wheels for word in ("--platform", tag)]
    tags += [word for abi in abis for word in ("--abi", abi)]
    target = ["--python-version", version, "--implementation", "cp", "--only-binary", ":all:", "--target", str(folder)]
    subprocess.run([*_PIP, "install", *_QUIET, "--no-compile", *tags, *target, *what], check=True)


def _list(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(lines))
    return path

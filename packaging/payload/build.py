"""Makes the folder of an installed application, which runs from anywhere: `python packaging/payload/build.py FOLDER`.

    sapo-desktop    starts the window, or a command; on Windows sapo-desktop.exe, and without a console
                    sapo-desktop-window.exe
    python/         CPython 3.11 (interpreter.py)
    app/            what a clone has of the program, and the marker `payload.json` (sapo_desktop/system/installation.py)
    licences/       of everything in it
    sbom.json       what is in it, as CycloneDX

It has no torch, which is in the engine pack. Packages come hash-checked from the lock of the CPU build, by pip;
llama.cpp from the wheel that `installers/bootstrap.py llama` keeps, or is left out, and then the application says what
to do. Run with Python 3.11. For Linux on Debian 12, x86-64, with apt (package lists), dpkg-deb and patchelf. `--for
windows` and `--for macos` work on any system, with `--python` and `--llama` from that platform. The starter for
llama.cpp needs llama.cpp here too.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT), str(HERE)]

import contents  # noqa: E402
import interpreter  # noqa: E402
import launcher  # noqa: E402
import packages  # noqa: E402
import slim  # noqa: E402
import starter  # noqa: E402
from platforms import PLATFORMS, VERSION, Platform, this_one, up_to  # noqa: E402

from installers import engine_pack  # noqa: E402
from installers.flavour import FLAVOURS, MIN_CAPABILITY, MIN_DRIVER  # noqa: E402
from installers.llama import find_wheel, wheel_folders  # noqa: E402

NOT_COMPILED = r"[/\\](pip|transformers[/\\]models)[/\\]"
"""Large packages of which hardly anything is ever imported."""


def build(folder: Path, platform: Platform, python: Path | None, llama: Path | None) -> None:
    """Make a new folder. `python`: the platform's interpreter, needed except on Linux; `llama`: the wheel of
    llama.cpp, or None to leave it out."""
    if sys.version_info[:2] != VERSION:
        sys.exit("Run this with Python 3.11: packages are installed for the Python that runs it.")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    interpreter.provide(folder / "python", platform, python)
    installed = folder / platform.packages
    packages.install(installed, platform, llama)
    _program(folder / "app", platform)
    (installed / "sapo_desktop.pth").write_text((up_to(platform.packages) / "app").as_posix() + "\n")
    if llama is not None:
        starter.write(folder / "app" / "resources", folder / platform.python if platform.is_here else sys.executable)
    slim.thin(installed)
    launcher.write(folder, platform)
    contents.write_licences(folder, installed)
    contents.write_sbom(folder, installed)
    _compile(folder)
    _same_modes(folder)


def _program(app: Path, platform: Platform) -> None:
    """Copy a clone's files, as git lists them, and write the marker."""
    wanted = ("sapo_desktop", "resources", "installers", "packaging/requirements", "LICENSE")
    listed = subprocess.run(["git", "ls-files", "-z", *wanted], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        (app / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, app / name)
    marker = {
        "python": f"../{platform.python}",
        "launcher": f"../{platform.launcher}",
        "engines": {kind: engine_pack.fingerprint(FLAVOURS[kind]) for kind in platform.packs},
        "least_driver": MIN_DRIVER,
        "least_capability": MIN_CAPABILITY,
    }
    (app / "payload.json").write_text(json.dumps(marker, indent=1) + "\n")


def _compile(folder: Path) -> None:
    """Compile in advance, since nothing can be written there later; by hash, so that the bytes depend on the source
    alone."""
    code = (
        "import compileall, py_compile, re, sys; "
        "compileall.compile_dir(sys.argv[1], quiet=2, stripdir=sys.argv[1], workers=0, rx=re.compile(sys.argv[2]), "
        "invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)"
    )
    line = [sys.executable, "-c", code, folder, NOT_COMPILED]  # any 3.11 makes the same
    subprocess.run(line, env={**os.environ, "PYTHONHASHSEED": "0"}, check=True)


def _same_modes(folder: Path) -> None:
    """The same modes for every builder: readable by all, executable as before, except for libraries."""
    for path in folder.rglob("*"):
        if not path.is_symlink():
            runs = path.is_dir() or (path.stat().st_mode & stat.S_IXUSR and ".so" not in path.suffixes)
            path.chmod(0o755 if runs else 0o644)


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the folder of an installed application.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--for", dest="platform", choices=PLATFORMS, default=this_one(), help="default: this system")
    parser.add_argument("--python", type=Path, metavar="FOLDER", help="CPython 3.11 for Windows or macOS")
    parser.add_argument("--llama", type=Path, help="the wheel of llama.cpp (default: the bootstrap's)")
    given = parser.parse_args()
    platform = PLATFORMS[given.platform]
    llama = given.llama or (find_wheel(wheel_folders(ROOT)) if platform.is_here else None)
    build(given.folder.absolute(), platform, given.python, llama)
    megabytes = sum(path.lstat().st_size for path in given.folder.rglob("*")) / 1e6
    print(
        f"{given.folder}: {megabytes:.0f} MB" + ("" if llama else ", without llama.cpp (there is no wheel of it here)")
    )


if __name__ == "__main__":
    main()

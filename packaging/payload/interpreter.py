"""An interpreter that runs wherever its folder is.

Linux: Debian's CPython 3.11, from its packages, which apt checks. It finds its library by its own location. The shared
libraries that not every desktop has go along, found by a path relative to the program (patchelf). What remains the
system's: glibc 2.35 or newer, libz, libexpat, and what Qt needs.

Windows and macOS: a folder with a whole CPython 3.11 that can be moved, as `uv python install 3.11` puts it down, or
on Windows any installation. What nothing here needs is left out.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from platforms import VERSION, Platform

PYTHON = ("python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib")
LIBRARIES = ("libssl3", "libffi8", "libsqlite3-0", "libbz2-1.0", "liblzma5", "libuuid1")
UNUSED = (
    *("idlelib", "lib2to3", "pydoc_data", "ensurepip", "turtledemo", "turtle.py", "test", "tkinter", "__pycache__"),
    *("site-packages", "config-3.11-*", "lib-dynload/_curses*", "lib-dynload/_dbm*", "lib-dynload/nis*"),
    *("lib-dynload/readline*", "lib-dynload/ossaudio*", "lib-dynload/_test*", "lib-dynload/_ctypes_test*"),
    *("lib-dynload/xx*", "lib-dynload/_xx*", "lib-dynload/_tkinter*", "EXTERNALLY-MANAGED"),
)
"""Parts of the standard library that nothing here imports, or that need libraries we do not include."""
KEPT = {
    "windows": ("*.exe", "*.dll", "DLLs", "Lib"),
    "macos": ("bin/python3.11", "lib/libpython3.11.dylib", "lib/python3.11"),
}
"""Parts of a given folder that are not needed."""
UNUSED_DLLS = ("DLLs/_test*", "DLLs/_ctypes_test*", "DLLs/_tkinter*", "DLLs/tcl*", "DLLs/tk*", "DLLs/*.ico")
IMPORTS = "import ssl, sqlite3, ctypes, lzma, bz2, uuid, hashlib"


def provide(folder: Path, platform: Platform, given: Path | None) -> None:
    """Put it into `folder`; `given`: a folder with an interpreter of that platform, which Linux does not take. Names,
    versions and licences for the list of contents go into `folder/notices`."""
    if platform.name == "linux":
        _debian(folder)
    elif given is None:
        sys.exit(f"Name with --python the folder that has CPython 3.11 for {platform.name} (uv python install 3.11).")
    else:
        _copied(given, folder, platform)
    if platform.is_here:
        subprocess.run([folder.parent / platform.python, "-I", "-c", IMPORTS], check=True)


def _debian(folder: Path) -> None:
    for tool in ("apt-get", "dpkg-deb", "patchelf"):
        if shutil.which(tool) is None:
            sys.exit(f"{tool} is missing. On Debian 12: apt-get install patchelf (the other two are part of it).")
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(["apt-get", "download", "-q", *PYTHON, *LIBRARIES], cwd=scratch, check=True, capture_output=True)
        for package in sorted(Path(scratch).glob("*.deb")):
            subprocess.run(["dpkg-deb", "-x", package, f"{scratch}/root"], check=True)
            _note(package, folder)
        _take(Path(scratch) / "root" / "usr", folder)
    # DT_RPATH, not DT_RUNPATH: it also applies to libraries that the extension modules load.
    program = folder / "bin" / "python3.11"
    subprocess.run(["patchelf", "--force-rpath", "--set-rpath", "$ORIGIN/../lib", program], check=True)


def _take(usr: Path, folder: Path) -> None:
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    shutil.copy2(usr / "bin" / "python3.11", folder / "bin")
    library = folder / "lib" / "python3.11"
    # The library links to one file in /etc; it is copied as a file.
    shutil.copytree(usr / "lib" / "python3.11", library, symlinks=False, ignore_dangling_symlinks=True)
    _thin(library, UNUSED)
    for path in usr.parent.glob("**/x86_64-linux-gnu/lib*.so*"):
        shutil.copy2(path, folder / "lib" / path.name, follow_symlinks=False)


def _note(package: Path, folder: Path) -> None:
    """Name, version and licence of a package, for the list of contents."""
    asked = subprocess.run(
        ["dpkg-deb", "-f", package, "Package", "Version"], capture_output=True, text=True, check=True
    )
    fields = dict(line.split(": ", 1) for line in asked.stdout.splitlines())
    copyright_file = Path(package.parent, "root", "usr", "share", "doc", fields["Package"], "copyright")
    place = folder / "notices" / f"debian_{fields['Package']}_{fields['Version'].replace(':', '%3a')}"
    place.mkdir(parents=True)
    if copyright_file.exists():
        shutil.copyfile(copyright_file, place / "copyright")


def _copied(given: Path, folder: Path, platform: Platform) -> None:
    version = _version(given)
    for pattern in KEPT[platform.name]:
        for path in sorted(given.glob(pattern)):
            there = folder / path.relative_to(given)
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(path, there) if path.is_dir() else shutil.copy2(path, there)
    if not (folder.parent / platform.python).exists():
        sys.exit(
            f"{given} has no {Path(platform.python).relative_to('python')}: it is not CPython for {platform.name}."
        )
    _thin((folder.parent / platform.packages).parent, UNUSED)
    _thin(folder, UNUSED_DLLS)
    place = folder / "notices" / f"cpython_python_{version}"
    place.mkdir(parents=True)
    for licence in (given / "LICENSE.txt", given / "lib" / "python3.11" / "LICENSE.txt"):
        if licence.exists():
            shutil.copyfile(licence, place / "LICENSE.txt")


def _version(given: Path) -> str:
    """The version from its header, since it may not run here."""
    header = next(given.glob("include/**/patchlevel.h"), None)
    said = header and re.search(r'#define PY_VERSION\s+"([^"]+)"', header.read_text())
    if not said or tuple(map(int, said[1].split(".")[:2])) != VERSION:
        sys.exit(
            f"{given} is not a complete CPython {'.'.join(map(str, VERSION))} (include/patchlevel.h says which it is)."
        )
    return said[1]


def _thin(folder: Path, patterns: tuple[str, ...]) -> None:
    for pattern in patterns:
        for path in folder.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()

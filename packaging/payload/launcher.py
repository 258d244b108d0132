"""The program that starts the application from its folder at any place, with its own Python and nothing of the user's
Python setup.

On Windows two programs, with and without a console: the small program that pip puts before every console script
(distlib's, included in pip), then a line that names our Python next to it, then the script in a zip.
"""

from __future__ import annotations

import io
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

from platforms import Platform

SHELL = """\
#!/bin/sh
# Starts SAPO Desktop from wherever its folder is, with its own Python and nothing of the user's Python set-up.
here=$(dirname "$(readlink -f "$0")")
unset PYTHONHOME PYTHONPATH PYTHONSTARTUP
export PYTHONNOUSERSITE=1 PYTHONSAFEPATH=1 PYTHONDONTWRITEBYTECODE=1 SAPO_DESKTOP_PROGRAM="$0"
exec "$here/{python}" -m sapo_desktop "$@"
"""
SCRIPT = """\
import os, sys
for name in ("PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP"):
    os.environ.pop(name, None)  # for the processes that this one starts
os.environ.update(PYTHONNOUSERSITE="1", PYTHONSAFEPATH="1", PYTHONDONTWRITEBYTECODE="1")
os.environ["SAPO_DESKTOP_PROGRAM"] = os.path.join(os.path.dirname(sys.argv[0]), "sapo-desktop.exe")
from sapo_desktop.cli import main
sys.exit(main())
"""
WINDOWS = {"sapo-desktop.exe": ("t64.exe", "python.exe"), "sapo-desktop-window.exe": ("w64.exe", "pythonw.exe")}
"""Program -> distlib's file, and the Python that it starts."""
LONG_AGO = (1980, 1, 1, 0, 0, 0)


def write(folder: Path, platform: Platform) -> None:
    """Write it into the application's folder."""
    if platform.name != "windows":
        launcher = folder / platform.launcher
        launcher.write_text(SHELL.format(python=platform.python))
        launcher.chmod(0o755)
        return
    for name, (program, python) in WINDOWS.items():
        line = f'#!"<launcher_dir>\\python\\{python}" -I -X utf8\n'
        (folder / name).write_bytes(_distlib(program) + line.encode() + _zip())


def _distlib(name: str) -> bytes:
    found = find_spec("pip")
    if found is None or found.origin is None:
        sys.exit("pip is missing from the Python that runs this: python -m ensurepip")
    return (Path(found.origin).parent / "_vendor" / "distlib" / name).read_bytes()


def _zip() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo("__main__.py", LONG_AGO), SCRIPT)
    return file.getvalue()

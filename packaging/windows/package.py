"""Packs an application's folder for Windows: `python packaging/windows/package.py PAYLOAD OUT`, on any system.

    sapo-desktop-VERSION-setup.exe    installer, with its uninstaller (installer.nsi lists the options of both)

The folder is the one of `packaging/payload/build.py --for windows`. Needs makensis (Debian: apt-get install nsis),
version 3 with its 64-bit part, which the one for Windows lacks. Not signed: Windows warns of an unknown publisher.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT), str(HERE.parent)]

import icons  # noqa: E402
import times  # noqa: E402
from PySide6.QtGui import QGuiApplication  # noqa: E402

from sapo_desktop import __version__  # noqa: E402
from sapo_desktop.gui.shell.app import APP_ID  # noqa: E402


def make(payload: Path, out: Path, level: int, version: str = __version__) -> Path:
    """Build the folder's installer in `out`. `level` 0 is fast and hardly compresses."""
    setup = out / f"sapo-desktop-{version}-setup.exe"
    with tempfile.TemporaryDirectory(dir=out) as name:
        tree = Path(name) / "tree"
        shutil.copytree(payload, tree)
        icon = tree / "sapo-desktop.ico"
        icon.write_bytes(icons.ico({size: icons.png(size) for size in icons.ICO}))
        numbers = ".".join([*re.findall(r"\d+", version), "0", "0"][:3])
        kilobytes = sum(path.stat().st_size for path in tree.rglob("*")) // 1024
        times.set_all(tree)
        values = {"APP_ID": APP_ID, "OUT": setup, "TREE": tree, "ICON": icon, "VERSION": version, "NUMBERS": numbers}
        line = ["makensis", "-V2", "-WX", "-INPUTCHARSET", "UTF8"]
        line += [f"-D{key}={value}" for key, value in values.items()]
        line += [f"-DKILOBYTES={kilobytes}", f"-DCOMPRESSOR={'/SOLID lzma' if level else 'zlib'}"]
        env = {**os.environ, "SOURCE_DATE_EPOCH": str(times.epoch())}
        subprocess.run([*line, str(HERE / "installer.nsi")], env=env, check=True)
    return setup


def main() -> None:
    parser = argparse.ArgumentParser(description="Pack an application's folder for Windows.")
    parser.add_argument("payload", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--level", type=int, default=6, help="0: fast, hardly compressed; otherwise well (default)")
    given = parser.parse_args()
    if shutil.which("makensis") is None:
        sys.exit("makensis is missing. On Debian: apt-get install nsis.")
    out = given.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    _application = QGuiApplication([])
    file = make(given.payload.absolute(), out, given.level)
    print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()

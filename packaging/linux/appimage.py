"""Packs an application's folder as an AppImage: `python packaging/linux/appimage.py PAYLOAD OUT`.

sapo-desktop.AppDir                  the tree, made anywhere
sapo-desktop-VERSION-x86_64.AppImage where `appimagetool` is on the PATH
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
from pathlib import Path

import package
from package import NAME

from sapo_desktop import __version__


def make_tree(payload: Path, out: Path) -> Path:
    """The tree, whose AppRun is the folder's own launcher."""
    tree = out / f"{NAME}.AppDir"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(payload, tree, symlinks=True)
    package.write_share(tree / "usr" / "share")
    (tree / "AppRun").symlink_to(NAME)
    (tree / f"{NAME}.desktop").symlink_to(f"usr/share/applications/{NAME}.desktop")
    icon = f"usr/share/icons/hicolor/256x256/apps/{NAME}.png"
    for name in (f"{NAME}.png", ".DirIcon"):
        (tree / name).symlink_to(icon)
    return tree


def pack(tree: Path, out: Path) -> Path | None:
    """The one file that runs, or None where appimagetool is missing."""
    if shutil.which("appimagetool") is None:
        return None
    image = out / f"{NAME}-{__version__}-x86_64.AppImage"
    env = {**os.environ, "ARCH": "x86_64", "SOURCE_DATE_EPOCH": str(package.times.epoch())}
    subprocess.run(["appimagetool", str(tree), str(image)], env=env, check=True)
    return image


def main() -> None:
    parser = argparse.ArgumentParser(description="Pack an application's folder as an AppImage.")
    parser.add_argument("payload", type=Path)
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    out = given.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    package.QGuiApplication([])
    tree = make_tree(given.payload.absolute(), out)
    image = pack(tree, out)
    print(image or f"{tree}: the tree alone, as appimagetool is not on the PATH")


if __name__ == "__main__":
    main()

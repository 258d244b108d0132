"""Differences between the systems that we build an application's folder for."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

VERSION = (3, 11)
"""The version of the interpreter in the folder, and of the one that runs these scripts, for which pip resolves."""


class Platform(NamedTuple):
    """One system; paths are relative to the application's folder."""

    name: str
    lock: str
    """The application has all of this lock except the engine pack; named as in installers/flavour.py."""
    packs: tuple[str, ...]
    """Engine packs for the application."""
    wheels: tuple[str, ...]
    """pip's names of the system; it adds older ones of manylinux2014 and macOS itself."""
    marker: dict[str, str]
    """Values for the lock's markers."""
    python: str
    packages: str
    launcher: str
    """The program that menu and login start; it has no console on Windows."""

    @property
    def is_here(self) -> bool:
        """Whether its programs run on this computer."""
        return sys.platform == self.marker["sys_platform"]


PLATFORMS = {
    platform.name: platform
    for platform in (
        Platform(
            "linux",
            "linux-cpu",
            ("linux-cpu", "linux-cuda"),
            (*(f"manylinux_2_{minor}_x86_64" for minor in range(35, 16, -1)), "manylinux2014_x86_64", "linux_x86_64"),
            {"sys_platform": "linux", "platform_machine": "x86_64", "os_name": "posix", "platform_system": "Linux"},
            "python/bin/python3.11",
            "python/lib/python3.11/dist-packages",
            "sapo-desktop",
        ),
        Platform(
            "windows",
            "win-cpu",
            ("win-cpu", "win-cuda"),
            ("win_amd64",),
            {"sys_platform": "win32", "platform_machine": "AMD64", "os_name": "nt", "platform_system": "Windows"},
            "python/python.exe",
            "python/Lib/site-packages",
            "sapo-desktop-window.exe",
        ),
        Platform(
            "macos",
            "mac-arm64",
            ("mac-arm64",),
            ("macosx_13_0_arm64",),
            {"sys_platform": "darwin", "platform_machine": "arm64", "os_name": "posix", "platform_system": "Darwin"},
            "python/bin/python3.11",
            "python/lib/python3.11/site-packages",
            "sapo-desktop",
        ),
    )
}


def this_one() -> str:
    """The name of the current system."""
    return next((platform.name for platform in PLATFORMS.values() if platform.is_here), "linux")


def up_to(folder: str) -> Path:
    """The relative path from `folder` up to the application's folder."""
    return Path(*[".."] * len(Path(folder).parts))

"""The time of files in packages, fixed so that the same commit gives the same bytes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def epoch() -> int:
    """The time in seconds, from SOURCE_DATE_EPOCH or the last commit."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    said = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=True)
    return int(said.stdout)


def set_all(folder: Path) -> None:
    """Set this time on a folder and everything in it."""
    when = epoch()
    for path in (*folder.rglob("*"), folder):
        os.utime(path, (when, when), follow_symlinks=False)

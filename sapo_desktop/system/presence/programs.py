"""Which of the programs that a user named run now, and whether there is such a one at all."""

from __future__ import annotations

import difflib
import shutil
from collections.abc import Sequence

import psutil


def running() -> set[str]:
    """Names of the programs that run, as their files are called."""
    return {str(process.info["name"]) for process in psutil.process_iter(["name"]) if process.info["name"]}


def first_of(names: Sequence[str]) -> str | None:
    """The first of these that runs; upper and lower case, and `.exe`, make no difference. None: none of them."""
    found = {_plain(name) for name in running()} if names else set()
    return next((name for name in names if _plain(name) in found), None)


def nearest_to_unknown(names: Sequence[str]) -> dict[str, str]:
    """Those that neither run nor are installed where programs are looked for, each with the running one that is
    written most like it, or nothing."""
    there = running() if names else set()
    plain = {_plain(name) for name in there}
    unknown = [name for name in names if _plain(name) not in plain and shutil.which(name) is None]
    return {name: next(iter(difflib.get_close_matches(name, there, 1)), "") for name in unknown}


def _plain(name: str) -> str:
    # Linux knows the first 15 letters of a name only.
    return name.casefold().removesuffix(".exe")[:15]

"""Which of the programs that a user named are running, and whether they exist at all."""

from __future__ import annotations

import difflib
import shutil
from collections.abc import Sequence

import psutil


def running() -> set[str]:
    """The file names of the running programs."""
    return {str(process.info["name"]) for process in psutil.process_iter(["name"]) if process.info["name"]}


def first_of(names: Sequence[str]) -> str | None:
    """The first of these that is running, regardless of case and `.exe`; None: none."""
    found = {_plain(name) for name in running()} if names else set()
    return next((name for name in names if _plain(name) in found), None)


def nearest_to_unknown(names: Sequence[str]) -> dict[str, str]:
    """Names of programs that neither run nor are installed in the usual places, each with the running program of the
    most similar name, or nothing."""
    there = running() if names else set()
    plain = {_plain(name) for name in there}
    unknown = [name for name in names if _plain(name) not in plain and shutil.which(name) is None]
    return {name: next(iter(difflib.get_close_matches(name, there, 1)), "") for name in unknown}


def _plain(name: str) -> str:
    # Linux only stores the first 15 letters of a name.
    return name.casefold().removesuffix(".exe")[:15]

"""The folder of own tasks: reads its files for a node, writes new ones, and passes them to the examiner's process."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

import msgspec

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.files.durable import write_atomically
from sapo_desktop.core.files.reading import read_bytes, read_json
from sapo_desktop.core.resources import resource
from sapo_desktop.core.sentences import Size, Text
from sapo_desktop.tasks.catalogue import Catalogue, Family, load_catalogue
from sapo_desktop.tasks.own.family import OwnFile, parse_file
from sapo_desktop.tasks.own.table import SUFFIXES

MOST_FILES = 16
MOST_BYTES = 16_000_000
MOST_TOGETHER = 32_000_000
"""Maximum bytes of all files, because the examiner keeps them in memory."""
HANDED_OVER = "SAPO_CATALOGUE"
"""Environment variable of an examiner: the file with its catalogue."""
_MOST_HANDED_OVER = 100_000_000


def load_tasks(folder: Path) -> Catalogue:
    """The shipped catalogue with the own families of that folder; unusable ones are left out with the reason. Raises
    TaskError only for the shipped one."""
    shipped = load_catalogue(resource("tasks.toml"))
    taken = {family.name for family in shipped.families}
    own: list[Family] = []
    left_out: dict[str, Text] = {}
    together = 0
    for path in own_files(folder):
        try:
            if len(own) == MOST_FILES:
                raise TaskError(
                    "{file}: only {count} own families are allowed. Remove one.", file=path.name, count=MOST_FILES
                )
            content = read_file(path)
            together += len(content)
            if together > MOST_TOGETHER:
                raise _too_much(path.name)
            own.append(parse_file(path.name, content, taken).family)
            taken.add(path.stem.lower())
        except TaskError as error:
            left_out[path.stem] = error.text
    return Catalogue(families=(*shipped.families, *own), left_out=left_out)


def own_files(folder: Path) -> list[Path]:
    """The files in the folder, by name."""
    files = [path for suffix in SUFFIXES for path in folder.glob(f"*{suffix}")]
    return sorted(path for path in files if not path.name.startswith("."))


def read_file(path: Path) -> bytes:
    """The content of a file for an own family. Raises TaskError."""
    try:
        _check_size(path.name, path.stat().st_size)
        return read_bytes(path, MOST_BYTES)
    except OSError as error:
        raise TaskError(
            "{path} cannot be read: {reason}. Check whether it exists and you may read it.",
            path=str(path),
            reason=str(error.strerror),
        ) from error


def as_kept(read: OwnFile) -> bytes:
    """The content of the stored copy: the rows as written, with a header that says how to read them. Raises
    TaskError if it is too large."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["question", f"answer:{read.reading.kind}", "level"])
    writer.writerows((row.question, row.answer, row.level) for row in read.rows)
    content = text.getvalue().encode()
    _check_size(read.family.name + SUFFIXES[0], len(content))
    return content


def check_together(name: str, content: bytes, folder: Path) -> None:
    """Raise TaskError if the folder has no room for another family of this name."""
    others = [path for path in own_files(folder) if path.stem.lower() != name.lower()]
    if len(others) >= MOST_FILES:
        raise TaskError("There are {count} own families, which is the maximum. Remove one.", count=MOST_FILES)
    if sum(path.stat().st_size for path in others) + len(content) > MOST_TOGETHER:
        raise _too_much(name + SUFFIXES[0])


def _too_much(file: str) -> TaskError:
    most = Size(bytes=MOST_TOGETHER)
    return TaskError("{file}: own tasks together may have at most {most}. Remove some.", file=file, most=most)


def _check_size(file: str, size: int) -> None:
    if size > MOST_BYTES:
        raise TaskError(
            "{file} has {size}, but a file of own tasks may have at most {most}. Split it into several files.",
            file=file,
            size=Size(bytes=size),
            most=Size(bytes=MOST_BYTES),
        )


def hand_over(catalogue: Catalogue, path: Path) -> dict[str, str]:
    """The environment that makes an examiner use this catalogue, which is written to `path`; empty for the shipped
    one. Raises TaskError."""
    if not catalogue.own:
        return {}
    try:
        write_atomically(path, msgspec.json.encode(catalogue))
    except OSError as error:
        raise TaskError(
            "{file} cannot be written: {reason}. Check the free space and the folder's permissions.",
            file=str(path),
            reason=str(error.strerror),
        ) from error
    return {HANDED_OVER: str(path)}


def handed_over() -> Catalogue | None:
    """The catalogue that was passed to this process; None if there is none. Raises TaskError."""
    path = os.environ.get(HANDED_OVER)
    if not path:
        return None
    try:
        return read_json(Path(path), Catalogue, _MOST_HANDED_OVER)
    except (OSError, msgspec.DecodeError) as error:
        raise TaskError("{file} cannot be read: {reason}.", file=path, reason=str(error)) from error

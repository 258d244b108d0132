"""How the previous process ended: a mark on the disk while a worker or window runs.

A process that exits removes its mark, whatever its result. A mark found at the start means that the previous process
was killed, crashed, or lost its power. A parent that saw it die writes the cause into the mark.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
import psutil

from sapo_desktop.core.files.durable import write_atomically
from sapo_desktop.core.files.reading import read_json
from sapo_desktop.core.records import Record
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.system.processes import exit_reason, memory_kills

log = logging.getLogger(__name__)

_BOOT = Path("/proc/sys/kernel/random/boot_id")


class Mark(Record, frozen=True, kw_only=True):
    """The mark of a process that runs or ran."""

    pid: int
    boot: str
    """The id of the computer's start in which it ran."""
    memory_kills: int
    """Number of processes that the kernel had killed before for lack of memory."""
    cause: Text = ""
    """Why it ended, if another process saw that."""


@contextlib.contextmanager
def marked(path: Path) -> Iterator[Text]:
    """Keep the mark while the block runs. Yields why the previous process did not exit by itself; empty if it did,
    or if there was none."""
    before = _read(path)
    with _on_a_disk_that_may_be_full():
        write_atomically(path, msgspec.json.encode(Mark(pid=os.getpid(), boot=_boot(), memory_kills=memory_kills())))
    try:
        yield _why(before) if before is not None else ""
    finally:
        with _on_a_disk_that_may_be_full():
            path.unlink(missing_ok=True)


def died(path: Path, pid: int, code: int) -> Text:
    """Why child `pid` ended with that exit code. Stored in its mark if it left one."""
    mark = _read(path)
    ours = mark is not None and mark.pid == pid
    reason = exit_reason(code, out_of_memory=mark is not None and ours and memory_kills() > mark.memory_kills)
    if mark is not None and ours:
        with _on_a_disk_that_may_be_full():
            write_atomically(path, msgspec.json.encode(msgspec.structs.replace(mark, cause=reason)))
    return reason


def _why(mark: Mark) -> Text:
    if mark.cause:
        return mark.cause
    if mark.boot != _boot():
        return sentence("the computer was restarted, or lost power")
    if memory_kills() > mark.memory_kills:
        return sentence("it was killed, perhaps because the computer ran out of memory")
    return sentence("it was killed, or crashed")


def _read(path: Path) -> Mark | None:
    try:
        return read_json(path, Mark)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        log.warning("The mark %s cannot be read: %s", path, error)
        return None


@contextlib.contextmanager
def _on_a_disk_that_may_be_full() -> Iterator[None]:
    """If a mark cannot be written, only a later explanation is lost."""
    try:
        yield
    except OSError as error:
        log.warning("Whether this process ends by itself cannot be kept: %s", error)


def _boot() -> str:
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:  # not Linux
        return str(round(psutil.boot_time()))

"""How the process before this one ended: a mark on the disk for as long as a worker or a window runs.

One that ends takes its mark away, whatever it ends with. A mark that is there at a start means that the one before was
killed, crashed, or lost its power. Who saw it die writes the cause into it.
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
    """Of a process that runs, or did."""

    pid: int
    boot: str
    """Which start of the computer it ran in."""
    memory_kills: int
    """Processes that the kernel had ended before it, because memory ran out."""
    cause: Text = ""
    """Why it ended, where somebody saw that."""


@contextlib.contextmanager
def marked(path: Path) -> Iterator[Text]:
    """Have the mark there while the block runs. Gives why the process before did not end by itself; empty where it
    did, or where there was none."""
    before = _read(path)
    with _on_a_disk_that_may_be_full():
        write_atomically(path, msgspec.json.encode(Mark(pid=os.getpid(), boot=_boot(), memory_kills=memory_kills())))
    try:
        yield _why(before) if before is not None else ""
    finally:
        with _on_a_disk_that_may_be_full():
            path.unlink(missing_ok=True)


def died(path: Path, pid: int, code: int) -> Text:
    """Process `pid`, a child of this one, ended with that exit code: why. Kept in its mark where it left one."""
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
    """A mark that cannot be written costs a sentence at the next start, and nothing now."""
    try:
        yield
    except OSError as error:
        log.warning("Whether this process ends by itself cannot be kept: %s", error)


def _boot() -> str:
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:  # not Linux
        return str(round(psutil.boot_time()))

"""How a host process is started: options, command line, environment. Starting it is hosting.py's part."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from sapo_desktop.system import processes
from sapo_desktop.worker.hosts.services import KINDS, HostKind

THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")


class HostOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a host process is started, and started again."""

    kind: HostKind
    log: Path
    env: Mapping[str, str] = {}
    """Set on top of the worker's own environment and the kind's."""
    writes: Sequence[Path] = ()
    """Folders in which a confined one may write."""
    threads: int | None = None
    """For libraries that compute; None: the kind's choice or theirs."""
    low_priority: bool = False
    """Whether it gives way to other programs, once it is loaded and `haste` is over."""
    haste: float = 120.0
    """Seconds after loading in which it does not yet: somebody waits for a first answer and a first round."""
    start_timeout: float = 180.0
    """Seconds without any sign of work until it is given up, while it starts."""


def command(options: HostOptions) -> list[str]:
    """The command line of a host."""
    line = [*processes.python_command("sapo_desktop.worker.hosts.host"), "--parent", str(os.getpid())]
    kind = options.kind
    line += [kind.name] if KINDS.get(kind.name) is kind else ["--service", kind.create]
    return [*line, *(f"--writes={folder}" for folder in options.writes)]


def environment(options: HostOptions) -> dict[str, str]:
    """The environment of a host: the worker's, then the kind's, the number of threads, `options.env`."""
    values = dict(options.kind.environment)
    if options.threads is not None:
        values |= dict.fromkeys(THREAD_VARIABLES, str(options.threads))
    return processes.python_environment(values | dict(options.env))

"""What the worker says of itself: facts, its model, notices and log, and whether there is a newer version."""

from __future__ import annotations

import time
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from sapo_desktop.core.records import Check
from sapo_desktop.core.sentences import Text
from sapo_desktop.core.updates.manifest import Standing
from sapo_desktop.worker.control.messages.base import Message, Request

Level = Literal["info", "warning", "error"]
COMPUTING = "computing"
"""Name of the check that says what holds the node back."""


class Facts(Message, frozen=True, kw_only=True):
    values: dict[str, str]
    checks: list[Check] = msgspec.field(default_factory=list)


class ModelInfo(Message, frozen=True, kw_only=True):
    """The model at work, and what it takes. Sizes are bytes."""

    name: str
    kind: str
    """transformers or gguf."""
    parameters: int
    bytes: int
    """Of its files."""
    device: str
    dtype: str
    generator: str
    """torch, llama.cpp or remote."""
    trainer: str
    """torch or none."""
    threads: int
    memory_used: int | None
    """Resident now, of the processes that answer and learn; None where none runs."""
    memory_estimate: int | None
    """As it was estimated at the last load; None where nothing was."""
    memory_free: int
    micro_batch: int
    max_tokens: int
    notes: list[Text] = msgspec.field(default_factory=list)
    """What a person should know, a sentence each."""


class Usage(Message, frozen=True, kw_only=True):
    """That, as of the last seconds."""

    cores: float = 0.0
    memory: int = 0
    """Bytes that all processes of the node hold for themselves."""
    sent: float = 0.0
    """Bytes a second, to peers."""
    received: float = 0.0
    disk: int = 0
    """Bytes of the node's folder and the models; 0: not counted yet."""
    card_memory: int = 0
    """Bytes of graphics cards' memory, as far as the driver tells."""
    written: int = 0
    """Bytes of checkpoints within the last 24 hours."""
    watts: float = 0.0
    joules: float = 0.0
    """Over all history."""
    measured: bool = False
    """Whether the processor tells its energy; else it is time at `core_watts`."""
    ways_out: int | None = None
    """Sockets of all its processes that lead to other computers, or are open to them; None where nobody counted."""


class Notice(Message, frozen=True, kw_only=True):
    """Something a person should know: rolled back, out of memory, host restarted."""

    level: Level
    text: Text
    time: float = 0.0
    """Unix time at which it was said."""


def notice_line(notice: Notice) -> str:
    """As a report has it."""
    return f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(notice.time))} {notice.level:<8}{notice.text}"


LONGEST_NOTICES = 256 * 1024
"""Bytes of the file of notices, and of the one before it."""


class Notices(Message, frozen=True, kw_only=True):
    items: list[Notice]
    """Oldest first."""


class LogIs(Message, frozen=True, kw_only=True):
    lines: list[str]
    path: str


class Diagnosis(Message, frozen=True, kw_only=True):
    """Reply to Diagnose."""

    text: str


class UpdatesAre(Message, frozen=True):
    """Reply to GetUpdates, and an event where it changed."""

    standing: Standing


# -- requests ----------------------------------------------------------------------------------------------


class Examine(Request[Facts], frozen=True, kw_only=True):
    """Facts and checks for `doctor`: versions, hosts, limits, the node's part in the swarm. Peers that are named in the
    settings are dialled for it, except in silo."""


class GetModelInfo(Request[ModelInfo], frozen=True, kw_only=True):
    """The model at work, as data."""


class GetNotices(Request[Notices], frozen=True, kw_only=True):
    """The last notices, those from before the client came too."""


class GetLog(Request[LogIs], frozen=True, kw_only=True):
    """The end of the worker's log."""

    lines: Annotated[int, Meta(ge=1, le=10_000)] = 500


class Diagnose(Request[Diagnosis], frozen=True, kw_only=True):
    """The text of a bug report: checks, facts, settings, notices and log, without private data."""


class GetUsage(Request[Usage], frozen=True):
    """What the node takes of the computer just now."""


class GetUpdates(Request[UpdatesAre], frozen=True):
    """How this version stands. `look`: ask the release address now; InSilo or UsageError where that may not be."""

    look: bool = False

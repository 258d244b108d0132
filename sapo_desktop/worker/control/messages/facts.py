"""Messages about the worker itself: facts, model, notices, log, and newer versions."""

from __future__ import annotations

import time
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from sapo_desktop.core.link.requests import Message, Request
from sapo_desktop.core.records import Check
from sapo_desktop.core.sentences import Text
from sapo_desktop.core.updates.manifest import Standing

Level = Literal["info", "warning", "error"]
COMPUTING = "computing"
"""Name of the check that says what holds the node back."""


class Facts(Message, frozen=True, kw_only=True):
    values: dict[str, str]
    checks: list[Check] = msgspec.field(default_factory=list)


class ModelInfo(Message, frozen=True, kw_only=True):
    """The current model, and its use of resources. Sizes are bytes."""

    name: str
    kind: str
    """transformers or gguf."""
    parameters: int
    bytes: int
    """Bytes of its files."""
    device: str
    dtype: str
    generator: str
    """torch, llama.cpp or remote."""
    trainer: str
    """torch or none."""
    threads: int
    memory_used: int | None
    """Resident memory of the processes that answer and learn; None if none runs."""
    memory_estimate: int | None
    """The estimate at the last load; None without one."""
    memory_free: int
    micro_batch: int
    max_tokens: int
    notes: list[Text] = msgspec.field(default_factory=list)
    """Remarks for a person, a sentence each."""


class Usage(Message, frozen=True, kw_only=True):
    """Resources used in the last seconds."""

    cores: float = 0.0
    memory: int = 0
    """Private bytes of all processes of the node."""
    sent: float = 0.0
    """Bytes per second to peers."""
    received: float = 0.0
    disk: int = 0
    """Bytes of the node's folder and the models; 0: not counted yet."""
    card_memory: int = 0
    """Bytes of graphics cards' memory, as far as the driver reports it."""
    written: int = 0
    """Bytes of checkpoints written within the last 24 hours."""
    watts: float = 0.0
    joules: float = 0.0
    """Over the whole history."""
    measured: bool = False
    """Whether the processor reports its energy; otherwise it is time multiplied by `core_watts`."""
    ways_out: int | None = None
    """Sockets of all its processes that lead to other computers, or are open to them; None if they were not counted."""


class Notice(Message, frozen=True, kw_only=True):
    """Something a person should know: rolled back, out of memory, host restarted."""

    level: Level
    text: Text
    time: float = 0.0
    """Unix time of the notice."""


def notice_line(notice: Notice) -> str:
    """The notice as a line of a report."""
    return f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(notice.time))} {notice.level:<8}{notice.text}"


LONGEST_NOTICES = 256 * 1024
"""Maximum bytes of the file of notices, and of the previous one."""


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
    """Reply to GetUpdates, and an event if it changed."""

    standing: Standing


# -- requests ----------------------------------------------------------------------------------------------


class Examine(Request[Facts], frozen=True, kw_only=True):
    """Facts and checks for `doctor`: versions, hosts, limits, the node's part in the swarm. Named peers are dialled
    for it, except in silo."""


class GetModelInfo(Request[ModelInfo], frozen=True, kw_only=True):
    """The current model, as data."""


class GetNotices(Request[Notices], frozen=True, kw_only=True):
    """The last notices, including those from before the client attached."""


class GetLog(Request[LogIs], frozen=True, kw_only=True):
    """The end of the worker's log."""

    lines: Annotated[int, Meta(ge=1, le=10_000)] = 500


class Diagnose(Request[Diagnosis], frozen=True, kw_only=True):
    """The text of a bug report: checks, facts, settings, notices and log, without private data."""


class GetUsage(Request[Usage], frozen=True):
    """The node's current use of the computer."""


class GetUpdates(Request[UpdatesAre], frozen=True):
    """The standing of this version. `look`: ask the release address now; raises InSilo or UsageError if that is not
    allowed."""

    look: bool = False

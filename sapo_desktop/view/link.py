"""The state of the window's link to the worker; attachment.py keeps the link itself. No Qt."""

from __future__ import annotations

from typing import Literal

from sapo_desktop.core.records import Record
from sapo_desktop.core.sentences import Text
from sapo_desktop.core.why import Starting
from sapo_desktop.worker.control.messages.events import Event
from sapo_desktop.worker.control.messages.replies import Curve, SettingsAre, Status


class Connecting(Record, frozen=True, kw_only=True):
    """A worker is being found or started."""

    again: bool = False
    why: Starting = Starting()
    """The worker's reason while it starts; empty before."""


class LastKnown(Record, frozen=True, kw_only=True):
    """The rounds on the disk, shown until a starting node reports its state."""

    curve: Curve


class Attached(Record, frozen=True, kw_only=True):
    """The worker answers, with its state. Events follow."""

    status: Status
    settings: SettingsAre
    curve: Curve


Remedy = Literal["", "model", "pack", "settings", "file"]
"""`pack`: the engine pack is not installed yet. `file`: the settings file is unreadable; until a person fixes it,
only a reset of all settings is possible."""


class Lost(Record, frozen=True, kw_only=True):
    """There is no worker, and why; another is started soon."""

    reason: Text
    remedy: Remedy = ""
    """What must change before one can start, if the start failed for that. Then automatic starts are tried once a
    minute. Settings can be changed meanwhile, unless their file is unreadable."""


class Ended(Record, frozen=True, kw_only=True):
    """The worker was asked to quit, here or elsewhere, and did."""


LinkChange = Connecting | Attached | Lost | Ended
Arrival = LinkChange | LastKnown | Event

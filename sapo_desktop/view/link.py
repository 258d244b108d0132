"""What the window may know of its link to the worker; attachment.py keeps the link itself. No Qt."""

from __future__ import annotations

from typing import Literal

from sapo_desktop.core.records import Record
from sapo_desktop.core.sentences import Text
from sapo_desktop.core.why import Starting
from sapo_desktop.worker.control.messages.events import Event
from sapo_desktop.worker.control.messages.replies import Curve, SettingsAre, Status


class Connecting(Record, frozen=True, kw_only=True):
    """A worker is looked for, or started."""

    again: bool = False
    why: Starting = Starting()
    """What the worker says of its start; nothing before it does."""


class LastKnown(Record, frozen=True, kw_only=True):
    """The rounds on the disk, shown until a node that starts says how it stands."""

    curve: Curve


class Attached(Record, frozen=True, kw_only=True):
    """The worker answers; what it said of itself. Events follow."""

    status: Status
    settings: SettingsAre
    curve: Curve


Mend = Literal["", "model", "pack", "settings", "file"]
"""`pack`: what learns is not installed yet. `file`: the one of the settings, which cannot be read: all can be set to
the defaults, and nothing else can be changed, before a person has mended it."""


class Lost(Record, frozen=True, kw_only=True):
    """There is no worker, and why; another is started soon."""

    reason: Text
    mend: Mend = ""
    """What has to be changed before one can start, where the start failed for that: a start by itself is tried once a
    minute then, and settings can be changed meanwhile, but for those of a file that cannot be read."""


class Ended(Record, frozen=True, kw_only=True):
    """The worker was told to end, here or elsewhere, and did."""


LinkChange = Connecting | Attached | Lost | Ended
Arrival = LinkChange | LastKnown | Event

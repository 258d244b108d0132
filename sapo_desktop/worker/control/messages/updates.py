"""What clients and the worker say to each other about newer versions."""

from __future__ import annotations

from sapo_desktop.core.updates.manifest import Standing
from sapo_desktop.worker.control.messages.base import Message


class GetUpdates(Message, frozen=True):
    """How this version stands. `look`: ask the release address now; InSilo or UsageError where that may not be."""

    look: bool = False


class UpdatesAre(Message, frozen=True):
    """Reply to GetUpdates, and an event where it changed."""

    standing: Standing

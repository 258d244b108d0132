"""The process that handles model files: downloads, imports, removes, looks. A service as worker/services.py says.

It is started for one piece of work and ended after it; to cancel is to end it, at any moment. Only a download opens a
socket.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from sapo_desktop.core.models import Contents, Fetch, Kept, Look, Remove, Removed, StoreReply, StoreRequest, TakeIn
from sapo_desktop.core.models import Transfer as Progress
from sapo_desktop.models.importing import take_in
from sapo_desktop.models.store import Store


class ModelFiles:
    """Answers one request after the other."""

    def __init__(self) -> None:
        self.versions = {"huggingface_hub": version("huggingface_hub")}

    def handle(self, request: StoreRequest, progress: Callable[[Progress], None]) -> StoreReply:
        match request:
            case Fetch():
                return self._fetch(request, progress)
            case TakeIn():
                return take_in(request, progress)
            case Remove(folder=folder, name=name):
                return Removed(name=name, bytes=Store(Path(folder)).remove(name))
            case Look(folder=folder):
                return self._look(folder)

    def _fetch(self, request: Fetch, progress: Callable[[Progress], None]) -> Kept:
        from sapo_desktop.models.download import download  # the hub's client; nothing else needs it

        return asyncio.run(download(request, progress))

    def _look(self, folder: str) -> Contents:
        return Store(Path(folder)).contents()


def create() -> ModelFiles:
    return ModelFiles()

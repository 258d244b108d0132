"""The real way to a node: the control channel of worker/client.py, imported when a command needs it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sapo_desktop.commands.context import Attached, Node


def data_folder(given: str | None) -> Path:
    """The data folder that the user named, or the user's own; nothing is created."""
    from sapo_desktop.system.folders import DataFolder

    return DataFolder.at(Path(given) if given is not None else None).root


class WorkerDoor:
    """Opens the control channel of a data folder."""

    async def running(self, folder: Path, *, owner: bool = False) -> Node:
        from sapo_desktop.worker.client import connect

        return await connect(folder, owner=owner)

    async def running_or_started(self, folder: Path, overrides: Mapping[str, str]) -> Attached:
        from sapo_desktop.worker.client import connect_or_start

        node, started = await connect_or_start(folder, overrides)
        return Attached(node=node, started=started)

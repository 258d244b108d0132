"""The real way to a node: the control channel of worker/control/client.py, imported when a command needs it."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import msgspec

from sapo_desktop.commands.line.context import Attached, Node
from sapo_desktop.core.errors import UsageError
from sapo_desktop.worker.control.messages.models import FitReply, FitRequest
from sapo_desktop.worker.control.messages.swarm import RelayOptions

END_SECONDS = 20.0
"""How long a worker that was told to end is waited for, so that the next command finds its folder free."""


def data_folder(given: str | None) -> Path:
    """The data folder that the user named, or the user's own; nothing is created."""
    from sapo_desktop.system.folders import DataFolder

    if given == "":
        raise UsageError("--data needs a folder.")
    return DataFolder.at(Path(given) if given is not None else None).root


class WorkerDoor:
    """Opens the control channel of a data folder."""

    async def running(self, folder: Path, *, owner: bool = False) -> Node:
        from sapo_desktop.worker.control.client import connect

        return await connect(folder, owner=owner)

    async def running_or_started(self, folder: Path, overrides: Mapping[str, str]) -> Attached:
        """A node that is there keeps the owner it has; a fresh one gets us, so that it ends if we are killed."""
        from sapo_desktop.worker.control.client import connect_or_start

        client, started = await connect_or_start(folder, overrides)
        if client.process is None:
            return Attached(node=client, started=started)
        return Attached(node=client, started=started, ended=partial(_until_gone, client.process))

    async def relay_started(self, folder: Path, options: RelayOptions) -> Attached:
        from sapo_desktop.worker.control.client import start_and_connect

        words = ["--options", msgspec.json.encode(options).decode()]
        client = await start_and_connect(folder, words, module="sapo_desktop.worker.membership.relay")
        assert client.process is not None
        return Attached(node=client, started=True, ended=partial(_until_gone, client.process))

    async def appraise(self, folder: Path, request: FitRequest) -> FitReply:
        from sapo_desktop.worker.control.client import appraise

        return await appraise(folder, request)


async def _until_gone(process: subprocess.Popen[bytes]) -> None:
    # A worker that takes longer goes on ending by itself; the lock tells the next command.
    with contextlib.suppress(subprocess.TimeoutExpired):
        await asyncio.to_thread(process.wait, END_SECONDS)

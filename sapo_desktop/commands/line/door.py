"""Access to a folder's node: the control channel of worker/control/client.py. Tests replace it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from sapo_desktop.worker.control import client
from sapo_desktop.worker.control.client import Attached, Client
from sapo_desktop.worker.control.messages.swarm import RelayOptions

_RELAY = "sapo_desktop.worker.membership.relay"


class Door:
    """Connects to the node of a data folder."""

    async def running(self, folder: Path, *, owner: bool = False) -> Client:
        """The folder's running node; NotRunning if there is none. `owner`: it may end when we leave."""
        return await client.connect(folder, owner=owner)

    async def running_or_started(self, folder: Path, overrides: Mapping[str, str]) -> Attached:
        """The folder's running node, which keeps its owner, otherwise a new idle one that we own, so that it ends if we
        are killed. `overrides`: for a new one only."""
        return await client.connect_or_start(folder, overrides)

    async def relay_started(self, folder: Path, options: RelayOptions) -> Client:
        """A new relay that we own."""
        words = ["--options", msgspec.json.encode(options).decode()]
        return await client.start_and_connect(folder, words, module=_RELAY)

    async def relay_checked(self, folder: Path, options: RelayOptions) -> None:
        """Let a relay's program check options, files and ports. Raises SapoError with what is wrong."""
        words = ["--data", str(folder), "--options", msgspec.json.encode(options).decode(), "--check"]
        await client.run_to_end(words, _RELAY)

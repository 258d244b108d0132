"""Access to a folder's node: the control channel of worker/control/client.py. Tests replace it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec

from sapo_desktop.core.link.requests import ReplyType, Request
from sapo_desktop.core.sentences import Text
from sapo_desktop.worker.control import client
from sapo_desktop.worker.control.messages.events import Event
from sapo_desktop.worker.control.messages.swarm import RelayOptions


class Node(Protocol):
    """A running node as a client sees it."""

    async def call(self, request: Request[ReplyType]) -> ReplyType:
        """The node's reply; a SapoError of the kind that it names if it failed."""

    def events(self) -> AsyncIterator[Event]:
        """Events from now on, until the node ends or the channel breaks."""

    async def end_reason(self) -> Text:
        """What is known of a node that closed its channel without a goodbye."""

    async def close(self) -> None: ...

    async def until_gone(self) -> None:
        """Return once the process that was started for us, and asked to quit, has ended."""


_RELAY = "sapo_desktop.worker.membership.relay"


class Attached(NamedTuple):
    """A node, and whether it was started for this command."""

    node: Node
    started: bool


class Door:
    """Connects to the node of a data folder."""

    async def running(self, folder: Path, *, owner: bool = False) -> Node:
        """The folder's running node; NotRunning if there is none. `owner`: it may end when we leave."""
        return await client.connect(folder, owner=owner)

    async def running_or_started(self, folder: Path, overrides: Mapping[str, str]) -> Attached:
        """The folder's running node, which keeps its owner, otherwise a new idle one that we own, so that it ends if we
        are killed. `overrides`: for a new one only."""
        return Attached(*await client.connect_or_start(folder, overrides))

    async def relay_started(self, folder: Path, options: RelayOptions) -> Node:
        """A new relay that we own."""
        words = ["--options", msgspec.json.encode(options).decode()]
        return await client.start_and_connect(folder, words, module=_RELAY)

    async def relay_checked(self, folder: Path, options: RelayOptions) -> None:
        """Let a relay's program check options, files and ports. Raises SapoError with what is wrong."""
        words = ["--data", str(folder), "--options", msgspec.json.encode(options).decode(), "--check"]
        await client.run_to_end(words, _RELAY)

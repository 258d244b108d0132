"""The answering engine: torch's trainer, llama.cpp, or a remote server.

torch answers with its own state. The other two have a host without state that counts: base weights and adapter are
files, so a death costs the current answers and the seconds of loading, and the host restarts by itself. The adapter is
passed as a file when an answer needs one that the host does not have.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Protocol

from sapo_desktop.core.errors import AdapterRefused, HostDied, HostError, NotWritten
from sapo_desktop.core.files.durable import disk_errors_as
from sapo_desktop.core.link.requests import ReplyType, Request
from sapo_desktop.core.records import Generated
from sapo_desktop.core.sentences import sentence
from sapo_desktop.engines.protocols import (
    Encode,
    Encoded,
    Generate,
    Loaded,
    LoadGguf,
    LoadRemote,
    UseAdapter,
)
from sapo_desktop.models.files.folder import ModelFolder
from sapo_desktop.worker.hosts.deaths import Deaths
from sapo_desktop.worker.hosts.hosting import Host
from sapo_desktop.worker.hosts.trainer import LOAD_SECONDS, WORK_SECONDS, EnginePlan, OnProgress, Trainer

log = logging.getLogger(__name__)

PARTING_SECONDS = 3.0
"""How long a remote server may take to unload the adapter of a node that is ending."""
_TRIES = 3
"""Deaths during one request before it fails."""


class Generator(Protocol):
    """The interface of all of them."""

    async def answer(self, request: Generate, on_progress: OnProgress | None = None) -> Generated:
        """Answer with the base, with what is learned, or with its average, as requested."""

    async def encode(self, request: Encode) -> Encoded:
        """Ids of prompts and texts."""

    def answering_with(self, checkpoint: Path) -> contextlib.AbstractAsyncContextManager[None]:
        """Inside, answers use this checkpoint's adapter."""


class HostedGenerator(ABC):
    """A generator with its own host. `trainer`: the source of its adapter; None: it answers with the base."""

    can_change_model = True
    """Whether a smaller model can replace one that does not fit."""

    def __init__(self, host: Host, load: LoadGguf | LoadRemote, folder: Path, trainer: Trainer | None = None) -> None:
        """`folder`: for the passed adapters; emptied first."""
        self.host = host
        self.trainer = trainer
        self.loaded: Loaded | None = None
        self.load = load
        self._process: int | None = None
        """The process that loaded the model; a new one holds nothing."""
        self._wanted: Path | None = None
        self._holds: Path | None = None
        """The adapter to answer with, and the one that the process has."""
        self._stale = True
        """Whether the wanted adapter is older than the trainer's newest."""
        self._averaged = False
        """Whether it is the average."""
        self._number = 0
        self._deaths, self._requests = Deaths(), 0
        self._folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)

    # -- during a load of the trainer ---------------------------------------------------------------------------

    async def prepare(self, plan: EnginePlan) -> None:
        """Before the trainer loads: check that this generator can be used."""
        self._stale = True
        self._wanted = None

    @abstractmethod
    async def begin(self, plan: EnginePlan) -> Loaded:
        """Load, once memory is allocated and the trainer has its state."""

    @abstractmethod
    async def configure(self, threads: int) -> None:
        """Limit the number of threads."""

    def use_model(self, model: ModelFolder) -> Path | None:
        """Answer with another model from the next load on; returns its file, or None if the folder is enough."""
        return None

    async def leave(self) -> None:  # noqa: B027 - nothing to do is an answer
        """The node is about to end."""

    # -- answers -----------------------------------------------------------------------------------------------

    async def answer(self, request: Generate, on_progress: OnProgress | None = None) -> Generated:
        if self.trainer is not None and not request.base and (self._stale or self._averaged != request.averaged):
            await self._hand_over(self.trainer, None, averaged=request.averaged)
            self._stale, self._averaged = False, request.averaged
        return await self.ask(request, on_progress)

    async def encode(self, request: Encode) -> Encoded:
        return await self.ask(request)

    @contextlib.asynccontextmanager
    async def answering_with(self, checkpoint: Path) -> AsyncIterator[None]:
        """The trainer's state is not affected."""
        assert self.trainer is not None, "without one there are no checkpoints to answer with"
        await self._hand_over(self.trainer, checkpoint)
        self._stale = self._averaged = False  # for this one request
        try:
            yield
        finally:
            self._stale = True

    def adapter_changed(self) -> None:
        """Before the next answer that needs it, the trainer's new adapter is passed."""
        self._stale = True

    async def start(self) -> Loaded:
        """Load the model and the adapter unless they are loaded; restart a host that ended."""
        await self._revive()
        if self.loaded is None or self._process != self.host.pid:
            self._process = self.host.pid
            self.loaded = None
            self.loaded = await self.host.call(self.load, timeout=LOAD_SECONDS, loading=True)
            self._holds = None
        if self._holds != self._wanted:
            wanted = self._wanted
            await self._call(UseAdapter(file=None if wanted is None else str(wanted)))
            self._holds = wanted
        return self.loaded

    async def ask(self, request: Request[ReplyType], on_progress: OnProgress | None = None) -> ReplyType:
        """Have a request answered, in a new process if the current one dies.

        Raises:
            HostDied: it died each time, or was closed.
            SapoError: what the service raised.
        """
        self._requests += 1
        for left in reversed(range(_TRIES)):
            try:
                await self.start()
                return await self._call(request, on_progress)
            except HostDied as error:
                if not left or self.host.is_closed:
                    raise
                log.warning("%s It is restarted.", error)
                if self._deaths.were_for_memory(error, self._requests):
                    self._ask_for_less()
        raise AssertionError("the last try returns or raises")

    # -- what the two do differently ---------------------------------------------------------------------------

    @abstractmethod
    async def _write_adapter(self, trainer: Trainer, place: Path, checkpoint: Path | None, averaged: bool) -> Path:
        """Write the adapter in this generator's format; returns its path."""

    def _ask_for_less(self) -> None:  # noqa: B027 - nothing to do is an answer
        """The system killed the host for its memory."""

    async def _hand_over(self, trainer: Trainer, checkpoint: Path | None, *, averaged: bool = False) -> None:
        """Answer with the current adapter, its average, or a checkpoint's. NotWritten if that is impossible."""
        with disk_errors_as(NotWritten, sentence("The adapter could not be passed to the generator")):
            before = sorted(self._folder.iterdir())
            self._number += 1
            place = self._folder / f"adapter-{self._number:08d}"
            self._wanted = await self._write_adapter(trainer, place, checkpoint, averaged)
            for old in before:
                if old.is_dir():
                    shutil.rmtree(old)
                else:
                    old.unlink()

    async def _revive(self) -> None:
        """Restart a process that ended."""
        if self.host.pid is None:
            await self.host.restart()

    async def _call(self, request: Request[ReplyType], on_progress: OnProgress | None = None) -> ReplyType:
        return await self.host.call(request, timeout=WORK_SECONDS, on_progress=on_progress)


_ADAPTER = ("adapter_model.safetensors", "adapter_config.json")


class Server(HostedGenerator):
    """A remote server. The adapter is passed as peft's two files, in a folder that the server sees too
    (engines/remote/server.py copies them there)."""

    can_change_model = False
    """A smaller model here would differ from the server's."""

    async def prepare(self, plan: EnginePlan) -> None:
        """Connect before seconds are spent on the trainer.

        Raises:
            AdapterRefused: something is to be learned, and the server accepts no adapter.
        """
        await super().prepare(plan)
        server = await self.start()
        if self.trainer is not None and not server.learns:
            raise AdapterRefused(
                sentence(
                    "The server at remote_url cannot load an adapter while it runs, so nothing learned here "
                    "reaches it. Set remote_adapters to empty, or use vLLM (docs/remote.md)."
                )
            )

    async def begin(self, plan: EnginePlan) -> Loaded:
        """The first adapter is passed at once, to detect a server that accepts none (AdapterRefused)."""
        if self.trainer is not None:
            await self._hand_over(self.trainer, None)
            self._stale = self._averaged = False
        return await self.start()

    async def configure(self, threads: int) -> None:
        """The server manages its own."""

    async def leave(self) -> None:
        """Remove the adapter from a server that would keep it; if that fails, the next start does it."""
        if self.trainer is None or self.host.pid is None or self._process != self.host.pid:
            return
        self._wanted = None
        self.host.resume()  # a node may end while it is paused
        with contextlib.suppress(HostError, TimeoutError):
            async with asyncio.timeout(PARTING_SECONDS):
                await self.host.cancel()
                await self._call(UseAdapter(file=None))

    async def _write_adapter(self, trainer: Trainer, place: Path, checkpoint: Path | None, averaged: bool) -> Path:
        place.mkdir()
        if checkpoint is None:
            await trainer.write_folder(place, averaged)
        else:
            # A checkpoint may be deleted while the server still answers with it.
            await asyncio.to_thread(_copy, checkpoint, place)
        return place


def _copy(source: Path, target: Path) -> None:
    for name in _ADAPTER:
        shutil.copyfile(source / name, target / name)

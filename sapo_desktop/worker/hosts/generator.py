"""What answers: torch's trainer, llama.cpp, or a server elsewhere.

torch answers with what it holds. The two others have a host of their own, which holds nothing that counts: base weights
and adapter are files, so a death costs the answers in hand and the seconds of loading, and the host is brought back by
itself. The adapter goes over, as a file, when an answer needs one that the host does not have.
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
from sapo_desktop.core.records import Generated
from sapo_desktop.core.sentences import sentence
from sapo_desktop.engines.protocols import (
    Encode,
    Encoded,
    Generate,
    GeneratorReply,
    GeneratorRequest,
    Loaded,
    LoadGguf,
    LoadRemote,
    RemoteRequest,
    UseAdapter,
)
from sapo_desktop.models.files.folder import ModelFolder
from sapo_desktop.worker.hosts.deaths import Deaths
from sapo_desktop.worker.hosts.hosting import Host, expect
from sapo_desktop.worker.hosts.trainer import LOAD_SECONDS, WORK_SECONDS, EnginePlan, OnProgress, Trainer

log = logging.getLogger(__name__)

PARTING_SECONDS = 3.0
"""How long a server elsewhere may take to forget the adapter of a node that ends."""
_TRIES = 3
"""Deaths in one request before it fails."""


class Generator(Protocol):
    """What every one of them does."""

    async def answer(self, request: Generate, on_progress: OnProgress | None = None) -> Generated:
        """Answer with the base, with what is learned, or with its average, as the request says."""

    async def encode(self, request: Encode) -> Encoded:
        """Ids of prompts and texts."""

    def answering_with(self, checkpoint: Path) -> contextlib.AbstractAsyncContextManager[None]:
        """Inside, answers are those of this checkpoint's adapter."""


class HostedGenerator(ABC):
    """A generator with a host of its own; `trainer`: whose adapter it answers with, None: it answers with the base."""

    can_change_model = True
    """Whether a smaller model can take the place of one that does not fit."""

    def __init__(self, host: Host, load: LoadGguf | LoadRemote, folder: Path, trainer: Trainer | None = None) -> None:
        """`folder`: for the adapters that go over; emptied first."""
        self.host = host
        self.trainer = trainer
        self.loaded: Loaded | None = None
        self.load = load
        self._process: int | None = None
        """The process that loaded the model; another one holds nothing."""
        self._wanted: Path | None = None
        self._holds: Path | None = None
        """Adapters: the one to answer with, and the one that the process has."""
        self._stale = True
        """Whether the adapter that is wanted is not the trainer's newest."""
        self._averaged = False
        """Whether it is the average."""
        self._number = 0
        self._deaths, self._requests = Deaths(), 0
        self._folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)

    # -- around a load of the trainer --------------------------------------------------------------------------

    async def prepare(self, plan: EnginePlan) -> None:
        """Before the trainer loads: see that this generator can be used."""
        self._stale = True
        self._wanted = None

    @abstractmethod
    async def begin(self, plan: EnginePlan) -> Loaded:
        """Once memory is shared out and the trainer holds its state: load."""

    @abstractmethod
    async def configure(self, threads: int) -> None:
        """Compute with at most so many threads."""

    def use_model(self, model: ModelFolder) -> Path | None:
        """Answer with another model from the next load on; returns its file, None where the folder is all it needs."""
        return None

    async def leave(self) -> None:  # noqa: B027 - nothing to do is an answer
        """The node is about to end."""

    # -- answers -----------------------------------------------------------------------------------------------

    async def answer(self, request: Generate, on_progress: OnProgress | None = None) -> Generated:
        if self.trainer is not None and not request.base and (self._stale or self._averaged != request.averaged):
            await self._hand_over(self.trainer, None, averaged=request.averaged)
            self._stale, self._averaged = False, request.averaged
        return expect(await self.ask(request, on_progress), Generated)

    async def encode(self, request: Encode) -> Encoded:
        return expect(await self.ask(request), Encoded)

    @contextlib.asynccontextmanager
    async def answering_with(self, checkpoint: Path) -> AsyncIterator[None]:
        """The trainer's state is not touched for it."""
        assert self.trainer is not None, "without one there are no checkpoints to answer with"
        await self._hand_over(self.trainer, checkpoint)
        self._stale = self._averaged = False  # for this one request
        try:
            yield
        finally:
            self._stale = True

    def adapter_changed(self) -> None:
        """What the trainer learned or went back to goes over before the next answer that needs it."""
        self._stale = True

    async def start(self) -> Loaded:
        """Load the model where it is not loaded, and the adapter; a host that ended is started again."""
        await self._revive()
        if self.loaded is None or self._process != self.host.pid:
            self._process = self.host.pid
            self.loaded = None
            self.loaded = expect(await self.host.call(self.load, timeout=LOAD_SECONDS, loading=True), Loaded)
            self._holds = None
        if self._holds != self._wanted:
            wanted = self._wanted
            await self._call(UseAdapter(file=None if wanted is None else str(wanted)))
            self._holds = wanted
        return self.loaded

    async def ask(
        self, request: GeneratorRequest | RemoteRequest, on_progress: OnProgress | None = None
    ) -> GeneratorReply:
        """Have a request done, in a fresh process where the one at work dies.

        Raises:
            HostDied: it died each time, or was ended for good.
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
                log.warning("%s It is started again.", error)
                if self._deaths.were_for_memory(error, self._requests):
                    self._ask_for_less()
        raise AssertionError("the last try returns or raises")

    # -- what the two do differently ---------------------------------------------------------------------------

    @abstractmethod
    async def _write_adapter(self, trainer: Trainer, place: Path, checkpoint: Path | None, averaged: bool) -> Path:
        """Write the adapter in the form that this generator takes; returns where it is."""

    def _ask_for_less(self) -> None:  # noqa: B027 - nothing to do is an answer
        """The system killed the host for its memory."""

    async def _hand_over(self, trainer: Trainer, checkpoint: Path | None, *, averaged: bool = False) -> None:
        """Answer with the adapter as it is, its average, or as a checkpoint has it. NotWritten where it cannot be."""
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
        """Start a process that ended again."""
        if self.host.pid is None:
            await self.host.restart()

    async def _call(
        self, request: GeneratorRequest | RemoteRequest, on_progress: OnProgress | None = None
    ) -> GeneratorReply:
        reply: GeneratorReply = await self.host.call(request, timeout=WORK_SECONDS, on_progress=on_progress)
        return reply


_ADAPTER = ("adapter_model.safetensors", "adapter_config.json")


class Server(HostedGenerator):
    """A server elsewhere. The adapter goes over as peft's two files, into a folder that the server sees too
    (engines/remote/server.py copies them there)."""

    can_change_model = False
    """A smaller model here would no longer be the server's."""

    async def prepare(self, plan: EnginePlan) -> None:
        """Connect before seconds are spent on the trainer.

        Raises:
            AdapterRefused: something is to be learned, and the server takes no adapter.
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
        """The first adapter goes over at once, so that a server that takes none is found out (AdapterRefused)."""
        if self.trainer is not None:
            await self._hand_over(self.trainer, None)
            self._stale = self._averaged = False
        return await self.start()

    async def configure(self, threads: int) -> None:
        """It has its own."""

    async def leave(self) -> None:
        """Take the adapter out of a server that would keep it; what prevents that leaves it to the next start."""
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
            # A checkpoint may go away while the server still answers with it.
            await asyncio.to_thread(_copy, checkpoint, place)
        return place


def _copy(source: Path, target: Path) -> None:
    for name in _ADAPTER:
        shutil.copyfile(source / name, target / name)

"""The worker's side of a generator in a process of its own: brought back by itself when that dies.

It holds nothing that counts: base weights and adapter are files, so a death costs the answers in hand and the seconds
of loading. What it is to answer with is remembered here and made true before each request. Left out: what is in
the files; worker/hosts/split.py sees to them.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from pathlib import Path

import msgspec

from sapo_desktop.core.errors import HostDied, HostError
from sapo_desktop.engines.protocols import (
    Configure,
    GeneratorReply,
    GeneratorRequest,
    Loaded,
    LoadGguf,
    LoadRemote,
    RemoteRequest,
    UseAdapter,
)
from sapo_desktop.worker.hosts.deaths import Deaths
from sapo_desktop.worker.hosts.engine import LOAD_SECONDS, WORK_SECONDS
from sapo_desktop.worker.hosts.hosting import Host, expect

log = logging.getLogger(__name__)

PARTING_SECONDS = 3.0
"""How long a server elsewhere may take to forget the adapter of a node that ends."""
_TRIES = 3
"""Deaths in one request before it fails."""
_LEAST_CACHE = 64 * 2**20


class GeneratorHost:
    """A host of kind `generator` or `remote` with its model and adapter."""

    def __init__(self, host: Host, load: LoadGguf | LoadRemote) -> None:
        self.host = host
        self.load = load
        self.loaded: Loaded | None = None
        self._process: int | None = None
        """The process that loaded the model; another one holds nothing."""
        self._wanted: Path | None = None
        self._holds: Path | None = None
        self._most_cache = 0
        """Keys and values took more than this once, and the system killed it; 0: it never did."""
        self._deaths, self._requests = Deaths(), 0

    def use(self, adapter: Path | None) -> None:
        """Answer with the adapter at that path from now on, or with the base. It stays there until it is replaced."""
        self._wanted = adapter

    async def change_file(self, file: Path) -> None:
        """Answer with another model from now on. The process ends: the old one's memory is wanted, and on Windows a
        file that is open cannot be removed."""
        if isinstance(self.load, LoadGguf) and self.load.model != str(file):
            self.load = msgspec.structs.replace(self.load, model=str(file))
            await self.host.stop()

    def bound(self, cache_bytes: int) -> None:
        """Keys and values may take so much; where that is less than before, the model is loaded again for it."""
        if isinstance(self.load, LoadRemote):
            return
        bounds = [bound for bound in (cache_bytes, self._most_cache) if bound]
        before, now = self.load.cache_bytes, min(bounds, default=0)
        self.load = msgspec.structs.replace(self.load, cache_bytes=now)
        if now and (now < before or not before):
            self._process = None

    async def start(self) -> Loaded:
        """Load the model where it is not loaded, and the adapter; a host that ended is started again."""
        await self.revive()
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

    async def revive(self) -> None:
        """Start a process that ended again."""
        if self.host.pid is None:
            await self.host.restart()

    async def ask(
        self, request: GeneratorRequest | RemoteRequest, told: Callable[[msgspec.Struct], None] | None = None
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
                return await self._call(request, told)
            except HostDied as error:
                if not left or self.host.is_closed:
                    raise
                log.warning("%s It is started again.", error)
                if self._deaths.were_for_memory(error, self._requests):
                    self._ask_for_less()
        raise AssertionError("the last try returns or raises")

    async def configure(self, threads: int) -> None:
        """Compute with at most so many threads; a server elsewhere has its own."""
        if isinstance(self.load, LoadRemote):
            return
        self.load = msgspec.structs.replace(self.load, threads=threads)
        if self.host.pid is not None and self.loaded is not None:
            await self._call(Configure(threads=threads))

    async def unload_adapter(self) -> None:
        """Take the adapter out of a server that would keep it; what prevents that leaves it to the next start."""
        if self.host.pid is None or self._process != self.host.pid:
            return
        self.use(None)
        self.host.resume()  # a node may end while it is paused
        with contextlib.suppress(HostError, TimeoutError):
            async with asyncio.timeout(PARTING_SECONDS):
                await self.host.cancel()
                await self._call(UseAdapter(file=None))

    def _ask_for_less(self) -> None:
        """The system killed it: half the memory for keys and values from now on."""
        if isinstance(self.load, LoadRemote):
            return
        half = max(_LEAST_CACHE, self.load.cache_bytes // 2)
        self._most_cache = min(self.load.cache_bytes or half, half)
        self.bound(self._most_cache)

    async def _call(
        self,
        request: GeneratorRequest | RemoteRequest,
        told: Callable[[msgspec.Struct], None] | None = None,
    ) -> GeneratorReply:
        reply: GeneratorReply = await self.host.call(request, timeout=WORK_SECONDS, on_progress=told)
        return reply

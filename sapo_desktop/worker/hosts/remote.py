"""An engine whose generator is a server elsewhere, with torch learning here: the adapter goes over after each step.

It goes as peft's two files into a folder that the server sees too (engines/remote/server.py copies them there). Where
nothing is learned the engine is worker/hosts/split.py's AnswerEngine.
"""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

from sapo_desktop.core.errors import AdapterRefused
from sapo_desktop.core.sentences import sentence
from sapo_desktop.engines.protocols import Done, Loaded, Save
from sapo_desktop.worker.hosts.engine import EnginePlan
from sapo_desktop.worker.hosts.generator import GeneratorHost
from sapo_desktop.worker.hosts.hosting import Host
from sapo_desktop.worker.hosts.split import SplitEngine

_ADAPTER = ("adapter_model.safetensors", "adapter_config.json")


class RemoteEngine(SplitEngine):
    """torch learns in `host`, a server answers behind `generator`."""

    can_change_model = False
    """A smaller model here would no longer be the server's."""

    def __init__(self, host: Host, plan: EnginePlan, generator: GeneratorHost, folder: Path) -> None:
        super().__init__(host, plan, generator, None, folder)

    async def stop(self) -> None:
        """As the base class; the server forgets the adapter first."""
        await self.generator.unload_adapter()
        await super().stop()

    async def _load(self, checkpoint: Path | None) -> Loaded:
        """As the base class; the first adapter goes over at once, so that a server that takes none is found out.

        Raises:
            AdapterRefused: that is so.
        """
        self.generator.use(None)
        server = await self.generator.start()  # before seconds are spent on the trainer
        if not server.learns:
            raise AdapterRefused(
                sentence(
                    "The server at remote_url takes no adapter while it runs, so nothing that is learned here "
                    "gets there. Empty remote_adapters, or use vLLM (docs/remote.md)."
                )
            )
        loaded = await super()._load(checkpoint)
        await self._hand_over(None)
        await self.generator.start()
        self._stale = False
        return loaded

    async def _write_adapter(self, place: Path, checkpoint: Path | None, averaged: bool) -> Path:
        place.mkdir()
        if checkpoint is None:
            await self._call(Save(folder=str(place), averaged=averaged), Done)
        else:
            # A checkpoint may go away while the server still answers with it.
            await asyncio.to_thread(_copy, checkpoint, place)
        return place


def _copy(source: Path, target: Path) -> None:
    for name in _ADAPTER:
        shutil.copyfile(source / name, target / name)

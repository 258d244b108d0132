"""Work on model files in a separate process, for commands without a worker, and for the worker's clients.

Whether the network may be used is decided here, before there is a process that could open a socket. The token is looked
up, and sent, only if the hub refuses access without one.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from sapo_desktop.core.errors import AccessRefused, DownloadError, HostError, InSilo, UsageError
from sapo_desktop.core.link.requests import ReplyType, Request
from sapo_desktop.core.models import (
    PUBLIC_HUB,
    Access,
    AtRate,
    Fetch,
    Find,
    Kept,
    Look,
    Search,
    Transfer,
    installed_name,
    kept_already,
)
from sapo_desktop.core.sentences import sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.system.folders import DataFolder, shared_models
from sapo_desktop.system.secrets.kept_secrets import hub_token
from sapo_desktop.worker.control.messages.models import FoundAre, HubModelsAre
from sapo_desktop.worker.hosts.hosting import Host
from sapo_desktop.worker.hosts.protocol import KINDS, HostOptions

OnTransfer = Callable[[Transfer], None]
_SEARCH_SECONDS = 40.0


def models_folder(settings: Settings) -> Path:
    """The folder of this node's models."""
    return Path(settings.models_folder).expanduser().absolute() if settings.models_folder else shared_models()


def endpoint() -> str:
    """The server for downloads: HF_ENDPOINT, otherwise the public hub."""
    return (os.environ.get("HF_ENDPOINT", "") or PUBLIC_HUB).rstrip("/")


def check_network(settings: Settings) -> None:
    """Refuse a download or search in silo. Raises InSilo."""
    if settings.silo:
        raise InSilo(
            "This node is in silo: no network at all, so nothing is searched or downloaded. Leave silo for it, or "
            "import the model.",
            in_terminal="sapo-desktop silo off, or sapo-desktop models import PATH",
        )
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        raise InSilo(
            sentence("HF_HUB_OFFLINE is set in the environment, so nothing is searched or downloaded: unset it first.")
        )


def check_unused(settings: Settings, name: str) -> None:
    """Refuse to remove the model that this node learns with. Raises UsageError."""
    if name in (settings.model, installed_name(settings.model)):
        raise UsageError(
            "{model} is the model in use. Choose another one first.",
            in_terminal="sapo-desktop settings set model starter",
            model=name,
        )


class Rate:
    """The limit in KB per second; 0: unlimited. It may change during a download."""

    def __init__(self) -> None:
        self.kilobytes = 0
        self.changed = asyncio.Event()

    def set(self, kilobytes: int) -> None:
        if kilobytes != self.kilobytes:
            self.kilobytes = kilobytes
            self.changed.set()


async def fetch(
    settings: Settings,
    data: DataFolder,
    reference: str,
    files: list[str],
    on_transfer: OnTransfer | None = None,
    rate: Rate | None = None,
) -> Kept:
    """Download a model; cancel the task to end the process at once. `rate`: replaces the setting.

    Raises:
        InSilo: this node is in silo, and the model is not here.
        SapoError: what the download raised.
    """
    try:
        check_network(settings)
    except InSilo:
        if (kept := await at_hand(settings, data, reference, files)) is None:
            raise
        return kept
    folder, hub = str(models_folder(settings)), endpoint()
    kilobytes = settings.download_kilobytes if rate is None else rate.kilobytes
    access = Access(endpoint=hub, most_bytes=1000 * kilobytes, proxy=settings.proxy)
    request = Fetch(folder=folder, reference=reference, files=files, access=access)
    try:
        return await ask(request, data, on_transfer, rate)
    except AccessRefused:
        token = await asyncio.to_thread(hub_token.load, hub)
        if token is None:
            raise
    access = msgspec.structs.replace(access, token=token)
    return await ask(msgspec.structs.replace(request, access=access), data, on_transfer, rate)


async def at_hand(settings: Settings, data: DataFolder, reference: str, files: list[str]) -> Kept | None:
    """The model that a download would bring, if it is already here. Does not use the network."""
    folder = str(models_folder(settings))
    found = await ask(Look(folder=folder, reference=reference, files=files), data)
    return kept_already(found.models[0], folder) if found.models else None


async def search(settings: Settings, data: DataFolder, words: str) -> HubModelsAre:
    """Search the hub for models by words. Cancel the task to end the process at once.

    Raises:
        InSilo: this node is in silo; no process was started.
        DownloadError: the hub does not answer, or answers wrongly.
    """
    check_network(settings)
    request = Search(words=words, access=Access(endpoint=endpoint(), proxy=settings.proxy))
    try:
        async with asyncio.timeout(_SEARCH_SECONDS):
            found = await ask(request, data)
    except TimeoutError:
        raise DownloadError(
            "{hub} did not finish its answer within {seconds} s. Try again later, or set HF_ENDPOINT to another hub.",
            hub=request.access.endpoint,
            seconds=round(_SEARCH_SECONDS),
        ) from None
    return HubModelsAre(models=found.models, left_out=found.left_out)


async def ask(
    request: Request[ReplyType],
    data: DataFolder,
    on_transfer: OnTransfer | None = None,
    rate: Rate | None = None,
) -> ReplyType:
    """One job in a process that lives as long as the job. Raises SapoError."""
    host = await Host.start(HostOptions(kind=KINDS["librarian"], log=data.log("librarian"), low_priority=True))
    slower = asyncio.create_task(_keep_to(rate, host)) if rate is not None else None
    try:
        return await host.call(request, None, on_transfer)
    finally:
        if slower is not None:
            slower.cancel()
        await host.stop()


async def find(data: DataFolder) -> FoundAre:
    """The models that other programs have on this computer."""
    found = await ask(Find(), data)
    return FoundAre(models=found.models, notes=list(found.notes))


async def _keep_to(rate: Rate, host: Host) -> None:
    """Pass each change of the rate on, until cancelled or the host ends."""
    with contextlib.suppress(HostError):
        while True:
            await rate.changed.wait()
            rate.changed.clear()
            await host.call_aside(AtRate(bytes=1000 * rate.kilobytes), None)

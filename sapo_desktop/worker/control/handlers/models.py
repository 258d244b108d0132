"""Clients' requests about stored models: download, import, remove and list them.

Only one download or import runs at a time. It belongs to the worker, so it continues when clients leave.
"""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from sapo_desktop.core.errors import InSilo, SapoError, UsageError, bug
from sapo_desktop.core.link.handlers import Handlers
from sapo_desktop.core.models import Kept, Look, Remove, TakeIn, Transfer
from sapo_desktop.core.sentences import sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.secrets.kept_secrets import hub_token
from sapo_desktop.worker.control.messages import models
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.events import Event
from sapo_desktop.worker.hosts import librarian

log = logging.getLogger("sapo_desktop.worker")

_Ended = models.ModelInstalled | models.ModelFailed


class ModelRequests:
    """Answers them.

    Args:
        settings: the current ones.
    """

    def __init__(self, data: DataFolder, settings: Callable[[], Settings], publish: Callable[[Event], None]) -> None:
        self._data = data
        self._settings = settings
        self._publish = publish
        self._task: asyncio.Task[_Ended] | None = None
        self._working: models.ModelProgressed | None = None
        self._needs_network = False
        self._rate = librarian.Rate()
        self._searches: set[asyncio.Future[models.HubModelsAre]] = set()
        self.handlers = handlers = Handlers()
        handlers.on(models.DownloadModel).by(self.download)
        handlers.on(models.ImportModel).by(self.import_)
        handlers.on(models.CancelModelWork).by(self.cancel)
        handlers.on(models.RemoveModel).by(self.remove)
        handlers.on(models.GetModels).by(self.list)
        handlers.on(models.FindModels).by(self.find)
        handlers.on(models.SearchHub).by(self.search)
        handlers.on(models.SetHubToken).by(self.set_token)

    async def download(self, request: models.DownloadModel) -> Ok:
        try:
            librarian.check_network(self._settings())
        except InSilo:
            if await librarian.at_hand(self._settings(), self._data, request.model, request.files) is None:
                raise
        if self._working is not None and self._working.model == request.model:
            return Ok(text=sentence("{model} is being downloaded already.", model=request.model))
        self._begin(request.model, self._fetch(request), needs_network=True)
        return Ok(text=sentence("Downloading {model}.", model=request.model))

    async def import_(self, request: models.ImportModel) -> Ok:
        taken = TakeIn(folder=self._folder(), path=request.path, name=request.name)
        self._begin(request.path, librarian.ask(taken, self._data, self._moved), needs_network=False)
        return Ok(text=sentence("Importing {path}.", path=request.path))

    async def cancel(self, request: models.CancelModelWork) -> Ok:
        if self._working is None:
            return Ok(text=sentence("Nothing is being downloaded or imported."))
        name = self._working.model
        await self.close()
        return Ok(text=sentence("{model}: cancelled. Completely downloaded files are kept.", model=name))

    async def remove(self, request: models.RemoveModel) -> models.ModelRemoved:
        librarian.check_unused(self._settings(), request.name)
        removed = await librarian.ask(Remove(folder=self._folder(), name=request.name), self._data)
        return models.ModelRemoved(name=removed.name, bytes=removed.bytes)

    async def list(self, request: models.GetModels) -> models.ModelsAre:
        contents = await librarian.ask(Look(folder=self._folder()), self._data)
        return models.ModelsAre(folder=self._folder(), contents=contents, working=self._working)

    async def find(self, request: models.FindModels) -> models.FoundAre:
        return await librarian.find(self._data)

    async def search(self, request: models.SearchHub) -> models.HubModelsAre:
        task = asyncio.ensure_future(librarian.search(self._settings(), self._data, request.words))
        self._searches.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            if task.cancelled() and self._settings().silo:
                librarian.check_network(self._settings())
            raise
        finally:
            task.cancel()
            self._searches.discard(task)

    async def set_token(self, request: models.SetHubToken) -> Ok:
        hub = librarian.endpoint()
        if request.token is None:
            if await asyncio.to_thread(hub_token.forget, hub):
                return Ok(text=sentence("The token for {hub} was deleted.", hub=hub))
            return Ok(text=sentence("There was no token for {hub}.", hub=hub))
        await asyncio.to_thread(hub_token.keep, hub, request.token)
        return Ok(text=sentence("The token for {hub} is in this computer's keyring.", hub=hub))

    async def follow(self, settings: Settings) -> None:
        """Apply a change of silo: if true, a running download or search ends at once."""
        if settings.silo:
            for task in self._searches:
                task.cancel()
            if self._needs_network:
                await self.close()

    def at_rate(self, kilobytes: int) -> None:
        """Limit downloads to so many KB per second (0: no limit); a running one continues."""
        self._rate.set(kilobytes)

    async def close(self) -> None:
        """End a running download or import."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    def _folder(self) -> str:
        return str(librarian.models_folder(self._settings()))

    # -- the current work -----------------------------------------------------------------------------------------

    def _begin(self, model: str, work: Coroutine[Any, Any, Kept], *, needs_network: bool) -> None:
        if self._working is not None:
            work.close()
            raise UsageError(
                "{model} is still downloading or importing. Wait for it, or cancel it.",
                in_terminal="sapo-desktop models cancel",
                model=self._working.model,
            )
        self._working = models.ModelProgressed(model=model, transfer=Transfer(stage="asking"))
        self._needs_network = needs_network
        self._task = asyncio.create_task(_as_event(model, work))
        self._task.add_done_callback(functools.partial(self._over, model, work))

    async def _fetch(self, request: models.DownloadModel) -> Kept:
        return await librarian.fetch(
            self._settings(), self._data, request.model, request.files, self._moved, self._rate
        )

    def _moved(self, transfer: Transfer) -> None:
        if self._working is not None:
            self._working = models.ModelProgressed(model=self._working.model, transfer=transfer)
            self._publish(self._working)

    def _over(self, model: str, work: Coroutine[Any, Any, Kept], task: asyncio.Task[_Ended]) -> None:
        """Report the result. Not part of the task, which may be cancelled before its first step."""
        work.close()
        self._working, self._task, self._needs_network = None, None, False
        cancelled = models.ModelFailed(
            model=model, kind="HostCancelled", text=sentence("{model}: cancelled.", model=model)
        )
        self._publish(cancelled if task.cancelled() else task.result())


async def _as_event(model: str, work: Coroutine[Any, Any, Kept]) -> _Ended:
    """Do the work, and turn its result into an event."""
    try:
        kept = await work
    except SapoError as error:
        return models.ModelFailed(model=model, kind=type(error).__name__, text=error.text)
    except Exception as error:
        log.exception("Work on a model failed because of a bug.")
        return models.ModelFailed(model=model, kind="SapoError", text=bug(f"{type(error).__name__}: {error}"))
    return models.ModelInstalled(model=model, installed=kept.model, path=kept.path, notes=list(kept.notes))

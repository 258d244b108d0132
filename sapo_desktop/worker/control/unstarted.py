"""What can be asked of a node that does not run: its settings, the models that are kept, what would run here,
what was said before it ended, and its rounds.

No node is started for it: a node that a wrong setting keeps from starting is mended this way, by the commands as in the
window. The file of settings is read and written here; models are looked at by short processes of their own.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeVar, cast

from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import InSilo, NotRunning, SettingsError, UsageError
from sapo_desktop.core.models import Contents, Look
from sapo_desktop.core.sentences import Text, joined, sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.system import erasing
from sapo_desktop.system.beyond import beyond
from sapo_desktop.system.desktop import autostart
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.worker.control.client import appraise, doubts
from sapo_desktop.worker.control.lock import FolderLock
from sapo_desktop.worker.control.messages.base import Message, Ok, ReplyType, Request
from sapo_desktop.worker.control.messages.facts import GetNotices, Notices
from sapo_desktop.worker.control.messages.models import (
    FindModels,
    GetCatalogue,
    GetEstimates,
    GetFit,
    GetModels,
    ModelsAre,
    SearchHub,
)
from sapo_desktop.worker.control.messages.replies import Curve, SettingsAre
from sapo_desktop.worker.control.messages.requests import GetCurve, GetSettings, ResetSettings, SetSettings, SetSilo
from sapo_desktop.worker.control.notices import KeptNotices
from sapo_desktop.worker.hosts import librarian
from sapo_desktop.worker.store import database, rows

Done = TypeVar("Done")
_LOOK_AT_SETTINGS = 1.0
"""Seconds between looks whether the silo was switched on meanwhile."""
Change = SetSettings | ResetSettings | SetSilo
NEVER_AT_FAULT = frozenset({"theme", "language", "text_size", "notify", "when_window_closes", "price_per_kwh"})
"""Settings for which no start fails, whatever they are. Any other one counts as a reason to try again: a start in vain
costs seconds, one that is not tried a minute."""


async def answer(folder: DataFolder, request: Request[ReplyType]) -> ReplyType:
    """Answer as the node would.

    Raises:
        NotRunning: only a node can answer that.
        SapoError: a value is wrong, the file cannot be read or written.
    """
    return cast(ReplyType, await _answer(folder, request))  # `match` tells mypy nothing of ReplyType


async def _answer(folder: DataFolder, request: Request[object]) -> Message:
    match request:
        case GetSettings():
            return await asyncio.to_thread(settings, folder)
        case SetSettings(values=values):
            saved = await asyncio.to_thread(change, folder, values)
            return await with_doubts(folder, saved, values)
        case SetSilo(on=on):
            return await asyncio.to_thread(change, folder, {"silo": "on" if on else "off"})
        case ResetSettings(keys=keys):
            return await asyncio.to_thread(reset, folder, keys)
        case FindModels():
            return await librarian.find(DataFolder.open(folder.root))
        case GetModels():
            return await models(folder, read(folder).settings)
        case GetNotices():
            return Notices(items=await asyncio.to_thread(KeptNotices(folder.notices).newest))
        case GetCurve(after=after, limit=limit):
            return await asyncio.to_thread(curve, folder, after, limit)
        case SearchHub(words=words):
            work = librarian.search(read(folder).settings, DataFolder.open(folder.root), words)
            return await while_out_of_silo(work, folder.settings)
        case GetFit() | GetCatalogue() | GetEstimates():
            return await appraise(folder.root, request)
    raise NotRunning(sentence("The node is not running. The page Home says why."))


async def while_out_of_silo(work: Awaitable[Done], settings: Path) -> Done:
    """Wait for the work; where the silo is switched on meanwhile, end it at once."""
    task = asyncio.ensure_future(work)
    try:
        while not task.done():
            await asyncio.wait({task}, timeout=_LOOK_AT_SETTINGS)
            if not task.done() and settings_file.read(settings).settings.silo:
                raise InSilo(
                    "This node went into silo, so this was ended. Leave silo to try again: what arrived is kept."
                )
        return await task
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})


def curve(folder: DataFolder, after: int, limit: int) -> Curve:
    """The finished rounds, and with the first page every held-out score. Raises HistoryError."""
    with database.looked_at(folder.history) as db:
        return rows.read_curve_and_scores(db, after, limit)


def may_mend(request: Change) -> bool:
    """Whether a node that could not start before that change may start after it."""
    match request:
        case SetSilo():
            return True
        case SetSettings(values=values):
            return not NEVER_AT_FAULT.issuperset(values)
        case ResetSettings(keys=keys):
            return not NEVER_AT_FAULT.issuperset(keys or settings_file.known_keys())


def read(folder: DataFolder) -> settings_file.ReadSettings:
    """The kept settings, the defaults where there is no file. Raises SettingsError."""
    return settings_file.read(folder.settings)


def settings(folder: DataFolder) -> SettingsAre:
    """The same as a node tells them; none is of this run only, as there is no run."""
    kept = read(folder).settings
    return SettingsAre(settings=kept, changed=settings_file.changed_keys(kept), overridden=[])


def erase(folder: DataFolder, what: Collection[erasing.What]) -> None:
    """Delete what the node keeps. Raises FolderInUse where one runs, SapoError where something stays."""
    with FolderLock(folder):
        erasing.erase(folder, what)
    if "everything" in what:
        erasing.leave(folder)


def change(folder: DataFolder, values: Mapping[str, str]) -> Ok:
    """Keep these values for the next start. Raises SettingsError, and UsageError for what this computer cannot
    keep."""
    wanted = settings_file.apply(read(folder).settings, values)
    for reason in beyond(wanted, values).values():
        raise UsageError(reason)
    return _write(folder, wanted)


async def with_doubts(folder: DataFolder, saved: Ok, keys: Collection[str]) -> Ok:
    """The reply, with what would keep a node from starting by these settings, or from doing what was meant."""
    said = await doubts(folder.root, keys) if not NEVER_AT_FAULT.issuperset(keys) else []
    return Ok(text=joined([saved.text, *said]), advice=joined(said)) if said else saved


def reset(folder: DataFolder, keys: Sequence[str]) -> Ok:
    """Keep the defaults of these keys, or of all where none is named: a file that is refused is set aside for that.

    Raises:
        SettingsError: the file is refused and keys are named, or it cannot be set aside or written.
    """
    try:
        found = read(folder)
    except SettingsError:
        if keys:
            raise
        name = settings_file.set_aside(folder.settings, time.time())
        _write(folder, Settings())
        return Ok(text=sentence("The settings file was renamed to {name}; the defaults are in use.", name=name))
    saved = _write(folder, settings_file.reset(found.settings, keys or settings_file.known_keys()))
    return Ok(text=found.said) if found.said else saved


def _write(folder: DataFolder, wanted: Settings) -> Ok:
    opened = DataFolder.open(folder.root)
    if wanted.start_at_login != read(folder).settings.start_at_login:
        autostart.follow(wanted.start_at_login, opened.root)
    settings_file.write(opened.settings, wanted)
    saved: Text = sentence("Saved.")
    return Ok(text=saved)


async def models(folder: DataFolder, wanted: Settings) -> ModelsAre:
    """What lies in the models folder that these settings name."""
    place = str(librarian.models_folder(wanted))
    contents = await librarian.ask(Look(folder=place), Contents, DataFolder.open(folder.root))
    return ModelsAre(folder=place, contents=contents)

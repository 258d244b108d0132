"""Requests that work without a running node: its settings, stored models, what would run here, the last messages, and
its rounds.

No node is started for them, so commands and window can fix a wrong setting that prevents a start. The settings file is
read and written here; short separate processes inspect models.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeVar, cast

from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import InSilo, NotRunning, SettingsError, UsageError
from sapo_desktop.core.link.requests import Message, ReplyType, Request
from sapo_desktop.core.models import Look
from sapo_desktop.core.sentences import Text, joined, sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.system import erasing
from sapo_desktop.system.beyond import beyond
from sapo_desktop.system.desktop import autostart
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.worker.control.client import appraise, doubts
from sapo_desktop.worker.control.lock import FolderLock
from sapo_desktop.worker.control.messages.base import Ok
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
"""Interval of the checks whether silo was switched on meanwhile."""
Change = SetSettings | ResetSettings | SetSilo
NEVER_AT_FAULT = frozenset({"theme", "language", "text_size", "notify", "when_window_closes", "price_per_kwh"})
"""Settings that cannot make a start fail. Any other change is a reason to try again: a failed start costs seconds, a
missed one a minute."""


async def answer(folder: DataFolder, request: Request[ReplyType]) -> ReplyType:
    """Answer as the node would.

    Raises:
        NotRunning: only a node can answer that.
        SapoError: a value is wrong, or the file cannot be read or written.
    """
    return cast(ReplyType, await _answer(folder, request))  # `match` does not narrow ReplyType for mypy


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
    """Await the work; if silo is switched on meanwhile, end it at once."""
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


def may_help(request: Change) -> bool:
    """Whether a node that failed to start may succeed after that change."""
    match request:
        case SetSilo():
            return True
        case SetSettings(values=values):
            return not NEVER_AT_FAULT.issuperset(values)
        case ResetSettings(keys=keys):
            return not NEVER_AT_FAULT.issuperset(keys or settings_file.known_keys())


def read(folder: DataFolder) -> settings_file.ReadSettings:
    """The stored settings, or the defaults if there is no file. Raises SettingsError."""
    return settings_file.read(folder.settings)


def settings(folder: DataFolder) -> SettingsAre:
    """The settings as in a node's reply; none is for one run only, because there is no run."""
    kept = read(folder).settings
    return SettingsAre(settings=kept, changed=settings_file.changed_keys(kept), overridden=[])


def erase(folder: DataFolder, what: Collection[erasing.What]) -> None:
    """Delete the node's stored data. Raises FolderInUse if one runs, SapoError if something remains."""
    with FolderLock(folder):
        erasing.erase(folder, what)
    if "everything" in what:
        erasing.leave(folder)


def change(folder: DataFolder, values: Mapping[str, str]) -> Ok:
    """Store these values for the next start. Raises SettingsError, or UsageError for what this computer cannot keep."""
    wanted = settings_file.apply(read(folder).settings, values)
    for reason in beyond(wanted, values).values():
        raise UsageError(reason)
    return _write(folder, wanted)


async def with_doubts(folder: DataFolder, saved: Ok, keys: Collection[str]) -> Ok:
    """The reply, with what would prevent a node from starting with these settings, or from doing what was meant."""
    said = await doubts(folder.root, keys) if not NEVER_AT_FAULT.issuperset(keys) else []
    return Ok(text=joined([saved.text, *said]), advice=joined(said)) if said else saved


def reset(folder: DataFolder, keys: Sequence[str]) -> Ok:
    """Reset these keys, or all if none is named; a refused file is set aside for that.

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
    """The content of the models folder that these settings name."""
    place = str(librarian.models_folder(wanted))
    contents = await librarian.ask(Look(folder=place), DataFolder.open(folder.root))
    return ModelsAre(folder=place, contents=contents)

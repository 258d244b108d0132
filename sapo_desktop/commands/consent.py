"""Consent to publishing answers: asked once, kept in the settings, taken back by `settings set share off`."""

from __future__ import annotations

import sys
import time

from sapo_desktop.commands.context import Context, call
from sapo_desktop.commands.prompts import typed_line
from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import NotRunning, UsageError
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.worker.messages import GetSettings, Ok, SetSettings, SettingsAre

WHAT_IS_PUBLISHED = """\
Sharing publishes, under this node's key, the answers that its model gives, and those that you type at
`sapo-desktop answer` (which says so each time): the name of the task, the time in steps of ten minutes, the texts,
and the setting `label` if you gave one. No question of yours, no file and no other name is among them. They are
placed in the public domain (CC0), anybody may keep and pass them on, and they cannot be called back. Whoever this
node links to sees its internet address beside its key, and is told its round, its mean reward, and how many of
their answers it used. A new identity (sapo-desktop identity new) cuts the tie to what was shared;
`sapo-desktop settings set share off` ends it."""


async def record_consent(context: Context) -> None:
    """Ask where it was not given yet, and keep it. UsageError where it is refused."""
    try:
        async with context.running() as node:
            if not (await call(node, GetSettings(), SettingsAre)).settings.share:
                _ask(context)
                await call(node, SetSettings(values={"share": "on"}), Ok)
    except NotRunning:
        folder = DataFolder.open(context.folder)
        kept = settings_file.read(folder.settings, time.time()).settings
        if not kept.share:
            _ask(context)
            settings_file.write(folder.settings, settings_file.apply(kept, {"share": "on"}))


def _ask(context: Context) -> None:
    """A person at a terminal is asked; `--share` in a script is the answer itself."""
    context.out.warn(WHAT_IS_PUBLISHED)
    if not (sys.stdin.isatty() and context.out.stderr.isatty()):
        return
    if typed_line(context.out, "Publish answers from now on? [y/N] ").strip().lower() not in ("y", "yes"):
        raise UsageError("Nothing is shared. Without --share the node draws others' answers and learns from them.")

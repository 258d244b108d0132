"""Consent to publishing answers: asked once, kept in the settings, taken back by `settings set share off`."""

from __future__ import annotations

import sys
import textwrap
import time

from sapo_desktop.commands.line.context import Context, call
from sapo_desktop.commands.line.prompts import typed_line
from sapo_desktop.core import settings_file
from sapo_desktop.core.consent import WHAT_IS_PUBLISHED
from sapo_desktop.core.errors import NotRunning, UsageError
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.worker.control.messages.replies import Ok, SettingsAre
from sapo_desktop.worker.control.messages.requests import GetSettings, SetSettings

_HERE = (
    "In a terminal: `sapo-desktop answer` asks you a question, `sapo-desktop settings set share off` ends sharing, "
    "`sapo-desktop identity new` draws another identity."
)
_WIDTH = 115


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
    context.out.warn("\n".join(textwrap.fill(text, _WIDTH) for text in (*WHAT_IS_PUBLISHED, _HERE)))
    if not (sys.stdin.isatty() and context.out.stderr.isatty()):
        return
    if typed_line(context.out, "Publish answers from now on? [y/N] ").strip().lower() not in ("y", "yes"):
        raise UsageError("Nothing is shared. Without --share the node draws others' answers and learns from them.")

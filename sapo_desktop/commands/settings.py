"""settings get, set, reset; erase: delete the node's stored data.

A running node gets the change, so that it applies at once. Otherwise the file is read and written here: no node is
started, because this very command fixes a wrong setting that prevents a start.
"""

from __future__ import annotations

import asyncio
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from sapo_desktop.commands.line.context import Context, call
from sapo_desktop.commands.line.prompts import typed_line
from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import NotRunning, SapoError, UsageError
from sapo_desktop.core.sentences import Text
from sapo_desktop.core.settings import Settings
from sapo_desktop.system import erasing
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.presence.unsupported import LOOKED_AT, asked_in_vain, unsupported
from sapo_desktop.terminal.wording import size
from sapo_desktop.worker.control import unstarted
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.replies import SettingsAre
from sapo_desktop.worker.control.messages.requests import GetSettings, GetUnsupported, ResetSettings, SetSettings


async def get(context: Context, args: Namespace) -> None:
    keys = getattr(args, "keys", [])
    for key in keys:
        settings_file.describe(key)
    try:
        async with context.running() as node:
            found = await call(node, GetSettings())
            # From the node, whose session may differ from this terminal's; only for the displayed settings.
            asked = not keys or LOOKED_AT.intersection(keys)
            reasons = (await call(node, GetUnsupported())).reasons if asked else {}
    except NotRunning:
        _warn(context)
        found = unstarted.settings(DataFolder.at(context.folder))
        reasons = await asyncio.to_thread(unsupported, keys or LOOKED_AT)
    _show(context, found, keys or settings_file.known_keys(), reasons)


async def change(context: Context, args: Namespace) -> None:
    values = typed_values(args.values, pairs=True)
    for key, text in values.items():
        settings_file.parse_value(key, text)
    context.out.done(str((await keep(context, values, now=args.now)).text))


async def in_force(context: Context) -> Settings:
    """The settings of the running node, otherwise the stored ones."""
    return (await context.ask_if_running(GetSettings())).settings


async def keep(context: Context, values: dict[str, str], *, now: bool = False) -> Ok:
    """Let the running node apply the settings, `now` without its current round, or write them if none runs."""
    try:
        async with context.running() as node:
            return await call(node, SetSettings(values=values, at_once=now))
    except NotRunning:
        _warn(context)
        folder = DataFolder.at(context.folder)
        reply = await unstarted.with_doubts(folder, unstarted.change(folder, values), values)
        # Stored anyway: the node may be started in another session than this terminal's, which may support it.
        reasons = await asyncio.to_thread(asked_in_vain, context.kept(), values)
        for reason in dict.fromkeys(map(str, reasons.values())):
            context.out.warn(f"On this computer it will have no effect. {reason}")
        return reply


async def reset(context: Context, args: Namespace) -> None:
    if bool(args.keys) == args.all:
        raise UsageError("Name the settings to reset, or use --all for all of them.")
    for key in args.keys:
        settings_file.describe(key)
    try:
        async with context.running() as node:
            reply = await call(node, ResetSettings(keys=args.keys))
    except NotRunning:
        if args.keys:  # resetting all sets an unusable file aside, which is reported
            _warn(context)
        reply = unstarted.reset(DataFolder.at(context.folder), args.keys)
    context.out.done(str(reply.text))


async def erase(context: Context, args: Namespace) -> None:
    """Delete the data after a question, while no node runs."""
    context.need_folder()
    folder, what = DataFolder.at(context.folder), args.what
    found = erasing.places(folder, what)
    if not found:
        context.out.done("Nothing of that is there.")
        return
    context.out.say("\n".join(f"{path}  ({size(erasing.size(path))})" for path in found))
    if not args.yes and typed_line(context.out, "Delete all of this? It cannot be undone. [y/N] ").lower() != "y":
        raise SapoError("Nothing was deleted.")
    unstarted.erase(folder, what)
    context.out.done("Deleted.")


def _warn(context: Context) -> None:
    """Print remarks about the file."""
    if said := unstarted.read(DataFolder.at(context.folder)).said:
        context.out.warn(str(said))


def typed_values(words: Sequence[str], *, pairs: bool = False) -> dict[str, str]:
    """`KEY=VALUE` words as a dictionary; with `pairs` also two words `KEY VALUE`."""
    if pairs and len(words) == 2 and "=" not in words[0]:
        return in_full({words[0]: words[1]})
    values: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise UsageError(f"{word!r} is not a setting with a value. Write KEY=VALUE, such as seed=7.")
        values[key.strip().replace("-", "_")] = value
    return in_full(values)


def in_full(values: dict[str, str]) -> dict[str, str]:
    """The same with a model's absolute path: a node runs in another folder than this terminal."""
    model = values.get("model", "")
    if {"/", "\\"} & set(model) or model.lower().endswith(".gguf") or model in (".", ".."):
        path = Path(model).expanduser()
        return values | {"model": str(path.absolute())} if path.exists() else values
    return values


def _show(context: Context, found: SettingsAre, keys: Sequence[str], reasons: Mapping[str, Text]) -> None:
    """`reasons`: why some of them cannot be kept on the node's computer."""
    rows = []
    values = msgspec.structs.asdict(found.settings)
    for key in keys:
        info = settings_file.describe(key)
        value = settings_file.shown(key, values[key])
        context.out.emit(
            "setting",
            key=key,
            value=value,
            default=info.default,
            changed=key in found.changed,
            this_run_only=key in found.overridden,
            waiting=key in found.waiting,
            unsupported=str(reasons.get(key, "")),
        )
        origin = ", ".join(filter(None, (_origin(found, key), "not here" if key in reasons else "")))
        typed = ("on" if value else "off") if isinstance(value, bool) else str(value)
        rows.append([key, typed, origin, info.description])
    context.out.table(["setting", "value", "", "meaning"], rows)
    for reason in dict.fromkeys(str(reasons[key]) for key in keys if key in reasons):
        named = ", ".join(key for key in keys if str(reasons.get(key, "")) == reason)
        context.out.say(f"not here: {named}. {reason}")


def _origin(found: SettingsAre, key: str) -> str:
    if key in found.overridden:
        return "this run"
    if key in found.waiting:
        return "after the round" if settings_file.describe(key).renews else "at the next start"
    return "set" if key in found.changed else ""

"""run: play rounds and watch them, as plain lines or as JSON lines."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from collections.abc import Mapping

from sapo_desktop.commands import settings
from sapo_desktop.commands.line.context import Context, call
from sapo_desktop.commands.line.prompts import ask_consent
from sapo_desktop.commands.line.watch import Watch
from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import SapoError, SettingsError, UsageError
from sapo_desktop.core.network.invite import Invite, asks_first
from sapo_desktop.core.sentences import joined, quoted
from sapo_desktop.core.settings import Settings
from sapo_desktop.terminal.dashboard import Dashboard
from sapo_desktop.terminal.views import View, view_for
from sapo_desktop.terminal.wording import amount, duration, percent
from sapo_desktop.view.fields import share
from sapo_desktop.worker.control.messages.requests import JoinSwarm

INVITED = ("swarm", "admission", "peers", "invited")
"""The settings that an invite link changes, also stored ones: until the node has followed it, it must not dial
others."""


async def run(context: Context, args: Namespace) -> None:
    overrides = run_overrides(args)
    if args.share and not (await settings.in_force(context)).share:
        ask_consent(context)
        await settings.keep(context, {"share": "on"})
    dashboard = Dashboard(str(context.folder), args.rounds)
    view = view_for(context.out, dashboard)
    drawing = asyncio.create_task(_draw(view))
    try:
        attached = await context.door.running_or_started(context.folder, overrides)
        watch = Watch(context, dashboard, view, attached)
        try:
            if args.invite:
                view.said(str((await call(watch.node, JoinSwarm(link=args.invite, nearby=args.nearby))).text))
                overrides = {key: text for key, text in overrides.items() if key not in INVITED}
            await watch.until_the_end(overrides, args.rounds)
        finally:
            await watch.node.close()
            if watch.asked_to_end:
                await watch.node.until_gone()
    finally:
        drawing.cancel()
        context.out.wipe()
    if watch.goes_on:
        context.out.say(f"The node continues. To see it: sapo-desktop status{context.data_option}")
        return
    _close(context, dashboard, watch.failure, _not_kept(context, overrides) if attached.started else {})


def run_overrides(args: Namespace) -> dict[str, str]:
    """The checked settings of this run from the command line; the long options win over `--set`."""
    values = settings.typed_values(args.values)
    for key in ("model", "seed", "tasks", "curriculum", "mix", "weighting", "listen"):
        if getattr(args, key) is not None:
            values[key] = str(getattr(args, key))
    values = settings.in_full(values)
    if args.peer:
        values["peers"] = ", ".join(args.peer)
    if args.lan:
        values["lan"] = "on"
    if args.invite:
        if args.peer:
            raise UsageError("--invite already has the peers. Leave out --peer, or add it with sapo-desktop peers add.")
        link = Invite.parse(args.invite)
        if link.nearby and not args.nearby:
            raise UsageError(joined([asks_first(link), "Then: --nearby"]))
        far = [peer for peer in link.peers if peer not in link.nearby]
        invited = (link.swarm, link.admission, ", ".join(link.peers), ", ".join(far))
        values |= dict(zip(INVITED, invited, strict=True))
    if args.silo:
        if outward := [f"--{name}" for name in ("peer", "listen", "lan", "invite", "share") if getattr(args, name)]:
            raise UsageError(f"--silo means no network at all. Leave out {', '.join(outward)}, or --silo.")
        if values.get("mix", "8/0") != "8/0":
            raise UsageError(f"--silo means no external groups. Leave out --mix {values['mix']}, or --silo.")
        values["silo"] = "on"
    elif args.peer or args.listen or args.lan or args.invite or args.share:
        values["silo"] = "off"
    for key, text in values.items():
        settings_file.parse_value(key, text)
    return values


async def _draw(view: View) -> None:
    """Let the view show its progress, four times a second."""
    while True:
        await asyncio.sleep(0.25)
        view.redraw()


def _not_kept(context: Context, values: Mapping[str, str]) -> dict[str, str]:
    try:
        kept = context.kept()
    except SettingsError:
        kept = Settings()
    return {
        key: str(settings_file.shown(key, text))
        for key, text in values.items()
        if settings_file.parse_value(key, text) != getattr(kept, key)
    }


def _close(context: Context, dashboard: Dashboard, failure: str, only_now: Mapping[str, str]) -> None:
    """The last JSON line, the summary, and the failure if there is one."""
    change = dashboard.change
    context.out.emit(
        "end",
        rounds=dashboard.played,
        round=dashboard.finished,
        reward_first=share(change[0]) if change else None,
        reward_last=share(change[1]) if change else None,
        base_validation=share(dashboard.base),
        validation=share(dashboard.held_out_now),
        seconds=round(dashboard.seconds, 3),
        failed=bool(failure),
        reason=failure,
        data=str(context.folder),
    )
    if dashboard.played or not failure:
        lines = summary_lines(dashboard, data_option=context.data_option, only_now=only_now)
        context.out.say("\n".join(lines))
    if failure:
        raise SapoError(failure)


# The summary at the end of `run`: the result, its place, what to try next.


_OWN_OPTIONS = ("tasks", "seed", "mix", "curriculum")


def summary_lines(view: Dashboard, *, data_option: str = "", only_now: Mapping[str, str] | None = None) -> list[str]:
    """Lines for a person.

    `data_option`: how further commands find the same folder. `only_now`: settings from the command line of this run,
    which the next one does not have.
    """
    lines = [f"{amount(view.played, 'round')} in {duration(view.seconds)}."]
    if view.change and view.played > 1:
        first, last = view.change
        ends = "first and last round" if view.ends == 1 else f"first and last {view.ends} rounds"
        lines.append(f"Reward    {first:.2f} → {last:.2f}  ({ends})")
    elif view.change:
        lines.append(f"Reward    {view.change[0]:.2f}")
    if view.held_out_now is not None:
        base = f"{percent(view.base)} (base) → " if view.base is not None else ""
        lines.append(f"Held-out  {base}{percent(view.held_out_now)} (now), questions that are never trained on")
    lines.append(f"Kept in   {view.data}")
    return [
        *lines,
        "",
        "Try next",
        *(f"  {name:<14} {step}" for name, step in _next_steps(view, data_option, only_now or {})),
    ]


def _next_steps(view: Dashboard, data_option: str, only_now: Mapping[str, str]) -> list[tuple[str, str]]:
    # Another model would not fit the adapter, so its setting must be stored before anything else.
    kept = [f"model={quoted(only_now['model'])}"] if "model" in only_now else []
    again = "".join(_option(key, value) for key, value in only_now.items() if key != "model")
    solved = [answer.task for answer in reversed(view.answers) if answer.solved][:1]
    steps = [
        *(("keep the model", f"sapo-desktop settings set {setting}{data_option}") for setting in kept),
        ("continue", f"sapo-desktop run{again}{data_option}"),
        *(("quiz it", f"sapo-desktop tasks try {quoted(task)}{data_option}") for task in solved),
        ("score it", f"sapo-desktop eval{data_option}"),
    ]
    if view.has_learned:
        steps.append(("export it", f"sapo-desktop export --format merged --to my-model{data_option}"))
    return steps


def _option(key: str, value: str) -> str:
    """The setting as an option of `run`."""
    if (key, value) == ("silo", "on"):
        return " --silo"
    if key in _OWN_OPTIONS:
        return f" --{key} {quoted(value)}"
    return f" --set {quoted(f'{key}={value}')}"

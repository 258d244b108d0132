"""The closing words of `run`: what came of it, where it lies, what to try next."""

from __future__ import annotations

from collections.abc import Mapping

from sapo_desktop.core.sentences import quoted
from sapo_desktop.terminal.dashboard import Dashboard
from sapo_desktop.terminal.wording import amount, duration, percent

_OWN_OPTIONS = ("tasks", "seed", "mix", "curriculum")


def summary_lines(view: Dashboard, *, data_option: str = "", only_now: Mapping[str, str] | None = None) -> list[str]:
    """Lines for a person.

    `data_option` is what the next commands need to find the same folder; `only_now` the settings that the command
    line gave to this run, which the next one does not have.
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
    # Another model would not fit the adapter, so it has to be kept before anything else is asked.
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
    """The setting as `run` takes it."""
    if (key, value) == ("silo", "on"):
        return " --silo"
    if key in _OWN_OPTIONS:
        return f" --{key} {quoted(value)}"
    return f" --set {quoted(f'{key}={value}')}"

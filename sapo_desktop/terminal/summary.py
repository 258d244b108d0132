"""The closing words of `run`: what came of it, where it lies, what to try next."""

from __future__ import annotations

from sapo_desktop.terminal.dashboard import Dashboard
from sapo_desktop.terminal.glyphs import Glyphs
from sapo_desktop.terminal.wording import amount, duration, percent


def summary_lines(view: Dashboard, now: float, glyphs: Glyphs, *, data_option: str = "") -> list[str]:
    """Lines for a person. `data_option` is what the next commands need to find the same folder."""
    tally = view.tally
    lines = [f"{amount(tally.rounds, 'round')} in {duration(now - view.opened)}."]
    if tally.change and tally.rounds > 1:
        first, last = tally.change
        ends = "first and last round" if tally.window == 1 else f"first and last {tally.window} rounds"
        lines.append(f"Reward    {first:.2f} {glyphs.arrow} {last:.2f}  ({ends})")
    elif tally.change:
        lines.append(f"Reward    {tally.change[0]:.2f}")
    if view.best is not None:
        base = f"{percent(view.base)} (base) {glyphs.arrow} " if view.base is not None else ""
        lines.append(f"Held-out  {base}{percent(view.best)} (best), own validation questions")
    lines.append(f"Kept in   {view.data}")
    lines += ["", *_next_steps(view, data_option)]
    return lines


def _next_steps(view: Dashboard, data_option: str) -> list[str]:
    which = "best" if view.best is not None else "last"
    question = next((answer.question for answer in reversed(view.answers) if answer.solved), "What is 17 + 25?")
    if len(question) > 70 or any(mark in question for mark in "\"'`$\\!"):
        question = "What is 17 + 25?"
    steps = [
        ("go on", f"sapo-desktop run{data_option}"),
        ("quiz it", f'sapo-desktop ask "{question}" --checkpoint {which}{data_option}'),
        ("score it", f"sapo-desktop eval --checkpoint {which}{data_option}"),
        ("take it along", f"sapo-desktop export --format merged --checkpoint {which} --to my-model{data_option}"),
    ]
    return ["Try next", *(f"  {name:<14} {command}" for name, command in steps)]

"""The live view: a `Dashboard` drawn over the whole terminal, four times a second at most, and only what changed.

It uses the terminal's second screen, so that what stood there before is back when the view closes, and a resized
window never leaves half lines behind.

`render` makes lines of text that fit a given width and height exactly. They are rich `Text`s, never markup, so nothing
that a model wrote can be taken for a style. From top to bottom: what runs, what it does, how far it is; reward and
held-out score; marks per task; newest answers; notices; keys. Charts are rows of block characters, of shares in 0 to 1.
Where there are more values than cells each cell shows the mean of its stretch, so that a long run stays whole in view;
where there are fewer, the newest is drawn at the right end.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import PurePath

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.text import Text

from sapo_desktop.core.plain_text import one_line
from sapo_desktop.terminal.dashboard import Dashboard
from sapo_desktop.terminal.glyphs import Glyphs
from sapo_desktop.terminal.invocation import as_started
from sapo_desktop.terminal.output import Output
from sapo_desktop.terminal.swarm_words import reward_words
from sapo_desktop.terminal.wording import amount, duration, percent
from sapo_desktop.view.tasks import task_title
from sapo_desktop.view.viewmodel import PHASE_WORDS, AnswerShown, TaskTrack
from sapo_desktop.worker.control.messages.events import Event
from sapo_desktop.worker.control.messages.facts import Notice

_SECONDS_BETWEEN = 0.25
_CLOCK_SECONDS = 1.0


@contextlib.contextmanager
def open_live(out: Output, dashboard: Dashboard) -> Iterator[LiveView]:
    """Draw on `out`'s terminal while the context is open."""
    console = Console(file=out.stdout, highlight=False, markup=False, emoji=False)
    screen = _Screen(dashboard, out.glyphs)
    # Our own clock draws: rich's thread would draw while an event is half applied.
    with Live(screen, console=console, screen=True, auto_refresh=False, redirect_stderr=False) as live:
        view = LiveView(live, dashboard)
        view.redraw()
        yield view
    for text in view.unread:
        out.warn(text)


class LiveView:
    """Says when to draw; what is drawn is the dashboard's business. The first answer is drawn at once."""

    def __init__(self, live: Live, dashboard: Dashboard) -> None:
        self._live = live
        self._dashboard = dashboard
        self._changed = True
        self._drawn = float("-inf")
        self._size = live.console.size
        self.unread: list[str] = []
        """Warnings that should outlast the second screen."""

    def event(self, event: Event) -> None:
        self._changed = True
        if isinstance(event, Notice) and event.level != "info":
            self.unread = [*self.unread[-4:], one_line(str(event.text))]
        if len(self._dashboard.answers) == 1:
            self.redraw()

    def said(self, text: str) -> None:
        if not self._dashboard.leaving:
            self._dashboard.take(Notice(level="info", text=text))
        self._changed = True

    def redraw(self) -> None:
        now = time.monotonic()
        size = self._live.console.size
        waited = now - self._drawn
        if size != self._size or waited >= _CLOCK_SECONDS or (self._changed and waited >= _SECONDS_BETWEEN * 0.9):
            self._changed, self._drawn, self._size = False, now, size
            self._live.refresh()


class _Screen:
    """The dashboard as something that rich can draw at whatever size the terminal has at that moment."""

    def __init__(self, dashboard: Dashboard, glyphs: Glyphs) -> None:
        self._dashboard = dashboard
        self._glyphs = glyphs

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width, height = console.size
        lines = render(self._dashboard, width, height, self._glyphs)
        for place, line in enumerate(lines):
            if place:
                yield Segment.line()
            line.end = ""
            line.no_wrap = True
            yield line


def squeeze(values: Sequence[float], width: int) -> list[float]:
    """At most `width` values: the means of equal stretches of `values`."""
    count = len(values)
    if width <= 0:
        return []
    if count <= width:
        return list(values)
    edges = [index * count // width for index in range(width + 1)]
    return [sum(values[low:high]) / (high - low) for low, high in pairwise(edges)]


def plot_range(values: Sequence[float], baseline: float | None = None) -> tuple[float, float]:
    """The lowest and highest share to draw: wide enough that noise of two points does not fill the chart."""
    shown = [*values, *([] if baseline is None else [baseline])]
    low, high = min(shown, default=0.0), max(shown, default=1.0)
    room = max(0.05, 0.1 * (high - low))
    return max(0.0, low - room), min(1.0, high + room)


def plot(values: Sequence[float], width: int, height: int, glyphs: Glyphs, baseline: float | None = None) -> list[str]:
    """`height` strings of `width` characters, top row first, with a dotted line at `baseline` where no bar is."""
    low, high = plot_range(values, baseline)
    steps = len(glyphs.levels)
    total = height * steps

    def level(value: float) -> int:
        return min(total, max(1, round((value - low) / (high - low) * total)))

    heights = [level(value) for value in squeeze(values, width)]
    base_row = None if baseline is None else (level(baseline) - 1) // steps
    rows = []
    for row in reversed(range(height)):
        empty = glyphs.baseline if row == base_row else " "
        cells = [_cell(bar - row * steps, glyphs.levels, empty) for bar in heights]
        rows.append("".join(cells) + empty * (width - len(cells)))
    return rows


def _cell(filled: int, levels: str, empty: str) -> str:
    return empty if filled <= 0 else levels[min(filled, len(levels)) - 1]


_STATE_STYLES = {"working": "bold green", "paused": "bold yellow", "finishing": "bold yellow", "failed": "bold red"}
_NOTICE_STYLES = {"info": "cyan", "warning": "yellow", "error": "red"}
_NAME_WIDTH = 30
_BAR = 20
_GAP = 3
_TASK_COLUMN = 48


def render(view: Dashboard, width: int, height: int, glyphs: Glyphs) -> list[Text]:
    """At most `height` lines of at most `width` cells."""
    top = [*_header(view, width, glyphs), Text()]
    bottom = [*_notices(view, width, glyphs), _footer(view, width, glyphs)]
    room = height - len(top) - len(bottom)
    chart_height = max(1, min(8, (room - 6) // 4))
    charts = [*_charts(view, width, chart_height, glyphs), Text()] if room >= 6 else []
    room -= len(charts)
    tasks = _tasks(view, width, max(0, room - 4), glyphs) if room >= 6 else []
    answers = _answers(view, width, max(0, room - len(tasks) - 1), glyphs)
    body = top + charts + tasks + ([Text()] if tasks and answers else []) + answers
    filler = [Text()] * max(0, height - len(body) - len(bottom))
    return [*(body + filler)[: max(0, height - len(bottom))], *bottom][:height]


def _header(view: Dashboard, width: int, glyphs: Glyphs) -> list[Text]:
    mode = "silo, 8/0" if view.silo else f"swarm, {view.settings.mix}"
    status = view.status
    facts = [PurePath(one_line(status.model)).name, f"seed {status.seed}", mode, status.device] if status else []
    dot = f" {glyphs.dot} "
    title = Text("SAPO Desktop", style="bold cyan") + Text(
        "".join(dot + _shown(fact, glyphs) for fact in facts if fact)
    )
    done = amount(view.played, "round")
    if view.rounds_wanted is not None:
        done = f"{view.played:,} of {amount(view.rounds_wanted, 'round')}"
    count = Text(f"{done} in this view", style="dim")
    busy = str(view.busy)
    reason = view.reason.removesuffix(f". {busy}".rstrip(".")) if busy else view.reason
    sentence = Text(_shown(reason, glyphs), style=_STATE_STYLES.get(view.state, "bold"))
    lines = [
        _ends(title, count, width, glyphs),
        _ends(sentence, Text(duration(view.seconds), style="dim"), width, glyphs),
        *([_cut(Text(_shown(busy, glyphs), style="yellow"), width, glyphs)] if busy else []),
        _progress(view, width, glyphs),
    ]
    return lines if view.silo else [*lines, _swarm(view, width, glyphs)]


def _swarm(view: Dashboard, width: int, glyphs: Glyphs) -> Text:
    """`Linked to 3 peers.` and, at the right, their reward, never without its interval and count."""
    style = "yellow" if view.swarm_state in ("failed", "alone") else "none"
    reward = f"peers' reward {reward_words(view.swarm_reward)}" if view.swarm_reward else ""
    return _ends(Text(_shown(str(view.swarm_reason), glyphs), style=style), Text(reward, style="dim"), width, glyphs)


def _progress(view: Dashboard, width: int, glyphs: Glyphs) -> Text:
    """`round 41  answering  ██████░░░░  38/64` and, at the right, the pace."""
    rate, left = view.rounds_per_hour, view.seconds_left
    pace = "" if rate is None else f"{rate:,.0f} rounds/h"
    if left:
        pace += f"{', ' if pace else ''}{duration(left)} left"
    line = Text(f"round {view.round:<6,} {PHASE_WORDS[view.phase].lower():<18} ")
    if view.state in ("working", "finishing", "idle") and view.total:
        bar = max(10, min(40, width - cell_len(line.plain) - cell_len(pace) - 16))
        full = min(bar, round(bar * view.done / view.total))
        line.append(glyphs.bar_full * full, style="green")
        line.append(glyphs.bar_empty * (bar - full), style="dim")
        line.append(f" {view.done}/{view.total} {_shown(view.detail, glyphs)}")
    return _ends(line, Text(pace, style="dim"), width, glyphs)


def _charts(view: Dashboard, width: int, height: int, glyphs: Glyphs) -> list[Text]:
    """Reward at the left, held-out score with its base line at the right, side by side."""
    left = (width - _GAP) // 2
    right = width - _GAP - left
    rewards, scores = view.curves.column("reward").tolist(), view.scores
    reward_title = "reward" + (f" {rewards[-1]:.2f}" if rewards else " after the first round")
    if len(rewards) > 1:
        reward_title += f"  mean of last 10 {sum(rewards[-10:]) / len(rewards[-10:]):.2f}"
    if scores:
        score_title = f"held-out {percent(scores[-1])}  base {percent(view.base)}"
    elif view.base is not None:
        score_title = f"held-out base {percent(view.base)}"
    else:
        score_title = "held-out score: not measured yet"
    lines = [_beside(Text(reward_title, style="bold"), Text(score_title, style="bold"), left, right, glyphs)]
    reward_rows = plot(rewards, left, height, glyphs)
    score_rows = plot(scores, right, height, glyphs, view.base)
    for reward_row, score_row in zip(reward_rows, score_rows, strict=True):
        lines.append(_beside(Text(reward_row, "green"), Text(score_row, "cyan"), left, right, glyphs))
    return lines


def _tasks(view: Dashboard, width: int, room: int, glyphs: Glyphs) -> list[Text]:
    """Marks per task in as many columns as fit: two lines at least, the header among them."""
    if not view.tasks or room < 2:
        return []
    columns = max(1, (width + _GAP) // (_TASK_COLUMN + _GAP))
    # A narrow terminal with many tasks does better with two columns that have no bars.
    if columns == 1 and len(view.tasks) > room - 1 and width >= 72:
        columns = 2
    column_width = (width - _GAP * (columns - 1)) // columns
    shown = _most_recent(view, columns * (room - 1))
    rows = -(-len(shown) // columns)
    header = _task_header(column_width)
    gap = Text(" " * _GAP)
    lines = [gap.join([header] * min(columns, len(shown)))]
    for row in range(rows):
        cells = [_task_line(name, track, column_width, glyphs) for name, track in shown[row::rows]]
        lines.append(gap.join(cells))
    return lines


def _most_recent(view: Dashboard, most: int) -> list[tuple[str, TaskTrack]]:
    """The tasks to show, by name so that lines keep their place; where room lacks, those longest ago are left out."""
    if most >= len(view.tasks):
        return sorted(view.tasks.items())
    newest = sorted(view.tasks.items(), key=lambda item: item[1].shares[-1][0], reverse=True)
    return sorted(newest[:most])


def _task_header(width: int) -> Text:
    name, bar = _task_widths(width)
    text = f"{'task':<{name}} {'now':>4} {'last 10':>7} {'':<{bar}}{'answers':>8}"
    return Text(text[:width].ljust(width), style="dim")


def _task_line(name: str, track: TaskTrack, width: int, glyphs: Glyphs) -> Text:
    name_width, bar = _task_widths(width)
    line = _sized(Text(_task_name(_shown(task_title(name), glyphs), name_width, glyphs)), name_width, glyphs)
    line.append(f" {percent(track.shares[-1][1]):>4}", style="bold")
    line.append(f" {percent(track.now):>7} ")
    if bar:
        full = round((bar - 1) * (track.now or 0.0))
        line.append(glyphs.bar_full * full, style="green")
        line.append(glyphs.bar_empty * (bar - 1 - full) + " ", style="dim")
    line.append(f"{_short_count(sum(count for _, _, count in track.shares)):>8}", style="dim")
    return _sized(line, width, glyphs)


def _task_name(name: str, width: int, glyphs: Glyphs) -> str:
    """`Greatest common…, easy`: the family is cut, because the level tells lines of one family apart."""
    family, comma, level = name.rpartition(", ")
    room = width - len(comma + level + glyphs.ellipsis)
    if len(name) <= width or room < 4:
        return name
    return f"{family[:room].rstrip()}{glyphs.ellipsis}{comma}{level}"


def _task_widths(width: int) -> tuple[int, int]:
    """Cells for a task's name and for its bar; without room the bar goes first."""
    fixed = 22
    if width >= fixed + _NAME_WIDTH + 6:
        return _NAME_WIDTH, min(_BAR, width - fixed - _NAME_WIDTH)
    return max(6, width - fixed), 0


def _short_count(count: int) -> str:
    return f"{count:,}" if count < 100_000 else f"{count / 1000:,.0f}k"


def _answers(view: Dashboard, width: int, room: int, glyphs: Glyphs) -> list[Text]:
    """The newest answer to each question, newest first: as many as fit at two lines each."""
    lines: list[Text] = []
    questions: set[tuple[str, str]] = set()
    for answer in reversed(view.answers):
        if len(lines) + 2 > room:
            break
        if (answer.task, answer.question) not in questions:
            questions.add((answer.task, answer.question))
            lines += _answer(answer, width, glyphs)
    return lines


def _answer(answer: AnswerShown, width: int, glyphs: Glyphs) -> list[Text]:
    mark, style = (glyphs.tick, "bold green") if answer.solved else (glyphs.cross, "red")
    question = Text(f"{mark} ", style=style) + Text(_shown(task_title(answer.task), glyphs), style="bold")
    question.append(f"  {_shown(answer.question, glyphs)}", style="dim not bold")
    reply = Text(f"  {glyphs.arrow} ", style=style)
    reply.append(_shown(answer.completion, glyphs) or "(nothing)", style="none")
    return [_cut(question, width, glyphs), _cut(reply, width, glyphs)]


def _notices(view: Dashboard, width: int, glyphs: Glyphs) -> list[Text]:
    lines = []
    for notice in list(view.notices)[-2:]:
        style = _NOTICE_STYLES[notice.level]
        lines.append(_cut(Text(f"! {_shown(one_line(str(notice.text)), glyphs)}", style=style), width, glyphs))
    return lines


def _footer(view: Dashboard, width: int, glyphs: Glyphs) -> Text:
    style = "bold yellow" if view.leaving else "dim"
    return _cut(Text(_shown(view.leaving or view.footer, glyphs), style=style), width, glyphs)


def _shown(text: str, glyphs: Glyphs) -> str:
    """`text` in characters that the terminal's encoding has, with commands as they are typed here."""
    text = as_started(text)
    return text.encode("ascii", "replace").decode("ascii") if glyphs.ascii else text


def _ends(left: Text, right: Text, width: int, glyphs: Glyphs) -> Text:
    """One line with `left` at its start and `right` at its end; the left one is cut where both do not fit."""
    room = width - cell_len(right.plain) - 1
    if room < 20 or not right.plain:
        return _cut(left, width, glyphs)
    return _sized(left, room, glyphs) + Text(" ") + right


def _beside(left: Text, right: Text, left_width: int, right_width: int, glyphs: Glyphs) -> Text:
    return _sized(left, left_width, glyphs) + Text(" " * _GAP) + _cut(right, right_width, glyphs)


def _sized(text: Text, width: int, glyphs: Glyphs) -> Text:
    """`text` cut or filled up to exactly `width` cells."""
    cut = _cut(text, width, glyphs)
    cut.append(" " * (width - cell_len(cut.plain)))
    return cut


def _cut(text: Text, width: int, glyphs: Glyphs) -> Text:
    """A copy of `text` of at most `width` cells; what was cut is shown by an ellipsis."""
    copy = text.copy()
    if cell_len(copy.plain) <= width:
        return copy
    room = max(0, width - len(glyphs.ellipsis))
    kept = set_cell_size(copy.plain, room)
    copy.right_crop(len(copy.plain) - len(kept.rstrip()))
    # A wide character at the edge leaves a cell over, which set_cell_size filled with a blank.
    copy.plain = kept.rstrip() + glyphs.ellipsis[:width]
    return copy

"""The live view: the dashboard drawn over the whole terminal, four times a second at most, and only what changed.

It uses the terminal's second screen, so that what stood there before is back when the view closes, and a resized
window never leaves half lines behind.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.segment import Segment

from sapo_desktop.core.plain_text import one_line
from sapo_desktop.terminal.dashboard import Dashboard
from sapo_desktop.terminal.glyphs import Glyphs
from sapo_desktop.terminal.output import Output
from sapo_desktop.terminal.render import render
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

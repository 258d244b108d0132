"""What every page is: a scrolling column that draws anew only what changed, and only while somebody sees it."""

from __future__ import annotations

from typing import ClassVar

from PySide6.QtCore import Signal

from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.widgets.buttons import Segments
from sapo_desktop.gui.widgets.layout import PageColumn
from sapo_desktop.view.viewmodel import Section, View


class Page(PageColumn):
    """A page. The window calls `opened` when it comes into sight and `refresh` when the view changes meanwhile.

    Signals:
        wanted: another page, by its name; behind a slash what it is to show of itself.
    """

    name: ClassVar[str]
    follows: ClassVar[frozenset[Section]]
    """What of the view it shows."""
    wanted = Signal(str)

    def __init__(self, view: View, bridge: Bridge, title: str, about: str = "") -> None:
        super().__init__(title, about)
        self.view = view
        self.bridge = bridge

    def refresh(self, changed: frozenset[Section]) -> None:
        """These sections changed, of those that the page follows."""

    def opened(self) -> None:
        """It came into sight: ask the worker for what no event tells. `refresh` with everything follows."""

    def turn_to(self, part: str) -> None:
        """Show this of it: another page leads here."""

    def closed(self) -> None:
        """It went out of sight."""

    def take_over(self, former: Page) -> None:
        """Show what the same page of another language showed: the chosen tabs."""
        mine, theirs = self.findChildren(Segments), former.findChildren(Segments)
        for new, old in zip(mine, theirs, strict=False):
            if old.current != new.current and new.buttons.keys() == old.buttons.keys():
                new.buttons[old.current].click()

    def let_go(self) -> None:
        """One in another language takes its place: give up what was asked for this one alone."""

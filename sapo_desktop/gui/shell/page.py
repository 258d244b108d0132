"""The base of every page: a scrolling column that redraws only what changed, and only while it is visible."""

from __future__ import annotations

from typing import ClassVar

from PySide6.QtCore import Signal

from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.widgets.buttons import Segments
from sapo_desktop.gui.widgets.layout import PageColumn
from sapo_desktop.view.viewmodel import Section, View


class Page(PageColumn):
    """A page. The window calls `opened` when it becomes visible and `refresh` when the view changes meanwhile.

    Signals:
        wanted: another page, by its name, and after a slash the part to show.
    """

    name: ClassVar[str]
    follows: ClassVar[frozenset[Section]]
    """The sections of the view that it shows."""
    wanted = Signal(str)

    def __init__(self, view: View, bridge: Bridge, title: str, about: str = "") -> None:
        super().__init__(title, about)
        self.view = view
        self.bridge = bridge

    def refresh(self, changed: frozenset[Section]) -> None:
        """These sections changed, of those that the page follows."""

    def opened(self) -> None:
        """It became visible: request what has no event. `refresh` with everything follows."""

    def turn_to(self, part: str) -> None:
        """Show this part: another page links here."""

    def closed(self) -> None:
        """It is no longer visible."""

    def take_over(self, former: Page) -> None:
        """Show what the same page showed in another language: the chosen tabs."""
        mine, theirs = self.findChildren(Segments), former.findChildren(Segments)
        for new, old in zip(mine, theirs, strict=False):
            if old.current != new.current and new.buttons.keys() == old.buttons.keys():
                new.buttons[old.current].click()

    def let_go(self) -> None:
        """A page in another language replaces it: cancel its own requests."""

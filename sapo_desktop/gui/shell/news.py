"""What is worth a desktop notification while the window is not visible: rarely, and not at night.

Problems are shown at once; everything else at most once an hour. `notify` says which kinds.
"""

from __future__ import annotations

from collections.abc import Callable

from sapo_desktop.core.why import HeldBack
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.gui.words.states import state_sentence
from sapo_desktop.view.link import Lost
from sapo_desktop.view.viewmodel import Section, View

APART = 3600.0
"""Minimum seconds between two, except problems."""


class News:
    """Follows the view. `tell`: shows a notification, title and text; `seen`: whether the window is visible."""

    def __init__(self, view: View, tell: Callable[[str, str], None], seen: Callable[[], bool]) -> None:
        self._view, self._tell, self._seen = view, tell, seen
        self._shown_at: float | None = None
        self._state, self._held, self._lost = view.state, False, False
        self._best: float | None = None
        self._asking = view.asking
        self._version = ""
        """The newest one that was shown."""

    def look(self, changed: frozenset[Section]) -> None:
        """These sections of the view changed."""
        view = self._view
        if "link" in changed or "state" in changed:
            # A repeated failure of the start is not a new problem.
            lost = isinstance(view.link, Lost) or (self._lost and not view.attached)
            self._look_at_state(lost, view.attached and isinstance(view.why, HeldBack))
        if "swarm" in changed:
            came, self._asking = view.asking > self._asking, view.asking
            if came and view.settings.notify != "none":
                self._say(tr("Somebody wants to join your swarm"), tr("Answer on the page Peers."))
        if "updates" in changed:
            self._look_at_version()
        if "link" in changed:
            self._best = None  # another model may be in use
        if "curves" in changed and view.held_out is not None:
            better = self._best is not None and view.held_out > self._best
            self._best = max([self._best or 0.0, *view.curves.held_out().scores])
            if better and view.settings.notify == "all":
                text = tr("{score} of the held-out questions: a new best")
                self._say(tr("The model got better"), text.format(score=numbers.percent(view.held_out)))

    def _look_at_state(self, lost: bool, held: bool) -> None:
        view = self._view
        was, self._state = self._state, view.state
        was_held, self._held = self._held, held
        was_lost, self._lost = self._lost, lost
        if (lost and not was_lost) or (view.attached and view.state == "failed" != was):
            if view.settings.notify != "none":
                self._say(tr("The node stopped"), state_sentence(view), wrong=True)
        elif view.settings.notify in ("pauses", "all"):
            if held and was == "working":
                self._say(tr("The node has paused"), state_sentence(view))
            elif was_held and view.at_work:
                self._say(tr("The node has resumed"), state_sentence(view))

    def _look_at_version(self) -> None:
        """Each version once; an unsafe one is a problem."""
        view, found = self._view, self._view.updates
        if found is None or found.version in ("", self._version):
            return
        self._version = found.version
        if found.state == "urgent" and view.settings.notify != "none":
            self._say(tr("This version is no longer safe"), in_words(found.text), wrong=True)
        elif found.state == "newer" and view.settings.notify == "all":
            self._say(tr("A newer version is available"), in_words(found.text))

    def _say(self, title: str, text: str, *, wrong: bool = False) -> None:
        now = self._view.clock()
        if self._seen():
            return
        if not wrong:
            if self._shown_at is not None and now - self._shown_at < APART:
                return
            self._shown_at = now
        self._tell(title, text)

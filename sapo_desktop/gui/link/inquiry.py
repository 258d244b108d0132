"""Repeated requests of pages: one at a time, with the last answer kept; and changes of a setting, with a refusal
shown next to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic

from PySide6.QtCore import QObject, Signal

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.link.requests import ReplyType, Request
from sapo_desktop.gui.link.bridge import Bridge, Call
from sapo_desktop.gui.widgets.notes import Banner
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.view.plain import plain
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.requests import SetSettings


class Inquiry(QObject, Generic[ReplyType]):
    """See the module.

    Args:
        make: returns the current request.
        then: called, as the signal `answered` tells others, if there is a new reply or error.
    """

    answered = Signal()

    def __init__(
        self, bridge: Bridge, make: Callable[[], Request[ReplyType]], parent: QObject, then: Callable[[], object]
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._make = make
        self._call: Call | None = None
        self._again = False
        self.reply: ReplyType | None = None
        """The last one, made plain; it stays until there is a newer one."""
        self.error = ""
        """Why the last try failed; empty if it did not."""
        self.trouble = Banner(tone="danger", action=tr("Try again"), on_press=self.ask)
        """Shows the error; the parent places it."""
        self.answered.connect(then)

    def ask(self) -> None:
        """Ask now, or once the pending answer is here, which may be older than a change."""
        if self.busy:
            self._again = True
            return
        self._again = False
        self._call = self._bridge.ask(self._make(), self._take, self._fail, of=self)

    @property
    def busy(self) -> bool:
        return self._call is not None and not self._call.done()

    def _take(self, reply: ReplyType) -> None:
        reply = plain(reply)
        same = reply == self.reply and not self.error
        self.reply, self.error = reply, ""
        self._over(changed=not same)

    def _fail(self, error: SapoError) -> None:
        same = in_words(error) == self.error
        self.error = in_words(error)
        self._over(changed=not same)

    def _over(self, *, changed: bool) -> None:
        self._call = None
        self.trouble.say(self.error)
        if changed:
            self.answered.emit()
        if self._again:
            self.ask()


def change(
    bridge: Bridge,
    key: str,
    value: str,
    *,
    of: QObject,
    banner: Banner,
    undo: Callable[[], object],
) -> Call:
    """Set one setting. `undo`: called after a refusal, to show the current value again."""

    def done(reply: Ok) -> None:
        banner.say("")
        if reply.text:
            bridge.said.emit(in_words(reply.text))

    def failed(error: SapoError) -> None:
        undo()
        banner.say(in_words(error), "danger")

    return bridge.ask(SetSettings(values={key: value}), done, failed, of=of)

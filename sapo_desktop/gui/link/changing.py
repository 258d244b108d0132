"""Changing a setting from a page: what came of it is said, and a refusal stands where the change was wanted."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from sapo_desktop.core.errors import SapoError
from sapo_desktop.gui.link.bridge import Asks
from sapo_desktop.gui.widgets.notes import Banner
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.worker.control.messages.replies import Ok
from sapo_desktop.worker.control.messages.requests import SetSettings


def change(
    bridge: Asks,
    key: str,
    value: str,
    *,
    of: QObject,
    banner: Banner,
    undo: Callable[[], object],
    taken: Callable[[], object] | None = None,
) -> None:
    """Set one setting. `undo`: called where it was refused, to show what still holds; `taken`: where it was not."""

    def done(reply: Ok) -> None:
        banner.say("")
        if taken is not None:
            taken()
        if reply.text:
            bridge.said.emit(in_words(reply.text))

    def failed(error: SapoError) -> None:
        undo()
        banner.say(in_words(error), "danger")

    bridge.ask(SetSettings(values={key: value}), done, failed, of=of)

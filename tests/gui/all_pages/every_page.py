"""All pages with content, for tests of every page and for screenshots."""

import importlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

import msgspec
from PySide6.QtTest import QTest

from sapo_desktop.core.link.requests import Message
from sapo_desktop.gui.learning.page import LearningPage
from sapo_desktop.gui.log.page import LogPage
from sapo_desktop.gui.peers.page import PeersPage
from sapo_desktop.gui.settings.page import SettingsPage
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.shell.window import MainWindow, entries
from sapo_desktop.gui.widgets.folded import Folded
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.events import Answered, SwarmChanged
from sapo_desktop.worker.control.messages.facts import Notice
from sapo_desktop.worker.control.messages.models import ModelFailed
from tests.gui.scenes import NOW, a_view, swarm_curve
from tests.gui.stage import StageBridge
from tests.gui.staged_model import PROGRESS

Value = TypeVar("Value")


def staged(view: View) -> StageBridge:
    """A bridge with something to say to every page."""
    bridge = StageBridge(view)
    for name in pages():
        importlib.import_module(f"tests.gui.staged_{name}").stage(bridge)
    return bridge


def a_full_window(view: View | None = None, change: Callable[[Message], Message] | None = None) -> MainWindow:
    """A window with every page opened once. `change`: what becomes of each reply."""
    view = view or a_view(swarm_curve(400), silo=False, share=True)
    bridge = staged(view)
    if change is not None:
        for kind, reply in bridge.replies.items():
            bridge.replies[kind] = changed(reply, change)
    window = MainWindow(view, bridge, Actions(view, bridge))
    window.show()
    for _ in go_round(window):
        QTest.qWait(5)
    return window


def pages() -> list[str]:
    return [entry.name for entry in entries()]


def go_round(window: MainWindow) -> Iterator[str]:
    """Go to every page and every part of one, with what is folded unfolded; where one is."""
    for name in pages():
        window.go(name)
        parts: list[Callable[[], object]] = [lambda: None]
        match window.page:
            case LearningPage() as page:
                parts = [partial(page.show_part, part) for part in ("rounds", "mix", "tasks", "answers")]
            case SettingsPage() as page:
                parts = [button.click for button in page._groups.buttons.values()]
            case LogPage() as page:
                parts = [button.click for button in page._tabs.buttons.values()]
            case PeersPage() as page:
                parts.append(lambda: page._refused.table.selectRow(1))
        for at, show in enumerate(parts):
            show()
            for folded in window.page.findChildren(Folded):
                if folded.button.isVisible() and not folded.is_open:
                    folded.button.click()
            QTest.qWait(5)
            yield f"{name} {at}"


def changed(reply: Any, change: Callable[[Message], Message]) -> Any:
    """The same reply, or function that makes one, with `change` applied to what it gives."""
    if callable(reply) and not isinstance(reply, msgspec.Struct):
        return lambda request: change(reply(request))
    return change(reply) if isinstance(reply, msgspec.Struct) else reply


def with_texts(value: Value, text: Callable[[str, str], str], name: str = "") -> Value:
    """A copy of a record in which every text is replaced: `text(field, before)`."""
    if isinstance(value, str):
        return text(name, value)  # type: ignore[return-value]
    if isinstance(value, list):
        return [with_texts(item, text, name) for item in value]  # type: ignore[return-value]
    if isinstance(value, dict):
        return {key: with_texts(item, text, name) for key, item in value.items()}  # type: ignore[return-value]
    if isinstance(value, msgspec.Struct):
        fields = {field: with_texts(getattr(value, field), text, field) for field in value.__struct_fields__}
        return msgspec.structs.replace(value, **fields)
    return value


def sent_by_strangers(text: str) -> Iterator[Any]:
    """Events that carry a stranger's text."""
    yield Answered(round=1, task=text, question=text, completion=text, solved=True)
    yield Notice(level="warning", text=text, time=NOW)
    yield SwarmChanged(state="failed", reason=text, peers=0)
    yield msgspec.structs.replace(
        PROGRESS, model=text, transfer=msgspec.structs.replace(PROGRESS.transfer, stage="waiting", text=text, file=text)
    )
    yield ModelFailed(model=text, kind="ModelError", text=text)

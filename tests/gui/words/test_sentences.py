"""The worker's sentences in the window's language: errors, notices, the swarm's reason, notes on memory.

The sentences here are made up, with a dictionary of their own, so that no wording of the worker is fixed by this.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QCoreApplication, QTranslator
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from sapo_desktop.core.consent import WHAT_LEAVES
from sapo_desktop.core.errors import ModelError, UsageError
from sapo_desktop.core.sentences import Size, Text, joined, sentence
from sapo_desktop.core.why import Failed
from sapo_desktop.gui.log import notice_list as notices
from sapo_desktop.gui.log.page import LogPage
from sapo_desktop.gui.model.page import ModelPage
from sapo_desktop.gui.peers.page import PeersPage
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.words import language
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.gui.words.states import reason_sentence, state_sentence, swarm_sentence
from sapo_desktop.view.link import Lost
from sapo_desktop.view.plain import many_lines, plain
from sapo_desktop.worker.control.messages.events import StateChanged, SwarmChanged
from sapo_desktop.worker.control.messages.facts import GetModelInfo, GetNotices, Notice, Notices
from sapo_desktop.worker.control.messages.models import FitIs, GetFit
from sapo_desktop.worker.control.messages.replies import SwarmIs
from sapo_desktop.worker.control.messages.requests import GetSwarm
from tests.gui import scenes, staged_log, staged_model, staged_peers
from tests.gui.driving import all_texts, shown
from tests.gui.stage import StageBridge

ROOT = Path(__file__).resolve().parents[3]
GERMAN = {
    "The river has {count} fish of {size}: {why}": "Der Fluss hat {count} Fische von {size}: {why}",
    "it is {what}.": "er ist {what}.",
    "Nobody is at {place}.": "Niemand ist bei {place}.",
}


def river(what: str = "deep") -> Text:
    why = sentence("it is {what}.", what=what)
    return sentence("The river has {count} fish of {size}: {why}", count=1240, size=Size(bytes=1_500_000), why=why)


IN_GERMAN = "Der Fluss hat 1.240 Fische von 1,5 MB: er ist deep."


class Dictionary(QTranslator):
    def translate(self, context: str, text: str, about: str | None = None, n: int = -1) -> str | None:
        return GERMAN.get(text)

    def isEmpty(self) -> bool:  # noqa: N802
        return False


@pytest.fixture
def _in_german(qapp: QApplication) -> Iterator[None]:
    language.speak("de")
    dictionary = Dictionary()
    QCoreApplication.installTranslator(dictionary)
    yield
    QCoreApplication.removeTranslator(dictionary)
    language.speak("en")


pytestmark = pytest.mark.usefixtures("_in_german")


def test_values_are_said_in_the_same_language() -> None:
    assert in_words(river()) == IN_GERMAN
    assert in_words(joined([river(), "As it is."])) == f"{IN_GERMAN} As it is."
    assert in_words(UsageError(river())) == IN_GERMAN and in_words(UsageError("plain")) == "plain"


def test_a_notice_is_german_and_is_found_and_counted_once(qtbot: QtBot) -> None:
    bridge = StageBridge(scenes.a_view())
    staged_log.stage(bridge)
    notice = Notice(level="warning", text=river(), time=scenes.NOW)
    bridge.replies[GetNotices] = Notices(items=[notice])
    page = shown(qtbot, LogPage(bridge.view, bridge, Actions(bridge.view, bridge)))
    bridge.tell(notice)
    model = page._notices._table.model()
    assert [model.index(row, 2).data().replace("\n", " ") for row in range(model.rowCount())] == [IN_GERMAN]
    page._search.setText("fluss")
    assert model.rowCount() == 1
    page._search.setText("river")
    assert model.rowCount() == 0


def test_notices_of_the_same_words_are_one() -> None:
    first, again = (plain(Notice(level="info", text=river(), time=1.0), many_lines) for _ in range(2))
    other = plain(Notice(level="info", text=river("wide"), time=1.0), many_lines)
    assert notices.merged([first], [again, other]) == [first, other]


def test_an_error_of_the_worker_is_german(qtbot: QtBot) -> None:
    bridge = StageBridge(scenes.a_view())
    bridge.replies[GetModelInfo] = ModelError(river())
    heard: list[str] = []
    bridge.trouble.connect(heard.append)
    bridge.ask(GetModelInfo(), of=bridge)
    assert heard == [IN_GERMAN]


def test_the_reason_of_a_node_and_of_its_swarm_are_german() -> None:
    bridge = StageBridge(view := scenes.a_view(silo=False))
    why = Failed(text=river(), failures=5)
    bridge.tell(StateChanged(state="failed", reason="", why=why), SwarmChanged(state="failed", reason=river(), peers=0))
    assert IN_GERMAN in reason_sentence(view.why, 0.0) and IN_GERMAN in swarm_sentence(view)
    bridge.tell(Lost(reason=sentence("Nobody is at {place}.", place="home")))
    assert "Niemand ist bei home." in state_sentence(view)


def test_what_the_swarm_should_tell_is_german(qtbot: QtBot) -> None:
    bridge = StageBridge(scenes.a_view(scenes.swarm_curve(60), silo=False))
    staged_peers.stage(bridge)
    assert bridge.view.swarm is not None
    info = msgspec.structs.replace(
        bridge.view.swarm, notices=[river()], warnings=[sentence("it is {what}.", what="old")]
    )
    bridge.replies[GetSwarm] = SwarmIs(info)
    page = shown(qtbot, PeersPage(bridge.view, bridge, Actions(bridge.view, bridge)))
    bridge.changed.emit(bridge.view.take_swarm(info))
    assert IN_GERMAN in all_texts(page) and "er ist old." in all_texts(page)


def test_what_does_not_fit_is_german(qtbot: QtBot) -> None:
    bridge = StageBridge(scenes.a_view(scenes.swarm_curve(60), silo=False))
    staged_model.stage(bridge)
    fit = staged_model.a_fit()
    available = msgspec.structs.replace(fit.available, notes=(river(),))
    bigger: list[Text] = [sentence("it is {what}.", what="large")]
    bridge.replies[GetFit] = FitIs(fit=msgspec.structs.replace(fit, available=available, bigger=bigger))
    page = shown(qtbot, ModelPage(bridge.view, bridge, Actions(bridge.view, bridge)))
    said = "\n".join(label.text() for label in page.findChildren(QLabel))  # those that are folded, too
    assert IN_GERMAN in said and "er ist large." in said


def test_what_strangers_put_into_a_sentence_is_made_plain() -> None:
    hostile = "\x1b[31mred\u202e" + "x" * 5000
    made = plain(sentence("Nobody is at {place}.", place=hostile))
    assert in_words(made).startswith("Niemand ist bei redxxx") and len(in_words(made)) < 500
    notice = plain(Notice(level="info", text=sentence("Nobody is at {place}.", place=hostile), time=1.0), many_lines)
    assert "\u202e" not in in_words(notice.text) and "\x1b" not in in_words(notice.text)


def test_what_leaves_is_one_list_of_the_same_words_in_the_readme() -> None:
    readme = " ".join((Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8").split())
    assert all(f"- {text}" in readme for text in WHAT_LEAVES)


def test_a_node_that_was_sent_away_says_by_whom_and_why(qtbot: QtBot) -> None:
    view = scenes.a_view(silo=False)
    view.take(SwarmChanged(state="alone", reason="No peer is linked.", peers=0, parted="wss://a:1 refuses its key."))
    assert swarm_sentence(view) == "wss://a:1 refuses its key."
    view.take(SwarmChanged(state="linked", reason="Linked to 1 peer.", peers=1))
    assert swarm_sentence(view) == "Mit 1 Peer verbunden"


def test_a_terminal_shows_the_command_and_the_window_does_not() -> None:
    said = sentence("There is no {model}.", in_terminal="sapo-desktop models download {model}", model="m")
    assert str(said) == "There is no m. In a terminal: sapo-desktop models download m"
    assert in_words(said) == "There is no m."
    assert in_words(sentence("{reason} So it waits.", reason=said)) == "There is no m. So it waits."


COMMANDS_ALONE = (
    "Send your key",  # they may sit at a terminal
    "Then: sapo-desktop peers join",
    "{url} does not accept the key",  # of a server elsewhere, which only a command keeps
    "Nothing is installed automatically.",
    "A folder filled by `sapo-desktop engine fetch`",
    "This is not an exported identity",  # commands alone move one
    "{path} is not an exported identity",
    "This folder belongs to a relay",  # the window has a sentence of its own for it
    "{who} already runs on {folder}.",  # the window attaches to it
)
A_COMMAND = re.compile(
    r"sapo-desktop |[(`](run|peers|models|settings|silo|identity|quit) ?|--(?!data|tasks|backbone)[a-z]"
)
"""The data folder, the tasks of a run and a relay's backbone are named by options that only a terminal has."""


def test_no_text_of_the_window_sends_its_reader_to_a_terminal_but_where_there_is_no_other_way() -> None:
    catalogue = ET.parse(ROOT / "resources/translations/sapo_de.ts")
    texts = [found.text or "" for found in catalogue.iter("source")]
    assert len(texts) > 1000
    assert [text for text in texts if A_COMMAND.search(text) and not text.startswith(COMMANDS_ALONE)] == []

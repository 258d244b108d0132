"""Try it: a small chat with the original model and the current one, side by side."""

from __future__ import annotations

from collections import deque
from typing import ClassVar

from sapo_desktop.core.errors import SapoError
from sapo_desktop.gui.link.bridge import Bridge, Call
from sapo_desktop.gui.link.inquiry import Inquiry, change
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.shell.page import Page
from sapo_desktop.gui.try_it.answers import AnswersCard
from sapo_desktop.gui.try_it.question import QuestionCard
from sapo_desktop.gui.try_it.trying import Draft, Side, State, Try, begin, is_full
from sapo_desktop.gui.try_it.words import in_short
from sapo_desktop.gui.widgets.buttons import Button, Switch
from sapo_desktop.gui.widgets.forms import Copied, copy_text
from sapo_desktop.gui.widgets.layout import Card, Flow, column, holding
from sapo_desktop.gui.widgets.notes import Banner
from sapo_desktop.gui.widgets.table import Heading, Table
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.widgets.timers import timer
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.gui.words.titles import task_name
from sapo_desktop.view.viewmodel import ALL, Section, View
from sapo_desktop.worker.control.messages.asking import MOST_TURNS, Asked, AskProgressed, Tried
from sapo_desktop.worker.control.messages.serving import GetServer, NewServerKey, ServerIs

DRAW_MS = 250
"""Interval of drawings of an unfinished answer."""
MOST_TRIES = 20
"""More than anybody looks back at."""


class TryPage(Page):
    """See the module."""

    name = "try"
    follows: ClassVar[frozenset[Section]] = frozenset({"link", "state", "curves", "settings"})

    def __init__(self, view: View, bridge: Bridge, actions: Actions) -> None:
        about = tr("Talk with the model as it came and as it is now, and see what training has changed.")
        super().__init__(view, bridge, tr("Try it"), about)
        self._tries: deque[Try] = deque(maxlen=MOST_TRIES)
        """The tries of this session, oldest first."""
        self._chat: list[Try] = []
        """The turns that the next own question continues."""
        self._running: Try | None = None
        self._shown: Try | None = None
        self._call: Call | None = None
        self._in_sight = False
        self._question = QuestionCard(view, bridge)
        self._question.wanted.connect(self._begin)
        self._question.stop.connect(self._stop)
        self._answers = AnswersCard(bridge)
        self._answers.new_chat.connect(self._new_chat)
        self._answers.example.connect(self._question.ask_own)
        self._answers.task_wanted.connect(self._question.propose)
        self._history = HistoryCard()
        self._history.table.picked.connect(self._look_at)
        self._history.table.clicked.connect(lambda index: self._look_at(self._history.table.item(index)))
        self._history.hide()
        self._programs = ProgramsCard(view, bridge)
        self.add(self._question, self._answers, self._history, self._programs)
        self._drawing = timer(self, DRAW_MS, self._draw, once=True)
        bridge.streamed.connect(self._streamed)

    def opened(self) -> None:
        self._in_sight = True
        self._draw()

    def closed(self) -> None:
        self._in_sight = False
        self._drawing.stop()

    def take_over(self, former: Page) -> None:
        super().take_over(former)
        assert isinstance(former, TryPage)
        former.let_go()
        self._tries.extend(former._tries)
        self._chat = former._chat
        self._shown = former._shown
        self._question.take_over(former._question)

    def let_go(self) -> None:
        self._stop()

    def turn_to(self, part: str) -> None:
        """Choose this task to draw a question from."""
        self._question.choose_task(part)

    def refresh(self, changed: frozenset[Section]) -> None:
        if changed & {"link", "state"}:
            self._question.refresh(reload=changed == ALL)
            self._answers.set_ready(self.view.attached)
        if changed & {"link", "settings"}:
            self._programs.refresh()
        self._draw()

    # -- asking ----------------------------------------------------------------------------------------------

    def _begin(self, draft: Draft) -> None:
        if self._running is not None:
            return
        if not draft.task and is_full(self._chat):
            text = tr("This chat has {number} questions, as many as one may have. Start a new chat.")
            self.bridge.trouble.emit(text.format(number=MOST_TURNS))
            return
        one = self._running = self._shown = begin(draft, self.view.clock(), self._chat)
        self._tries.append(one)
        if one.in_chat:
            self._chat.append(one)
        self._question.show_running(True)
        self._history.table.clearSelection()
        self._go_on()

    def _new_chat(self) -> None:
        self._stop()
        self._chat = []
        self._question.begin()
        self._draw()

    def _go_on(self) -> None:
        """Send the next request of the running try."""
        one = self._running
        if one is None:
            return
        request, side = one.next_request(), one.turn
        if request is None or side is None:
            self._running = self._call = None
            self._question.show_running(False)
        else:
            self._call = self.bridge.ask(
                request,
                lambda reply: self._answered(one, side, reply),
                lambda error: self._failed(one, side, error),
                of=self,
            )
        self._draw()

    def _answered(self, one: Try, side: Side, reply: Asked | Tried) -> None:
        one.answered(side, reply)
        if one is self._running:
            self._go_on()

    def _failed(self, one: Try, side: Side, error: SapoError) -> None:
        if not side.over:
            side.fail(in_words(error))
        if one is self._running:
            self._go_on()

    def _stop(self) -> None:
        if self._running is None:
            return
        if self._call is not None:
            self._call.cancel()
        self._running.stop()
        self._go_on()

    def _streamed(self, event: AskProgressed) -> None:
        one = self._running
        changed = one is not None and any(side.progressed(event) for side in one.sides)
        if changed and one is self._shown and self._in_sight and not self._drawing.isActive():
            self._drawing.start()

    # -- showing ---------------------------------------------------------------------------------------------

    def _look_at(self, one: Try) -> None:
        self._shown = one
        self._draw()

    def _draw(self) -> None:
        if not self._in_sight or self._shown is None:
            return
        learned = len(self.view.curves) > 0
        self._answers.show_try(self._shown, self._chat, learned=learned)
        self._history.show_tries(list(self._tries))


class HistoryCard(Card):
    """The tries of this session, newest first; a click shows one again."""

    def __init__(self) -> None:
        about = tr("Your last {number} questions since you opened this window. Choose one to see its answers again.")
        super().__init__(tr("Tried so far"), about.format(number=MOST_TRIES))
        self.table = Table(
            tr("Tried so far"),
            [
                Heading(tr("Time"), lambda one: numbers.clock(one.time), lambda one: one.time),
                Heading(tr("Question"), lambda one: one.draft.question, stretch=True),
                Heading(tr("From"), lambda one: task_name(one.draft.task) if one.draft.task else tr("me")),
                Heading(tr("Before training"), lambda one: in_short(one.sides[0]), stretch=True),
                Heading(tr("Now"), lambda one: in_short(one.sides[1]), stretch=True),
            ],
            rows_shown=5,
        )
        self.add(self.table)
        self._drawn: list[tuple[int, State, State]] = []

    def show_tries(self, tries: list[Try]) -> None:
        newest = tries[::-1]
        drawn = [(one.sides[0].stream, one.sides[0].state, one.sides[1].state) for one in newest]
        if drawn != self._drawn:
            self._drawn = drawn
            self.table.set_rows(newest)
        self.setVisible(bool(newest))


# Whether other programs on this computer may ask the model, and what they need for it.


MODEL = "sapo"
"""The model's name for programs, whichever model is used."""


class ProgramsCard(Card):
    """The switch; while it is on, address, key and the model's name. The key is copied, never shown."""

    def __init__(self, view: View, bridge: Bridge) -> None:
        about = tr(
            "Chat programs, editors and scripts on this computer can ask your model as it is now, also while it "
            "learns. Nothing leaves this computer, so this works in silo too."
        )
        super().__init__(tr("Other programs"), about)
        self._view, self._bridge = view, bridge
        self.inquiry = Inquiry(bridge, GetServer, self, self._show)
        self.switch = Switch(tr("Answer other programs"))
        self.switch.clicked.connect(self._switched)
        self._trouble = Banner(tone="warning")
        self._url = Copied(bridge, tr("Address"), tr("Copy the address"))
        self.copy_key = Button(tr("Copy the key"), self._copy_key, icon="key")
        self.new_key = Button(tr("Draw another key"), self._renew, kind="quiet", icon="refresh")
        how = tr(
            "In the program, choose a provider that is compatible with OpenAI, and enter address and key. The model's "
            "name is {name}."
        )
        self._kept = Label(tr("This computer has no keyring, so the key changes with each start."), "caption")
        keys = holding(Flow(self.copy_key, self.new_key))
        self._open = holding(column(Label(how.format(name=MODEL), "muted"), self._url, keys, self._kept))
        self.add(self.switch, self._trouble, self.inquiry.trouble, self._open)
        self._open.hide()

    def refresh(self) -> None:
        """The link or the settings changed."""
        self.switch.show_state(self._view.settings.serve)
        self.switch.setEnabled(self._view.attached)
        if self._view.attached and self._view.settings.serve:
            self.inquiry.ask()
        self._show()

    def _switched(self, on: bool) -> None:
        value = "on" if on else "off"
        change(self._bridge, "serve", value, of=self, banner=self._trouble, undo=self.refresh)

    def _copy_key(self) -> None:
        copy_text(self._bridge, self._server.key)

    def _renew(self) -> None:
        self._bridge.ask(NewServerKey(), self._renewed, of=self)

    def _renewed(self, reply: ServerIs) -> None:
        self.inquiry.ask()
        self._bridge.said.emit(tr("The old key no longer works. Copy the new one into your programs."))

    @property
    def _server(self) -> ServerIs:
        on = self._view.attached and self._view.settings.serve
        found: ServerIs | None = self.inquiry.reply if on else None
        return found if found is not None else ServerIs(url="", key="", kept=True)

    def _show(self) -> None:
        server = self._server
        self._url.show_text(server.url)
        self._kept.setVisible(not server.kept)
        self._open.setVisible(bool(server.url))
        self._trouble.say(in_words(server.error), "warning")

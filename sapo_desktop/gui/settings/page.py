"""Settings: grouped, searchable, each with a sentence, effective at once unless it says otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import ClassVar

from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.plain_text import one_line
from sapo_desktop.core.sentences import Text
from sapo_desktop.core.settings import GroupName
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.peers.me import ConsentSheet
from sapo_desktop.gui.settings.erase import EraseCard
from sapo_desktop.gui.settings.groups import GROUPS, Value, found, matches
from sapo_desktop.gui.settings.rows import SettingRow
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.shell.page import Page
from sapo_desktop.gui.widgets.buttons import Button, Segments
from sapo_desktop.gui.widgets.dialog import confirm
from sapo_desktop.gui.widgets.fields import SearchLine
from sapo_desktop.gui.widgets.layout import Card, column, row, rule
from sapo_desktop.gui.widgets.notes import Banner, Empty
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.widgets.timers import timer
from sapo_desktop.gui.words import settings as setting_words
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.gui.words.states import state_sentence
from sapo_desktop.view.viewmodel import Section, View
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.facts import GetUpdates, GetUsage, Usage
from sapo_desktop.worker.control.messages.replies import SettingsAre, Unsupported
from sapo_desktop.worker.control.messages.requests import GetUnsupported, ResetSettings, SetSettings, SetSilo

LOOK_MS = 2000
"""Interval of measurements while the page is open."""
MAKE_MS = 150
"""Interval at which groups are created in advance, one at a time."""
CHANGED = "changed"
"""An extra group: settings that differ from their defaults."""


class SettingsPage(Page):
    """See the module."""

    name = "settings"
    follows: ClassVar[frozenset[Section]] = frozenset({"link", "settings", "updates"})

    def __init__(self, view: View, bridge: Bridge, actions: Actions) -> None:
        super().__init__(
            view, bridge, tr("Settings"), tr("Changes take effect immediately, unless the setting says otherwise.")
        )
        self._unsupported: Mapping[str, Text] = {}
        """Why the node's computer cannot keep some settings, by key, as reported when the page was opened."""
        self._kept: dict[str, Value] = {}
        """What was set in this window over the command line and now applies to this run, by key."""
        self._titles, self._sentences = (
            setting_words.titles(),
            {key: setting_words.sentence(key) for key in settings_file.known_keys()},
        )
        self._texts = {key: (title, self._sentences[key]) for key, title in self._titles.items()}
        self._group: str = "window"
        self._cards: dict[GroupName, GroupCard] = {}
        self._reset_all = Button(tr("Reset all"), self._confirm_reset, icon="reset")
        self.corner.addWidget(self._reset_all)
        self._search = SearchLine(tr("Search settings"))
        self._search.textChanged.connect(lambda _: self._arrange())
        self._hits = Label("", "caption", wrap=False)
        self._groups = Segments(tr("Settings"), [*setting_words.group_titles().items(), (CHANGED, tr("Changed"))])
        self._groups.chosen.connect(self._choose)
        self._banner = Banner()
        self._places = column(spacing=2)
        self._erase = EraseCard(bridge.folder, actions.erase.emit)
        self._empty = Empty("search", "", "")
        find = row(self._search, self._hits, spacing=1.5)
        self.add(find, self._groups, self._banner, self._places, self._erase, self._empty)
        self._looking = timer(self, LOOK_MS, self._look)
        self._making = timer(self, MAKE_MS, self._make_next)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self, self._find)
        self._arrange()

    def opened(self) -> None:
        self._looking.start()
        self._making.start()

    def closed(self) -> None:
        self._looking.stop()
        self._making.stop()

    def _make_next(self) -> None:
        """Create a group that was not visited yet: a search needs all, and its first letter would be delayed."""
        name = next((name for name in GROUPS if name not in self._cards), None)
        if name is None:
            self._making.stop()
        else:
            self._make_card(name)
            self._cards[name].show_rows([])

    def refresh(self, changed: frozenset[Section]) -> None:
        if not changed & self.follows:
            return
        settable = self.view.settable
        if "link" in changed:  # sent when the page opens, and when a node appears
            self._ask_what_cannot_be()
        if self.view.remedy:
            self._banner.say(state_sentence(self.view), "danger")
        else:
            not_now = (
                "" if settable else tr("The node is not running, so nothing can be changed. The page Home says why.")
            )
            self._banner.say(not_now, "plain")
        self._reset_all.setEnabled(settable and bool(self._changed_keys()))
        for card in self._cards.values():
            card.setEnabled(settable)
            self._fill(card)
        self._name_changed()
        if self._group == CHANGED and not self._search.text():
            self._arrange()

    def _ask_what_cannot_be(self) -> None:
        """The node needs seconds for it if a desktop service is silent; until then all settings can be tried."""
        if self.view.attached:
            self.bridge.ask(GetUnsupported(), self._show_what_cannot_be, lambda error: None, of=self)

    def _show_what_cannot_be(self, reply: Unsupported) -> None:
        self._unsupported = reply.reasons
        for card in self._cards.values():
            self._fill(card)

    def _look(self) -> None:
        if self.view.attached:
            self.bridge.ask(GetUsage(), self._measured, lambda error: None, of=self)

    def _measured(self, usage: Usage) -> None:
        """Show the measured use next to its limit."""
        said = setting_words.measured(usage, self.view.settings.price_per_kwh)
        for card in self._cards.values():
            for key in said.keys() & card.rows.keys():
                card.rows[key].show_measured(said[key])

    # -- visible rows -----------------------------------------------------------------------------------------

    def _choose(self, group: str) -> None:
        self._group = group
        if self._search.text():
            self._search.clear()  # arranges
        else:
            self._arrange()

    def _find(self) -> None:
        self._search.setFocus()
        self._search.selectAll()

    def _arrange(self) -> None:
        """Show the rows of the search, or those of the chosen group."""
        query = self._search.text()
        shown = found(query, self._texts) if query.strip() else self._of_group()
        # A search covers all groups, so none is selected.
        self._groups.show_choice("" if query.strip() else self._group)
        for name in GROUPS:
            if name in shown and name not in self._cards:
                self._make_card(name)
        for name, card in self._cards.items():
            card.show_rows(shown.get(name, []))
        self._hits.setText(tr("%n setting(s)", None, sum(map(len, shown.values()))))
        erases = matches(query, self._erase.words) if query.strip() else self._group == "storage"
        self._erase.setVisible(erases)
        self._empty.setVisible(not shown and not erases)
        if query.strip():
            self._empty.say(
                tr("Nothing found"),
                tr("No setting matches “{text}”.").format(text=one_line(query, 60)),
            )
        else:
            self._empty.say(tr("Nothing changed"), tr("Every setting is at its default."))

    def _of_group(self) -> dict[GroupName, list[str]]:
        if self._group != CHANGED:
            return {name: list(keys) for name, keys in GROUPS.items() if name == self._group}
        changed = self._changed_keys()
        kept = {name: [key for key in keys if key in changed] for name, keys in GROUPS.items()}
        return {name: keys for name, keys in kept.items() if keys}

    def _make_card(self, name: GroupName) -> None:
        card = GroupCard(name, self._titles, self._sentences)
        for made in card.rows.values():
            made.wanted.connect(partial(self._want, made))
            made.reset.connect(partial(self._reset, made))
        if updates := card.rows.get("look_for_updates"):
            updates.add_action(tr("Check now"), partial(self._look_for_updates, updates))
        card.setEnabled(self.view.settable)
        self._cards[name] = card
        order = [group for group in GROUPS if group in self._cards]
        self._places.insertWidget(order.index(name), card)
        self._chain(order)
        self._fill(card)

    def _chain(self, order: list[GroupName]) -> None:
        """Tab follows the cards' order on screen, not that of their creation."""
        before: QWidget = self._groups.buttons[CHANGED]
        for name in order:
            for made in self._cards[name].rows.values():
                for stop in made.stops():
                    self.setTabOrder(before, stop)
                    before = stop

    # -- values -----------------------------------------------------------------------------------------------

    def _are(self) -> SettingsAre:
        settings = self.view.settings
        return self.view.settings_are or SettingsAre(settings=settings, changed=[], overridden=[])

    def _changed_keys(self) -> set[str]:
        are = self._are()
        return {*are.changed, *are.waiting}

    def _fill(self, card: GroupCard) -> None:
        for key, made in card.rows.items():
            self._show(made)
            made.show_unsupported(one_line(in_words(self._unsupported.get(key, "")), 1000))
        if "look_for_updates" in card.rows and self.view.updates is not None:
            card.rows["look_for_updates"].show_measured(in_words(self.view.updates.text))

    def _value(self, key: str) -> Value:
        """The current or coming value; for a setting of the command line, what was set over it."""
        wanted: Value = getattr(self.view.wanted, key)
        return self._kept.get(key, wanted) if key in self._are().overridden else wanted

    def _show(self, made: SettingRow) -> None:
        are, key = self._are(), made.key
        made.show_value(
            self._value(key),
            changed=key in are.changed,
            late=key in are.waiting,
            overridden=key in are.overridden,
        )

    def _name_changed(self) -> None:
        count = len(self._changed_keys())
        words = tr("Changed ({number})").format(number=count) if count else tr("Changed")
        self._groups.buttons[CHANGED].set_text(words)

    # -- requests ---------------------------------------------------------------------------------------------

    def _want(self, made: SettingRow, text: str) -> None:
        if made.key == "share" and text == "on":
            self._show(made)  # the current value, not the requested one
            ConsentSheet(self, partial(self._ask, made, text)).open()
        else:
            self._ask(made, text)

    def _ask(self, made: SettingRow, text: str) -> None:
        key, for_good = made.key, made.key in ("share", "peers", "lan")
        request = SetSilo(on=text == "on") if key == "silo" else SetSettings(values={key: text}, for_good=for_good)
        self.bridge.ask(request, partial(self._taken, made, text), partial(self._refused, made), of=self)

    def _taken(self, made: SettingRow, text: str, reply: Ok) -> None:
        if made.key in self._are().overridden:
            self._kept[made.key] = settings_file.parse_value(made.key, text)
            self._show(made)
        made.show_taken(one_line(in_words(reply.advice), 1000))

    def _refused(self, made: SettingRow, error: SapoError) -> None:
        made.show_error(one_line(in_words(error), 1000), self._value(made.key))

    def _look_for_updates(self, made: SettingRow) -> None:
        """The worker informs all pages; an earlier refusal is obsolete."""
        self.bridge.ask(GetUpdates(look=True), lambda reply: made.show_taken(""), partial(self._refused, made), of=self)

    def _reset(self, made: SettingRow) -> None:
        self.bridge.ask(
            ResetSettings(keys=[made.key]), partial(self._was_reset, {made.key}), partial(self._refused, made), of=self
        )

    def _confirm_reset(self) -> None:
        changed = self._changed_keys()
        names = [self._titles[key] for keys in GROUPS.values() for key in keys if key in changed]
        about = tr(
            "These return to their defaults: {names}. Everything learned, the history and your identity stay."
        ).format(names=", ".join(names))
        if confirm(self, tr("Reset all settings?"), about, tr("Reset all"), kind="danger"):
            self.bridge.ask(ResetSettings(keys=[]), partial(self._was_reset, changed | self._kept.keys()), of=self)

    def _was_reset(self, keys: set[str], reply: Ok) -> None:
        self._kept |= {key: settings_file.describe(key).default for key in keys}
        for card in self._cards.values():
            for key in keys & card.rows.keys():
                card.rows[key].show_taken("")
                self._show(card.rows[key])


class GroupCard(Card):
    """The wanted settings of one group, one below the other."""

    def __init__(self, name: GroupName, titles: dict[str, str], sentences: dict[str, str]) -> None:
        super().__init__(setting_words.group_titles()[name], setting_words.group_sentences()[name])
        self.rows = {key: SettingRow(key, titles[key], sentences[key]) for key in GROUPS[name]}
        self._rules = {key: rule() for key in self.rows}
        below = column(spacing=0)
        for key, made in self.rows.items():
            below.addWidget(self._rules[key])
            below.addWidget(made)
        self.add(below)

    def show_rows(self, keys: list[str]) -> None:
        for key, made in self.rows.items():
            made.setVisible(key in keys)
            self._rules[key].setVisible(key in keys and key != keys[0])
        self.setVisible(bool(keys))

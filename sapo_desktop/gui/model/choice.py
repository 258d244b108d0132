"""The models to choose from: a list, the facts about the selected one, and the actions on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QMenu, QWidget

from sapo_desktop.core.fitting import Estimate, Way
from sapo_desktop.core.models import Contents, installed_name
from sapo_desktop.core.plain_text import one_line
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.link.inquiry import Inquiry
from sapo_desktop.gui.model.hub import HubSearch
from sapo_desktop.gui.model.model_list import ModelRow, best_here, filtered, model_rows
from sapo_desktop.gui.widgets.buttons import Button, Segments
from sapo_desktop.gui.widgets.layout import Card, Flow, column, holding
from sapo_desktop.gui.widgets.notes import chip
from sapo_desktop.gui.widgets.table import Heading, Table, number
from sapo_desktop.gui.widgets.text import Elided, Label
from sapo_desktop.gui.words import models as model_words
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import catalogued, tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.models import (
    CatalogueIs,
    FindModels,
    FoundAre,
    GetCatalogue,
    GetEstimates,
    GetModels,
    ModelProgressed,
    ModelsAre,
)

_OVERNIGHT = 10
"""Multiple of the longest recommended round: acceptable overnight, but no more than that."""
_STATE_ICONS = {
    "at work": ("play", "accent"),
    "next": ("clock", "accent"),
    "here": ("check", "accent"),
    "unfinished": ("download", "warning"),
    "damaged": ("warning", "danger"),
}


class ModelsCard(Card):
    """The list, with the facts about one model next to it."""

    def __init__(self, view: View, bridge: Bridge, parts: list[QWidget]) -> None:
        """`parts`: shown below the buttons: a running download, ways to get other models."""
        super().__init__(tr("Models"))
        self._view = view
        self._rows: list[ModelRow] = []
        self._which = Segments(
            tr("Models shown"),
            [("all", tr("All")), ("here", tr("On this computer")), ("fit", tr("Fits")), ("hub", tr("On the hub"))],
            "all",
        )
        self._which.chosen.connect(lambda which: self._fill())
        self.search = HubSearch(view, bridge, self.refresh)
        self.search.hide()
        self.table = Table(tr("Models"), _headings(view), rows_shown=8, same=lambda row: row.name)
        self.table.pointed.connect(self._point)
        self.details = ModelDetails(view)
        self.catalogue = Inquiry(bridge, GetCatalogue, self, self.refresh)
        self.models = Inquiry(bridge, GetModels, self, self.refresh)
        self.found = Inquiry(bridge, FindModels, self, self.refresh)
        self.estimates = Inquiry(bridge, lambda: self._strangers, self, self.refresh)
        """The needs of models outside the catalogue."""
        self._strangers = GetEstimates()
        troubles = (self.catalogue.trouble, self.models.trouble, self.found.trouble)
        self.add(*troubles, self._which, self.search, self.table, self.details, *parts)
        self._chosen = ""
        """What to select once it is in the list."""
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.table.customContextMenuRequested.connect(self._open_menu)

    def ask(self) -> None:
        self.catalogue.ask()
        self.models.ask()
        self.found.ask()
        if self._strangers != GetEstimates():
            self.estimates.ask()

    def refresh(self) -> None:
        """The worker answered, or settings changed: another model may be in use, or downloads forbidden."""
        self.models.trouble.setVisible(bool(self.models.error) and not self.catalogue.error)
        self.found.trouble.setVisible(bool(self.found.error) and not (self.models.error or self.catalogue.error))
        catalogue: CatalogueIs | None = self.catalogue.reply
        models: ModelsAre | None = self.models.reply
        self.details.loaded = catalogue is not None or not self._view.settable
        self.details.disk_free = catalogue.disk_free if catalogue is not None else 0
        # If a node cannot start, none is in use: the one in the settings may be gone.
        at_work, later = ("", "") if self._view.remedy else (self._view.settings.model, self._view.wanted.model)
        badges = catalogue.models if catalogue is not None else []
        found: FoundAre | None = self.found.reply
        others = found.models if found is not None else []
        contents = models.contents if models is not None else Contents()
        takes = self.estimates.reply.estimates if self.estimates.reply is not None else {}
        rows = model_rows(badges, contents, at_work, later, others, self.search.found, takes)
        if catalogue is None and not self.catalogue.error:
            rows = []  # the names and badges of those here are in the catalogue, which takes a moment
        self._estimate(rows)
        if (working := self.under_way) is not None:
            names = {working.model, installed_name(working.model)}
            hits = {row.name for row in rows if row.hit is not None and row.hit.repository == working.model}
            rows = [replace(row, transfer=working.transfer) if row.name in names | hits else row for row in rows]
        if rows != self._rows:
            self._rows = rows
            self._fill()
        self.search.refresh()
        self._point()

    def _estimate(self, rows: list[ModelRow]) -> None:
        """Request the needs of models outside the catalogue, if they changed."""
        if self.catalogue.reply is None:
            return
        here = [row.name for row in rows if row.badge is None and row.here]
        strangers = GetEstimates(models=here, hub=[row.hit for row in rows if row.hit is not None])
        if strangers != self._strangers:
            self._strangers = strangers
            self.estimates.ask()

    @property
    def best_here(self) -> str:
        """The name of the largest local model that fits; the starter if nothing else is known."""
        return best_here(self._rows)

    @property
    def under_way(self) -> ModelProgressed | None:
        """The running download or import, as the node last reported."""
        reply: ModelsAre | None = self.models.reply
        asked = reply.working if reply is not None and self._view.model_news is None else None
        return self._view.transfer or asked

    def choose(self, name: str) -> None:
        """Select this model, now or once it is listed."""
        self._chosen = name
        self._fill()

    def _open_menu(self, at: QPoint) -> None:
        """The actions of the selected model as a menu."""
        menu = QMenu(self)
        for button in self.details.buttons:
            if not button.isHidden():
                action = menu.addAction(button.text())
                action.setEnabled(button.isEnabled())
                action.triggered.connect(button.click)
        menu.popup(self.table.viewport().mapToGlobal(at))

    def _fill(self) -> None:
        shown = filtered(self._rows, self._which.current)
        if all(row.name != self._chosen for row in shown) and any(row.name == self._chosen for row in self._rows):
            self._which.show_choice("all")
            shown = filtered(self._rows, "all")
        self.search.setVisible(self._which.current == "hub")
        self.table.set_rows(shown)
        if any(row.name == self._chosen for row in shown):
            self.table.select([self._chosen])
            self._chosen = ""
        if shown and not self.table.selected():
            self.table.select([shown[0].name])

    def _point(self) -> None:
        selected = self.table.selected()
        self.details.show_row(selected[0] if len(selected) == 1 else None, working=self.under_way is not None)


def _headings(view: View) -> list[Heading]:
    def of_estimate(words: Callable[[Estimate], str]) -> Callable[[ModelRow], str]:
        return lambda item: words(item.takes) if item.takes is not None else numbers.NOTHING

    def badge_icon(item: ModelRow) -> tuple[str, str] | None:
        if item.takes is None:
            return None
        return model_words.BADGE_ICONS[item.takes.badge], model_words.BADGE_TONES[item.takes.badge]

    def pace_icon(item: ModelRow) -> tuple[str, str] | None:
        seconds = item.takes.round_seconds if item.takes is not None else 0
        if not seconds or item.only_answers:
            return None
        if seconds <= view.settings.round_most:
            return "check", "accent"
        return ("clock", "warning") if seconds <= _OVERNIGHT * view.settings.round_most else ("warning", "danger")

    return [
        Heading(tr("Model"), lambda item: item.title),
        Heading(tr("State"), model_words.state_words, icon=lambda item: _STATE_ICONS.get(item.state)),
        Heading(
            tr("Memory"),
            of_estimate(model_words.badge_words),
            lambda item: item.fit_order,
            icon=badge_icon,
            about=tr("Whether there is enough memory to train it here"),
            spare=1,
        ),
        number(
            tr("Needs"),
            lambda item: item.takes.estimate if item.takes is not None else None,
            numbers.size,
            about=tr("Memory needed to learn"),
            spare=2,
        ),
        Heading(
            tr("Time per round"),
            lambda item: _round_words(item),
            lambda item: item.takes.round_seconds if item.takes is not None else 0.0,
            right=True,
            about=tr("Estimated time of a round on this computer"),
            icon=pace_icon,
            spare=1,
        ),
        Heading(
            tr("Parameters"),
            of_estimate(lambda takes: model_words.parameters(takes.parameters)),
            lambda item: item.takes.parameters if item.takes is not None else None,
            right=True,
            spare=3,
        ),
        Heading(tr("Licence"), _licence, spare=4),
    ]


def _round_words(item: ModelRow) -> str:
    if item.only_answers:
        return tr("answers only")
    return numbers.span(item.takes.round_seconds or None if item.takes is not None else None)


def _licence(item: ModelRow) -> str:
    licence = item.badge.licence if item.badge is not None else item.hit.licence if item.hit is not None else ""
    return licence or numbers.NOTHING


class ModelDetails(Card):
    """One model.

    Signals:
        use, download, remove, token: the pressed button, for the shown model; `use` with whether at once.
    """

    use = Signal(object, bool)
    download = Signal(object)
    remove = Signal(object)
    token = Signal()

    def __init__(self, view: View) -> None:
        super().__init__(role="well")
        self._view = view
        self._row: ModelRow | None = None
        self._shown: tuple[object, ...] = ()
        self.recommended: Callable[[], Way | None] = lambda: None
        self.loaded = False
        """Whether the models are known."""
        self.disk_free = 0
        """Free bytes for models; 0 while unknown."""
        self._title = Label("", "subtitle")
        self._about = Label("", "muted")
        self._chips = QWidget()
        self._facts = Label("")
        self._source = Elided("", "caption", fixed=True)
        self._note = Label("", "caption")
        self.use_button = Button("", lambda: self.use.emit(self._row, self._view.at_work), kind="primary")
        self.later_button = Button(tr("Use after this round"), lambda: self.use.emit(self._row, False), icon="clock")
        self.download_button = Button(tr("Download"), lambda: self.download.emit(self._row), icon="download")
        self.remove_button = Button(tr("Remove"), lambda: self.remove.emit(self._row), icon="trash")
        self.token_button = Button(tr("Hub account"), self.token.emit, icon="key")
        self.buttons = [
            *(self.use_button, self.later_button),
            *(self.download_button, self.remove_button, self.token_button),
        ]
        self._buttons = holding(Flow(*self.buttons))
        self._middle = column(self._title, self._about, self._chips, self._facts, self._source, self._note)
        self.add(self._middle, 1, self._buttons)
        self.show_row(None, working=False)

    def show_row(self, shown: ModelRow | None, *, working: bool) -> None:
        """Show this model. `working`: a download is running, of which there can be one."""
        way = self.recommended()
        view = self._view
        node = (view.silo, view.attached, view.at_work, view.remedy)
        now = (shown, working, node, way, self.disk_free, self.loaded)
        if now == self._shown:
            return
        self._shown, self._row = now, shown
        for part in (self._about, self._chips, self._facts, self._source, self._note, self._buttons):
            part.setVisible(shown is not None)
        nothing = tr("No model is selected") if self.loaded else tr("Looking for models")
        self._title.setText(one_line(shown.title, 120) if shown is not None else nothing)
        if shown is None:
            return
        self._about.setText(catalogued(shown.badge.about) if shown.badge is not None else _other(shown))
        self._show_chips(shown, recommended=way is not None and way.model == shown.name)
        self._facts.setText(_facts(shown, self.disk_free))
        self._source.set_text(_source(shown))
        note = _note(shown, silo=self._view.silo, working=working)
        self._note.setText(note)
        self._note.setVisible(bool(note))
        self._show_buttons(shown, working=working)

    def _show_chips(self, shown: ModelRow, *, recommended: bool) -> None:
        chips = []
        if shown.takes is not None:
            tone = model_words.BADGE_TONES[shown.takes.badge]
            chips.append(chip(model_words.badge_words(shown.takes), tone))  # type: ignore[arg-type]
        if shown.state != "not here":
            tone = {"damaged": "danger", "unfinished": "warning"}.get(shown.state, "accent")
            chips.append(chip(model_words.state_words(shown), tone))  # type: ignore[arg-type]
        if recommended:
            chips.append(chip(tr("Chosen for this computer"), "accent"))
        if shown.needs_account:
            chips.append(chip(tr("Needs an account"), "warning"))
        if shown.only_answers:
            chips.append(chip(tr("Answers only"), "warning"))
        old, self._chips = self._chips, holding(Flow(*chips))
        self._middle.replaceWidget(old, self._chips)
        old.hide()
        old.deleteLater()

    def _show_buttons(self, shown: ModelRow, *, working: bool) -> None:
        attached = self._view.attached
        back = shown.state == "at work"
        use = tr("Use now") if self._view.at_work else tr("Use this model")
        self.use_button.set_text(tr("Keep this model") if back else use)
        self.later_button.setVisible(shown.state == "here" and self._view.at_work)
        self.use_button.setVisible(shown.state == "here" or (back and self._other_is_next))
        self.use_button.setEnabled(self._view.settable)
        self.download_button.set_text(tr("Resume download") if shown.state == "unfinished" else tr("Download"))
        known = shown.badge is not None or shown.hit is not None
        self.download_button.setVisible(known and shown.state in ("not here", "unfinished"))
        self.download_button.setEnabled(attached and not self._view.silo and not working)
        removable = not shown.shipped and shown.found is None
        self.remove_button.setVisible(removable and shown.state in ("here", "unfinished", "damaged"))
        self.remove_button.setEnabled(attached and not working)
        self.token_button.setVisible(shown.needs_account and not shown.here)
        self.token_button.setEnabled(attached)

    @property
    def _other_is_next(self) -> bool:
        held = self._view.settings_are
        return held is not None and "model" in held.waiting


def _other(shown: ModelRow) -> str:
    """Facts about a model outside the catalogue."""
    if shown.state == "damaged":
        return in_words(shown.problem)
    if shown.found is not None:
        return tr("{program} stores it on this computer. SAPO Desktop reads it there and never changes it.").format(
            program=shown.found.program
        )
    if shown.hit is not None and shown.state == "not here":
        count = numbers.count(shown.hit.downloads)
        return tr("Of the hub, downloaded {count} times in the last month. Its memory and time are estimated.").format(
            count=count
        )
    if shown.installed is None:
        return tr("A download or import that was interrupted.")
    return tr("Not of the catalogue.")


def _facts(shown: ModelRow, disk_free: int) -> str:
    said = []
    if (takes := shown.takes) is not None:
        said.append(model_words.needs_words(takes, only_answers=shown.only_answers))
        if takes.round_seconds:
            span = numbers.span(takes.round_seconds)
            said.append(tr("A round takes about {span} (estimated).").format(span=span))
        said.append(tr("{parameters} parameters.").format(parameters=model_words.parameters(takes.parameters)))
    if (licence := _licence(shown)) != numbers.NOTHING:
        said.append(tr("Licence: {licence}.").format(licence=licence))
    if shown.bytes:
        said.append(tr("{size} on this computer.").format(size=numbers.size(shown.bytes)))
    elif shown.to_download and shown.state == "not here":
        said.append(_room(shown.to_download, disk_free))
    elif shown.shipped:
        said.append(tr("It comes with the app."))
    return " ".join(said)


def _room(wanted: int, free: int) -> str:
    """The disk space that a download needs."""
    size, left = numbers.size(wanted), numbers.size(abs(free - wanted))
    if not free:
        return tr("About {size} to download.").format(size=size)
    if wanted > free:
        return tr("About {size} to download: {left} more than the disk has free.").format(size=size, left=left)
    return tr("About {size} to download, which leaves {left} free on the disk.").format(size=size, left=left)


def _source(shown: ModelRow) -> str:
    if shown.installed is not None:
        held = shown.installed
        return f"{held.source}@{held.revision[:12]}" if held.revision else held.source
    if shown.found is not None:
        return shown.found.path
    if shown.hit is not None:
        return " ".join((shown.hit.repository, *shown.hit.files)) if shown.hit.files else ""
    return shown.badge.repository if shown.badge is not None else shown.name


def _note(shown: ModelRow, *, silo: bool, working: bool) -> str:
    said = []
    if shown.found is not None and shown.found.only_answers:
        said.append(one_line(in_words(shown.found.only_answers)))
    if shown.state == "damaged" and shown.badge is not None:
        said.append(in_words(shown.problem))
    if shown.state in ("not here", "unfinished") and silo:
        said.append(tr("In silo nothing is downloaded. Leave silo, or import the model."))
    elif shown.state in ("not here", "unfinished") and working:
        said.append(tr("Only one download or import can run at a time."))
    if shown.needs_account and not shown.here:
        said.append(
            tr("First accept its licence on the hub with your account. Then enter a token of that account here.")
        )
    if shown.badge is not None and shown.badge.unverified:
        said.append(
            tr("Not verified: {facts}.").format(facts=", ".join(map(model_words.fact_words, shown.badge.unverified)))
        )
    return " ".join(said)

"""One setting: its name, its sentence, its control, and remarks on its current value."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QLocale, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QLineEdit, QSizePolicy, QWidget

from sapo_desktop.core import settings_file
from sapo_desktop.core.plain_text import one_line
from sapo_desktop.gui.look import theme
from sapo_desktop.gui.look.theme import grid
from sapo_desktop.gui.settings import groups as setting_groups
from sapo_desktop.gui.settings.groups import Number, OneOf, OnOff, Typed, Value, as_typed
from sapo_desktop.gui.widgets import fields
from sapo_desktop.gui.widgets.buttons import Button, IconButton, Switch
from sapo_desktop.gui.widgets.fields import Choice, Line
from sapo_desktop.gui.widgets.files import ask_folder
from sapo_desktop.gui.widgets.layout import Flow, column, holding, keeping_place, row
from sapo_desktop.gui.widgets.notes import Banner, chip
from sapo_desktop.gui.widgets.text import Label, Title, set_tooltip
from sapo_desktop.gui.widgets.timers import timer
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words import settings as setting_words
from sapo_desktop.gui.words.language import tr

NARROW = 560
"""Pixels at 100%; below this width, the control is placed under the words."""
_CONTROL = 270
_PAUSE_MS = 500
"""Pause after a number's arrow was pressed, since it may be pressed again."""
_FOLDERS = {"models_folder", "remote_adapters"}


class SettingRow(QFrame):
    """See the module.

    Signals:
        wanted: a value, as a person types it.
        reset: it should return to its default.
    """

    wanted = Signal(str)
    reset = Signal()

    def __init__(self, key: str, title: str, sentence: str) -> None:
        super().__init__()
        self.key = key
        self.setAccessibleName(title)
        self.control = _control(key, title, sentence)
        self._changed = chip(tr("changed"), "accent")
        # Most systems do not let a running program raise its priority again.
        when = tr("takes effect after a restart") if key == "low_priority" else tr("takes effect after this round")
        self._late = chip(when, "warning")
        self._overridden = chip(tr("set on the command line"), "warning")
        self._reset = IconButton("reset", tr("{title}: reset").format(title=title), self.reset.emit)
        default = _value_words(key, settings_file.describe(key).default)
        set_tooltip(self._reset, tr("Reset to {value}").format(value=default))
        self._error = Banner(tone="danger")
        self._measured = Label("", "caption")
        self._measured.hide()
        self._sentence = sentence
        self._held: Value | None = None
        self._unsupported = Label("", "caption")
        self._not_here = chip(tr("not on this computer"), "warning")
        head = Flow(Title(title), self._changed, self._late, self._overridden, self._not_here)
        self._words = column(1, head, Label(sentence, "caption"), self._unsupported, self._measured, 1, spacing=0.25)
        self._action: Button | None = None
        self._side = holding(row(self.control, keeping_place(self._reset), spacing=0.5))
        self._box = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._box.setSpacing(grid(2))
        self._box.addLayout(self._words, 1)
        self._box.addWidget(self._side, 0, Qt.AlignmentFlag.AlignVCenter)
        whole = column(spacing=0.75, margins=(0, grid(0.75), 0, grid(0.75)))
        whole.addLayout(self._box)
        whole.addWidget(self._error)
        self.setLayout(whole)
        for part in (self._changed, self._late, self._overridden, self._reset, self._not_here, self._unsupported):
            part.hide()
        self._error.say("")
        self.control.taken.connect(self.wanted)
        theme.looks().changed.connect(self._arrange)
        self._arrange()

    def show_value(self, value: Value, *, changed: bool, late: bool, overridden: bool) -> None:
        """The current or coming value."""
        self._changed.setVisible(changed)
        self._late.setVisible(late)
        self._overridden.setVisible(overridden)
        # A control that vanishes while focused would move the focus elsewhere.
        self._reset.setVisible(changed or late or self._reset.hasFocus())
        if self.refused and value != self._held:
            self._error.say("")  # its reason is gone
        self._held = value
        self.control.show_value(value, refused=self.refused)

    def show_unsupported(self, reason: str) -> None:
        """Why this computer cannot keep it; empty if it can. A set value can still be reset."""
        if reason == self._unsupported.text():
            return
        self._unsupported.setText(reason)
        for part in (self._unsupported, self._not_here):
            part.setVisible(bool(reason))
        self.control.stops()[0].setAccessibleDescription(f"{self._sentence} {reason}".strip())
        self.control.setEnabled(not reason)

    def show_measured(self, text: str) -> None:
        """Show the measured use of what this setting limits."""
        self._measured.setText(text)
        self._measured.setVisible(bool(text))

    def add_action(self, text: str, on_press: Callable[[], object]) -> None:
        """Add an action below the measured value."""
        self._action = Button(text, on_press, kind="inline")
        self._words.insertWidget(self._words.count() - 1, self._action, 0, Qt.AlignmentFlag.AlignLeft)

    def stops(self) -> list[QWidget]:
        """The Tab stops, in order."""
        return [*([self._action] if self._action else []), *self.control.stops(), self._reset]

    def show_error(self, text: str, value: Value) -> None:
        """The worker refused it: a typed text stays, anything else is reverted."""
        self._error.say(text, "danger")
        self._held = value
        self.control.show_value(value, refused=True)

    def show_taken(self, advice: str) -> None:
        """The worker accepted it, with a remark if there is one."""
        self._error.say(advice, "warning")

    @property
    def refused(self) -> bool:
        """Whether it shows why its value was refused."""
        return not self._error.isHidden() and self._error.property("tone") == "danger"

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        scale = theme.looks().text_percent / 100
        narrow = self.width() < NARROW * scale
        wanted = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        if self._box.direction() != wanted:
            self._box.setDirection(wanted)
            self._box.setSpacing(grid(0.75 if narrow else 2))
        # One width for all, so that the controls of a card are aligned.
        wide = round(_CONTROL * scale) + self._reset.sizeHint().width()
        self._side.setMaximumWidth(wide)
        self._side.setMinimumWidth(0 if narrow else wide)


class SettingControl(QWidget):
    """Shows a value and announces changes.

    Signals:
        taken: the value, as a person types it.
    """

    taken = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_value(self, value: Value, *, refused: bool = False) -> None:
        """Show the current value without triggering a change. `refused`: a typed text stays."""
        raise NotImplementedError

    def stops(self) -> list[QWidget]:
        """The Tab stops, in order."""
        layout = self.layout()
        assert layout is not None
        parts = (layout.itemAt(at) for at in range(layout.count()))
        return [widget for part in parts if part is not None and (widget := part.widget()) is not None]


class SwitchControl(SettingControl):
    def __init__(self, key: str, title: str, sentence: str) -> None:
        super().__init__()
        self.field = Switch("", tone="silo" if key == "silo" else "accent")
        _name(self.field, title, sentence)
        self.field.clicked.connect(lambda on: self.taken.emit(as_typed(bool(on))))
        self.setLayout(row(self.field, 1))

    def show_value(self, value: Value, *, refused: bool = False) -> None:
        self.field.show_state(bool(value))


class ChoiceControl(SettingControl):
    def __init__(self, key: str, values: tuple[str, ...], title: str, sentence: str) -> None:
        super().__init__()
        words = setting_words.choices(key)
        self.field = Choice(title, [(value, words.get(value, value)) for value in values])
        _name(self.field, title, sentence)
        self.field.chosen.connect(self.taken)
        self.setLayout(row(self.field))

    def show_value(self, value: Value, *, refused: bool = False) -> None:
        self.field.show_choice(str(value))


class NumberControl(SettingControl):
    """A number with arrows; quick repeated presses count as one change."""

    def __init__(self, key: str, kind: Number, title: str, sentence: str) -> None:
        super().__init__()
        self._text = ""
        self._pause = timer(self, _PAUSE_MS, self._take, once=True)
        self.field = fields.Number(title, kind.low, kind.high, kind.step, whole=kind.whole)
        _name(self.field, title, sentence)
        self.field.setSuffix(setting_words.unit(key))
        if zero := setting_words.zero(key):
            self.field.setSpecialValueText(zero)
        self.field.taken.connect(self._wait)
        self.setLayout(row(self.field))

    def show_value(self, value: Value, *, refused: bool = False) -> None:
        if not self._pause.isActive() and not isinstance(value, str):
            self.field.show_number(value)

    def _wait(self, text: str) -> None:
        self._text = text
        self._pause.start()

    def _take(self) -> None:
        self.taken.emit(self._text)


class TextControl(SettingControl):
    """A line. One that may contain a login is masked until the user wants to see it."""

    def __init__(self, key: str, kind: Typed, title: str, sentence: str) -> None:
        super().__init__()
        self._key, self._number = key, kind.number
        self.field = Line(title)
        _name(self.field, title, sentence)
        self.field.taken.connect(self._take)
        parts: list[QWidget] = [self.field]
        self._eye: IconButton | None = None
        if settings_file.describe(key).secret:
            self._eye = IconButton("eye", tr("{title}: show").format(title=title), self._mask, checkable=True)
            parts.append(self._eye)
        if key in _FOLDERS:
            parts.append(IconButton("folder", tr("{title}: choose a folder").format(title=title), self._choose))
        self.setLayout(row(*parts, spacing=0.5))
        self._mask()
        self.field.textChanged.connect(lambda _: self._mask())

    def show_value(self, value: Value, *, refused: bool = False) -> None:
        if not refused:
            self.field.show_text(_text(value))

    def _take(self, text: str) -> None:
        number, is_number = _ungrouped().toDouble(text) if self._number else (0.0, False)
        self.taken.emit(as_typed(number) if is_number else text)

    def _mask(self) -> None:
        masked = settings_file.shown(self._key, self.field.text()) != self.field.text()  # it may contain a login
        seen = not masked or (self._eye is not None and self._eye.isChecked())
        mode = QLineEdit.EchoMode.Normal if seen else QLineEdit.EchoMode.Password
        if self.field.echoMode() != mode:
            self.field.setEchoMode(mode)

    def _choose(self) -> None:
        chosen = ask_folder(self, tr("Choose a folder"))
        if chosen:
            self.field.show_text(chosen)
            self.taken.emit(chosen)


def _control(key: str, title: str, sentence: str) -> SettingControl:
    match setting_groups.control(key):
        case OnOff():
            return SwitchControl(key, title, sentence)
        case OneOf(values=values):
            return ChoiceControl(key, values, title, sentence)
        case Number() as kind:
            return NumberControl(key, kind, title, sentence)
        case Typed() as kind:
            return TextControl(key, kind, title, sentence)


def _name(field: QWidget, title: str, sentence: str) -> None:
    field.setAccessibleName(title)
    field.setAccessibleDescription(sentence)


def _text(value: Value) -> str:
    """A value in a line of text."""
    return numbers.plain(value) if isinstance(value, float) else as_typed(value)


def _ungrouped() -> QLocale:
    """The window's language without digit grouping, in which 0.003 could be read as 3."""
    spoken = QLocale()
    spoken.setNumberOptions(QLocale.NumberOption.RejectGroupSeparator)
    return spoken


def _value_words(key: str, value: Value) -> str:
    if isinstance(value, bool):
        return tr("on") if value else tr("off")
    if value == 0 and setting_words.zero(key):
        return setting_words.zero(key)
    if value == "":
        return tr("empty")
    text = _text(value)
    return one_line(setting_words.choices(key).get(text, text)) + setting_words.unit(key)

"""Settings: requests to the worker, the content of each row, search, reset, consent."""

import pytest
from PySide6.QtCore import QLocale, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QLineEdit
from pytestqt.qtbot import QtBot

from sapo_desktop.core.consent import WHAT_IS_PUBLISHED
from sapo_desktop.core.errors import SettingsError, UsageError
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.settings_file import known_keys
from sapo_desktop.gui.peers.me import ConsentSheet
from sapo_desktop.gui.settings.groups import GROUPS
from sapo_desktop.gui.settings.page import SettingsPage
from sapo_desktop.gui.settings.rows import SettingRow
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.widgets.text import Title
from sapo_desktop.gui.words.language import tr
from sapo_desktop.view.link import Lost
from sapo_desktop.view.viewmodel import ALL, View
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.facts import GetUsage, Usage
from sapo_desktop.worker.control.messages.replies import Unsupported
from sapo_desktop.worker.control.messages.requests import GetUnsupported, ResetSettings, SetSettings, SetSilo
from tests.gui import scenes, staged_settings
from tests.gui.driving import in_dialog, press, shown, texts
from tests.gui.stage import StageBridge


def ordered(bridge: StageBridge) -> list[object]:
    """What a person had asked. The page itself asks what the node uses, and what the computer cannot keep."""
    return [request for request in bridge.asked if not isinstance(request, GetUsage | GetUnsupported)]


def a_page(qtbot: QtBot, view: View | None = None) -> tuple[SettingsPage, StageBridge]:
    bridge = StageBridge(view or scenes.a_view())
    staged_settings.stage(bridge)
    return shown(qtbot, SettingsPage(bridge.view, bridge, Actions(bridge.view, bridge)), 1000, 900), bridge


@pytest.fixture
def page(qtbot: QtBot) -> SettingsPage:
    return a_page(qtbot)[0]


@pytest.fixture
def bridge(page: SettingsPage) -> StageBridge:
    return page.bridge


def row(page: SettingsPage, key: str) -> SettingRow:
    group = next(name for name, keys in GROUPS.items() if key in keys)
    page._choose(group)
    return page._cards[group].rows[key]


def rows_in_sight(page: SettingsPage) -> list[str]:
    return [key for card in page._cards.values() for key, made in card.rows.items() if made.isVisible()]


def type_into(field: QLineEdit, text: str) -> None:
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, text)


def enter(field: QLineEdit, text: str) -> None:
    type_into(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)


def test_first_in_sight_is_the_windows_group_with_what_holds(qtbot: QtBot) -> None:
    page, bridge = a_page(qtbot, scenes.a_view(theme="dark", text_size=120))
    assert rows_in_sight(page) == list(GROUPS["window"])
    assert row(page, "theme").control.field.current == "dark"
    assert row(page, "text_size").control.field.value() == 120
    assert not ordered(bridge)


def test_every_setting_has_a_row_that_shows_its_default_without_asking(page: SettingsPage, bridge: StageBridge) -> None:
    for key in known_keys():
        made = row(page, key)
        assert made.isVisible() and made.control.field.accessibleName()
    assert not ordered(bridge)


def test_every_kind_of_setting_is_set_as_typed(page: SettingsPage, bridge: StageBridge, qtbot: QtBot) -> None:
    QTest.keyClick(row(page, "low_priority").control.field, Qt.Key.Key_Space)
    theme = row(page, "theme").control.field
    QTest.keyClick(theme, Qt.Key.Key_Down)
    label = row(page, "label").control.field
    enter(label, "mine")
    threads = row(page, "threads").control.field
    QTest.keyClick(threads, Qt.Key.Key_Up)
    QTest.keyClick(threads, Qt.Key.Key_Up)
    qtbot.waitUntil(lambda: bridge.view.settings.threads == 2)
    assert bridge.asked_for(SetSettings) == [
        SetSettings(values={"low_priority": "off"}),
        SetSettings(values={"theme": "light"}),
        SetSettings(values={"label": "mine"}),
        SetSettings(values={"threads": "2"}),
    ]
    assert "changed" in texts(row(page, "label"))


def test_a_text_is_taken_after_a_pause_or_when_it_is_left(page: SettingsPage, bridge: StageBridge) -> None:
    label = row(page, "label").control.field
    type_into(label, "ab")
    assert not ordered(bridge)
    label._pause.timeout.emit()
    assert ordered(bridge) == [SetSettings(values={"label": "ab"})]
    QTest.keyClicks(label, "c")
    label.editingFinished.emit()
    label.editingFinished.emit()
    assert ordered(bridge)[1:] == [SetSettings(values={"label": "abc"})]


def test_what_the_worker_refuses_is_said_below_and_the_text_stays(page: SettingsPage, bridge: StageBridge) -> None:
    made = row(page, "label")
    enter(made.control.field, "no spaces!")
    said = next(text for text in texts(made) if "cannot be 'no spaces!'" in text)
    assert "A name shown with shared answers" in said
    page.setFocus()
    page.refresh(ALL)
    assert made.control.field.text() == "no spaces!"
    enter(made.control.field, "fine")
    assert not made.refused and bridge.view.settings.label == "fine"


def test_a_switch_that_is_refused_goes_back_and_follows_others(page: SettingsPage, bridge: StageBridge) -> None:
    bridge.replies[SetSilo] = UsageError("Not with a remote server.")
    made = row(page, "silo")
    press(made.control.field)
    assert ordered(bridge) == [SetSilo(on=False)]
    assert made.control.field.isChecked() and "Not with a remote server." in texts(made)
    bridge.ask(SetSettings(values={"silo": "off"}), of=page)
    assert not made.control.field.isChecked() and not made.refused, "it shows what is set elsewhere"


def test_a_refused_schedule_stays_as_it_was_typed(page: SettingsPage, bridge: StageBridge) -> None:
    made = row(page, "schedule")
    enter(made.control.field, "never ever")
    page.setFocus()
    page.refresh(ALL)
    assert made.refused and made.control.field.text() == "never ever"
    bridge.ask(SetSettings(values={"schedule": "mon-fri 18-8"}), of=page)
    assert not made.refused and made.control.field.text() == "mon-fri 18-8"


def test_numbers_are_shown_and_read_in_the_windows_language(qtbot: QtBot) -> None:
    QLocale.setDefault(QLocale("de_DE"))  # the next test speaks English again
    german, bridge = a_page(qtbot, scenes.a_view(learning_rate=0.0003))
    field = row(german, "learning_rate").control.field
    assert field.text() == "0,0003"
    for typed in ("0,004", "0.005"):
        enter(field, typed)
    asked = [request.values["learning_rate"] for request in bridge.asked_for(SetSettings)]
    assert asked == ["0.004", "0.005"]
    assert "60 s" in row(german, "round_most")._reset.toolTip()


def test_what_waits_and_what_the_command_line_holds_is_marked(qtbot: QtBot) -> None:
    page, _ = a_page(qtbot, staged_settings.a_view())
    marks = {"changed", "takes effect after this round", "set on the command line"}
    assert marks.intersection(texts(row(page, "model"))) == {"changed", "takes effect after this round"}
    assert "set on the command line" in texts(row(page, "silo")) and not marks.intersection(texts(row(page, "label")))


def test_a_value_that_waits_stays_in_sight(page: SettingsPage, bridge: StageBridge) -> None:
    field = row(page, "model").control.field
    enter(field, "smollm2-135m")
    assert bridge.view.settings.model == "starter" and bridge.view.settings_are.waiting == ["model"]
    page.setFocus()
    page.refresh(ALL)
    assert field.text() == "smollm2-135m" and "takes effect after this round" in texts(row(page, "model"))


def test_what_the_command_line_holds_is_shown_as_it_was_typed(qtbot: QtBot) -> None:
    page, bridge = a_page(qtbot, scenes.a_view(label="theirs"))

    def keep(request: object) -> Ok:
        """The run continues with its command line's values."""
        bridge.changed.emit(bridge.view.take_settings(staged_settings.are(Settings(label="theirs"), (), ("label",))))
        return Ok(text="Saved.")

    bridge.replies |= {SetSettings: keep, ResetSettings: keep}
    keep(None)
    made = row(page, "label")
    field = made.control.field
    assert field.text() == "theirs"
    enter(field, "mine")
    page.setFocus()
    page.refresh(ALL)
    assert field.text() == "mine" and "set on the command line" in texts(made)
    bridge.replies[SetSettings] = SettingsError("No.")
    enter(field, "no!")
    page.setFocus()
    page.refresh(ALL)
    assert made.refused and field.text() == "no!"
    press(made._reset)
    assert field.text() == "" and not made.refused


def test_one_is_reset_by_its_own_button(qtbot: QtBot) -> None:
    page, bridge = a_page(qtbot, staged_settings.a_view())
    made = row(page, "threads")
    press(made._reset)
    assert ordered(bridge) == [ResetSettings(keys=["threads"])]
    assert made.control.field.value() == 0 and "changed" not in texts(made)


def test_all_are_reset_only_after_a_question_that_names_them(qtbot: QtBot) -> None:
    page, bridge = a_page(qtbot, staged_settings.a_view())
    asked: list[str] = []

    def refuse(dialog: QDialog) -> None:
        asked.extend(texts(dialog))
        press(dialog, "Cancel")

    in_dialog(refuse)
    page._reset_all.click()
    assert not ordered(bridge) and any("Threads, Share answers, Proxy, Model" in text for text in asked)
    in_dialog(lambda dialog: press(dialog, "Reset all"))
    page._reset_all.click()
    assert ordered(bridge) == [ResetSettings(keys=[])]
    assert bridge.view.settings == Settings(model="smollm2-135m") and not bridge.view.settings.share


def test_sharing_begins_only_after_the_consent_was_read(page: SettingsPage, bridge: StageBridge) -> None:
    switch = row(page, "share").control.field

    def sheet() -> ConsentSheet:
        return next(found for found in page.findChildren(ConsentSheet) if found.isVisible())

    press(switch)
    read = texts(sheet())
    assert all(any(part in text for text in read) for part in WHAT_IS_PUBLISHED)
    press(sheet(), "Cancel")
    assert not bridge.asked_for(SetSettings) and not switch.isChecked()
    press(switch)
    press(sheet(), "Publish answers from now on")
    assert bridge.asked_for(SetSettings) == [SetSettings(values={"share": "on"}, for_good=True)] and switch.isChecked()
    press(switch)  # no question to end it
    assert bridge.asked_for(SetSettings)[1:] == [SetSettings(values={"share": "off"}, for_good=True)]


def test_a_search_goes_through_all_groups_and_counts(page: SettingsPage, qtbot: QtBot) -> None:
    page.activateWindow()
    qtbot.waitUntil(page.isActiveWindow)
    QTest.keyClick(page, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert page._search.hasFocus()
    QTest.keyClicks(page._search, "proxy")
    assert rows_in_sight(page) == ["proxy"] and page._hits.text() == tr("%n setting(s)", None, 1)
    QTest.keyClicks(page._search, " nothing")
    assert rows_in_sight(page) == [] and "Nothing found" in texts(page)
    QTest.keyClick(page._search, Qt.Key.Key_Escape)
    assert rows_in_sight(page) == list(GROUPS["window"]) and "Nothing found" not in texts(page)


def test_changed_ones_stand_together(qtbot: QtBot) -> None:
    page, _ = a_page(qtbot, staged_settings.a_view())
    assert page._groups.buttons["changed"].text() == "Changed (4)"
    press(page._groups.buttons["changed"])
    assert rows_in_sight(page) == ["threads", "share", "proxy", "model"]
    press(page._cards["gentle"].rows["threads"]._reset)
    assert rows_in_sight(page) == ["share", "proxy", "model"]


def test_a_login_is_masked_until_somebody_wants_to_see_it(qtbot: QtBot) -> None:
    page, _ = a_page(qtbot, staged_settings.a_view())
    control = row(page, "proxy").control
    assert control.field.echoMode() is QLineEdit.EchoMode.Password
    press(control._eye)
    assert control.field.echoMode() is QLineEdit.EchoMode.Normal
    assert not any("me:secret" in text for text in texts(page))
    press(control._eye)
    control.field.setText("http://host:3128")
    assert control.field.echoMode() is QLineEdit.EchoMode.Normal, "there is no login in it"


def test_a_folder_can_be_chosen(page: SettingsPage, bridge: StageBridge, monkeypatch: object, tmp_path: object) -> None:
    monkeypatch.setattr("sapo_desktop.gui.settings.rows.ask_folder", lambda parent, title: str(tmp_path))
    row(page, "models_folder").control._choose()
    assert ordered(bridge) == [SetSettings(values={"models_folder": str(tmp_path)})]


def test_without_a_node_nothing_can_be_changed_and_it_is_said(page: SettingsPage, bridge: StageBridge) -> None:
    bridge.tell(Lost(reason="It was killed."))
    assert "The node is not running, so nothing can be changed. The page Home says why." in texts(page)
    assert not row(page, "theme").control.field.isEnabled() and not page._reset_all.isEnabled()


def test_a_setting_that_keeps_the_node_from_starting_can_be_changed(page: SettingsPage, bridge: StageBridge) -> None:
    bridge.tell(Lost(reason="llama.cpp is not built here.", remedy="settings"))
    assert "The node cannot start: llama.cpp is not built here." in texts(page)
    assert row(page, "theme").control.field.isEnabled()


def test_a_page_that_was_made_before_the_node_came_fills_itself(qtbot: QtBot) -> None:
    page, bridge = a_page(qtbot, View())
    assert not row(page, "theme").control.field.isEnabled()
    bridge.tell(scenes.a_view(theme="dark").link)
    assert row(page, "theme").control.field.isEnabled() and row(page, "theme").control.field.current == "dark"


def test_an_error_stays_text(page: SettingsPage, bridge: StageBridge) -> None:
    bridge.replies[SetSettings] = SettingsError("<b>no</b>\u202e" + "x" * 64_000)
    made = row(page, "low_priority")
    press(made.control.field)
    said = next(text for text in texts(made) if "<b>no</b>" in text)
    assert "\u202e" not in said and len(said) <= 1000
    assert page.widget().minimumSizeHint().width() <= 1000


def test_tab_goes_through_the_cards_as_they_stand(page: SettingsPage) -> None:
    page._choose("storage")  # made after the window's card, and stands below it
    page._choose("gentle")
    stops = [stop for key in GROUPS["gentle"] for stop in page._cards["gentle"].rows[key].stops()]
    later = page._cards["storage"].rows["models_folder"].stops()[0]
    order, at = [], page._cards["window"].rows["language"].stops()[0]
    for _ in range(200):
        order.append(at)
        at = at.nextInFocusChain()
    found = [order.index(widget) for widget in (*stops, later)]
    assert found == sorted(found)


def test_advice_stands_at_the_setting_that_was_taken(page: SettingsPage, bridge: StageBridge) -> None:
    made = row(page, "pause_for")
    page._taken(made, "blendr", Ok(advice="Did you mean blender?"))
    assert "Did you mean blender?" in texts(made) and not made.refused


def test_what_is_taken_stands_next_to_what_bounds_it(page: SettingsPage, bridge: StageBridge) -> None:
    made = row(page, "memory_most")
    bridge.replies[GetUsage] = Usage(memory=1_200_000_000, cores=0.5, joules=3.6e6, card_memory=2 * 10**9)
    page._looking.timeout.emit()
    assert "Now: 1.2 GB" in texts(made) and "Now: 0.50 cores" in texts(row(page, "threads"))
    assert "Now: 2.0 GB" in texts(row(page, "card_memory_most"))
    assert any(text.startswith("So far: 1.00 kWh") for text in texts(row(page, "price_per_kwh")))


def test_all_groups_are_made_ahead_so_that_the_first_letter_of_a_search_does_not_wait(qtbot: QtBot) -> None:
    page, _ = a_page(qtbot)
    assert len(page._cards) == 1
    for _ in GROUPS:
        page._make_next()
    assert set(page._cards) == set(GROUPS) and not page._making.isActive()
    assert set(rows_in_sight(page)) == set(GROUPS["window"]), "made, and not shown"


CANNOT_TELL = "This computer cannot tell whether somebody uses it."


def test_what_the_computer_cannot_keep_is_greyed_out_with_the_reason_and_can_be_reset(qtbot: QtBot) -> None:
    page, bridge = a_page(qtbot, scenes.a_view(when_in_use="pause"))
    bridge.replies[GetUnsupported] = Unsupported(reasons={"when_in_use": CANNOT_TELL, "hottest": CANNOT_TELL})
    bridge.view.take_settings(staged_settings.are(bridge.view.settings))
    page.refresh(ALL)
    made, free = row(page, "when_in_use"), row(page, "schedule")
    assert not made.control.field.isEnabled() and {CANNOT_TELL, "not on this computer"} <= set(texts(made))
    assert CANNOT_TELL in made.control.field.accessibleDescription()
    assert free.control.field.isEnabled() and "not on this computer" not in texts(free)
    assert made._reset.isEnabled()
    press(made._reset)
    assert ordered(bridge) == [ResetSettings(keys=["when_in_use"])] and bridge.view.settings.when_in_use == "continue"
    assert not row(page, "hottest").control.field.isEnabled(), "made later than the answer came"
    bridge.replies[GetUnsupported] = Unsupported(reasons={})
    page.refresh(ALL)
    assert made.control.field.isEnabled(), "it can be kept again when the page is opened again"


def test_a_title_is_one_line_where_there_is_room(qtbot: QtBot) -> None:
    page, _ = a_page(qtbot)
    titles = page.findChildren(Title)
    assert titles and all(title.height() < 2 * title.fontMetrics().height() for title in titles if title.isVisible())

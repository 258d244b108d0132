"""What happens around the window: displays, memory, one window for a folder, first-run answers, languages."""

import io
import os
import signal
import socket
import sys
from datetime import datetime
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QLocale, QUrl
from PySide6.QtGui import QFileOpenEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QRadioButton
from pytestqt.qtbot import QtBot

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.settings_file import apply
from sapo_desktop.gui.first_run.steps import Choices, GentleStep
from sapo_desktop.gui.shell import single
from sapo_desktop.gui.shell.actions import seconds_until_tomorrow
from sapo_desktop.gui.shell.app import cannot_start, only_a_box_is_seen, opened_link, polite_ends
from sapo_desktop.gui.shell.remembered import Remembered, recall, remember, settings_in
from sapo_desktop.gui.shell.single import SingleWindow
from sapo_desktop.gui.words import language, numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.system.desktop import display
from sapo_desktop.system.desktop.display import why_no_window
from sapo_desktop.system.folders import DataFolder, FolderError


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems always have a display")
def test_without_a_display_the_terminal_is_offered() -> None:
    assert "no display" in why_no_window({})
    assert why_no_window({"QT_QPA_PLATFORM": "offscreen"}) == ""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems always have a display")
def test_a_display_that_does_not_answer_is_none(tmp_path: Path) -> None:
    assert "display :4711 does not answer" in why_no_window({"DISPLAY": ":4711"})
    wayland = {"WAYLAND_DISPLAY": "wayland-9", "XDG_RUNTIME_DIR": str(tmp_path)}
    assert "display wayland-9 does not answer" in why_no_window(wayland)
    with socket.socket(socket.AF_UNIX) as compositor:
        compositor.bind(str(tmp_path / "wayland-9"))
        compositor.listen()
        assert why_no_window(wayland) == ""
        assert why_no_window(wayland | {"DISPLAY": ":4711"}) == ""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the platforms are Linux's")
@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"QT_QPA_PLATFORM": "bogus"}, "bogus"),
        ({"QT_QPA_PLATFORM": "wayland"}, "A display for wayland does not answer"),
        ({"QT_QPA_PLATFORM": "xcb", "DISPLAY": ":4711"}, "The display :4711 does not answer"),
        ({"QT_QPA_PLATFORM": "xcb;wayland"}, "does not answer"),
    ],
)
def test_a_platform_that_does_not_fit_is_found_before_qt_ends_the_process(asked: dict[str, str], named: str) -> None:
    said = why_no_window(asked)
    assert named in said and "Unset it" in said


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the platforms are Linux's")
def test_the_first_platform_that_fits_is_enough() -> None:
    assert why_no_window({"QT_QPA_PLATFORM": "xcb;offscreen"}) == ""
    assert why_no_window({"QT_QPA_PLATFORM": "offscreen:size=800x600"}) == ""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems have all libraries")
def test_a_library_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display, "_missing_library", lambda plugin: "libxcb-cursor.so.0")
    said = why_no_window({"DISPLAY": ":0"})
    assert "libxcb-cursor.so.0" in said and "apt install" in said


def test_a_window_is_remembered(tmp_path: Path) -> None:
    folder = DataFolder.open(tmp_path)
    assert recall(folder) == Remembered()
    kept = Remembered(welcomed=1, looks={"page": "log"})
    remember(folder, kept)
    assert recall(folder) == kept
    for damaged in (b"{broken", b"\xff\xfe{}", b'{"looks": "\xff"}'):
        (tmp_path / "window.json").write_bytes(damaged)
        assert recall(folder) == Remembered(), "a file that cannot be read is nobody's memory"


@pytest.mark.parametrize(
    ("text", "theme", "size"),
    [
        ("theme = 'dark'\ntext_size = 150\nsilo = false\n", "dark", 150),
        ("theme = 'pink'\ntext_size = 120\n", "system", 120),
        ("not toml at all", "system", 100),
        (None, "system", 100),
    ],
)
def test_looks_are_known_before_the_worker_answers(tmp_path: Path, text: str | None, theme: str, size: int) -> None:
    folder = DataFolder.open(tmp_path)
    if text is not None:
        folder.settings.write_text(text)
    found = settings_in(folder)
    assert (found.theme, found.text_size) == (theme, size)
    assert text is None or folder.settings.read_text() == text, "what is damaged is the worker's to say"


def test_a_second_window_raises_the_first(qtbot: QtBot, tmp_path: Path) -> None:
    first, second, other = (SingleWindow(DataFolder.open(tmp_path / name)) for name in ("a", "a", "b"))
    assert first.is_first() and other.is_first()
    for link in ("", "sapo://join?swarm=00&peer=x"):
        with qtbot.waitSignal(first.raised) as raised:
            assert not second.is_first(link)
        assert raised.args == [link]
    first.close()
    assert second.is_first(), "the one before has gone"
    second.close()
    other.close()


def test_where_no_lock_can_be_written_a_window_opens_all_the_same(qtbot: QtBot, tmp_path: Path) -> None:
    folder = DataFolder.open(tmp_path)
    window = SingleWindow(folder)
    folder.control.rename(tmp_path / "away")
    assert window.is_first()
    window.close()


def test_a_window_that_does_not_answer_is_said(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(single, "_KNOCK_SECONDS", 0.2)
    first, second = (SingleWindow(DataFolder.open(tmp_path)) for _ in range(2))
    assert first.is_first()
    first._server.close()
    with pytest.raises(SapoError, match=f"process {os.getpid()}"):
        second.is_first()
    first.close()


def test_macos_hands_links_to_the_program_that_runs(qapp: QApplication) -> None:
    link = "sapo://join?swarm=00&peer=wss%3A%2F%2Fone.example%3A1%23KEY"
    assert opened_link(QFileOpenEvent(QUrl(link))) == link
    assert opened_link(QFileOpenEvent(QUrl("file:///some/file"))) == ""
    assert opened_link(QEvent(QEvent.Type.Quit)) == ""


@pytest.mark.parametrize("platform", [sys.platform, "win32"])
def test_ctrl_c_in_the_terminal_ends_it_politely(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    before = signal.getsignal(signal.SIGINT)
    calls: list[int] = []
    with polite_ends(lambda: calls.append(1)):
        signal.raise_signal(signal.SIGINT)
        qtbot.waitUntil(lambda: calls == [1])
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        (Choices(), {"threads": 0, "silo": True, "share": False, "on_battery": "pause", "low_priority": True}),
        (Choices(threads=7, on_battery=True), {"threads": 7, "on_battery": "continue", "silo": True}),
        (Choices(give_way=False), {"low_priority": False, "when_in_use": "continue", "start_at_login": False}),
        (Choices(away=True, at_login=True), {"when_in_use": "pause", "start_at_login": True}),
        (Choices(others=True), {"silo": True, "share": False}),
    ],
)
def test_first_run_answers_become_settings(choices: Choices, expected: dict[str, object]) -> None:
    settings = apply(Settings(), choices.settings())
    assert {key: getattr(settings, key) for key in expected} == expected


@pytest.mark.parametrize(("cores", "threads"), [(1, []), (2, []), (3, [0, 2]), (4, [1, 0, 3]), (16, [4, 0, 15])])
def test_only_different_numbers_of_cores_are_offered_and_one_alone_is_no_question(
    qtbot: QtBot, cores: int, threads: list[int]
) -> None:
    choices = Choices()
    step = GentleStep(choices, cores, "/home/you/node")
    qtbot.addWidget(step)
    radios = step.findChildren(QRadioButton)
    assert step.focus_first() == bool(threads) and [radio.isChecked() for radio in radios] == [not n for n in threads]
    for radio, wanted in zip(radios, threads, strict=True):
        radio.click()
        assert choices.threads == wanted


def test_tomorrow_is_the_next_midnight_of_the_wall_clock() -> None:
    assert seconds_until_tomorrow(datetime(2026, 11, 21, 23, 59, 30)) == 30
    assert seconds_until_tomorrow(datetime(2026, 11, 21, 0, 0, 0)) == 86400


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.5, "50%"), (0.004, "1%"), (0.996, "99%"), (0.0, "0%"), (1.0, "100%"), (None, "–"), (float("nan"), "–")],
)
def test_only_all_is_a_hundred_percent(qapp: QApplication, value: float | None, shown: str) -> None:
    assert numbers.percent(value) == shown


def test_numbers_are_written_as_the_language_writes_them(qapp: QApplication) -> None:
    assert numbers.number(1234.5678, 2) in ("1,234.57", "1234.57")
    assert (numbers.signed(-0.25, 2), numbers.signed(0.0001, 2), numbers.signed(None)) == ("−0.25", "±0.00", "–")
    assert (numbers.size(3_600_000), numbers.size(512)) == ("3.6 MB", "512 B")
    assert (numbers.span(2.94), numbers.span(200), numbers.span(3900)) == ("2.9 s", "3 min 20 s", "1 h 5 min")
    assert [numbers.left(seconds) for seconds in (900, 899.2, 7500, 60, 12.1)] == [
        "15 min", "15 min", "2 h 5 min", "1 min", "13 s"
    ]  # fmt: skip
    assert [numbers.energy(joules) for joules in (0, 1, 3.6e5)] == ["0 kWh", "under 0.01 kWh", "0.10 kWh"]
    assert numbers.points(0.06, -0.12) == "+6\u00a0to\u00a0−12 points"
    assert (numbers.countdown(899.2), numbers.countdown(7500)) == ("15:00", "2:05:00")
    language.speak("de")
    assert numbers.number(0.634) == "0,634"
    language.speak("en")


@pytest.mark.parametrize(("spoken", "written"), [("en", "1,240 questions"), ("de", "1.240 Fragen")])
def test_counts_are_written_as_the_language_writes_them(qapp: QApplication, spoken: str, written: str) -> None:
    language.speak(spoken)
    QLocale.setDefault(QLocale({"en": "en_US", "de": "de_DE"}[spoken]))  # whatever the system's may be
    assert tr("%n question(s)", None, 1240) == written


def test_a_folder_that_cannot_be_used_is_said_in_a_box_of_its_own(qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FolderError) as refused:
        DataFolder.open(tmp_path / "file")
    box = cannot_start(refused.value)
    qtbot.addWidget(box)
    assert str(tmp_path / "file") in box.text() and box.windowTitle()


@pytest.mark.parametrize(
    ("platform", "hidden", "shown"),
    [("xcb", False, True), ("xcb", True, False), ("offscreen", False, False), ("minimal", False, False)],
)
def test_no_box_waits_where_nobody_could_close_it(
    monkeypatch: pytest.MonkeyPatch, platform: str, hidden: bool, shown: bool
) -> None:
    monkeypatch.setattr(QGuiApplication, "platformName", lambda: platform)
    monkeypatch.setattr(sys, "__stderr__", io.StringIO())
    assert only_a_box_is_seen(hidden=hidden) is shown
    monkeypatch.setattr(sys, "__stderr__", None)
    assert only_a_box_is_seen(hidden=hidden) is shown

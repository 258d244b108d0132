"""A start without a command: the window where there can be one, otherwise rounds in the terminal, and the reason
said."""

import io
from pathlib import Path

import pytest

from sapo_desktop.cli import main
from sapo_desktop.system.desktop import display
from sapo_desktop.worker.control.messages.requests import StartRounds
from tests.cli.fake_node import FakeDoor, FakeNode

links: list[str] = []
"""Links with which windows were opened, or empty ones."""
NO_DISPLAY = "There is no display here to open a window on."


class Played(FakeNode):
    """Ends by itself after its second round."""

    async def _play(self, rounds: int | None) -> None:
        await super()._play(2)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, bool]]:
    """Windows that were opened: their folder, and whether in the tray."""
    from sapo_desktop.gui.shell import app

    seen: list[tuple[Path, bool]] = []
    links.clear()

    def show(folder: Path, *, hidden: bool, link: str) -> int:
        seen.append((folder, hidden))
        links.append(link)
        return 0

    monkeypatch.setattr(app, "main", show)
    return seen


def start(folder: Path, *words: str) -> tuple[int, FakeDoor]:
    door = FakeDoor(node=Played())
    return main([*words, "--data", str(folder)], door), door


def test_on_a_display_it_opens(
    tmp_path: Path, opened: list[tuple[Path, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(display, "why_no_window", lambda: "")
    assert start(tmp_path)[0] == 0 and start(tmp_path, "--tray")[0] == 0
    assert opened == [(tmp_path, False), (tmp_path, True)]


@pytest.mark.parametrize(
    ("words", "why", "said"),
    [
        ((), NO_DISPLAY, f"{NO_DISPLAY} Playing in the terminal."),
        (("--terminal",), "", "No window, as asked. Playing in the terminal."),
        (("--json",), "", "No window, as asked. Playing in the terminal."),
    ],
)
def test_else_rounds_are_played_in_the_terminal_and_it_is_said_why(
    tmp_path: Path,
    opened: list[tuple[Path, bool]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    why: str,
    said: str,
) -> None:
    monkeypatch.setattr(display, "why_no_window", lambda: why)
    monkeypatch.setattr(display, "expects_window", lambda: False)
    code, door = start(tmp_path, *words)
    assert code == 0 and opened == []
    assert capsys.readouterr().err.startswith(said + "\n")
    assert StartRounds() in door.node.requests


NO_LIBRARY = "The window needs a system library that is missing here: libxcb-cursor.so.0."


def test_who_expected_a_window_gets_the_line_to_type_and_nothing_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(display, "why_no_window", lambda: NO_LIBRARY)
    monkeypatch.setattr(display, "expects_window", lambda: True)
    code, door = start(tmp_path)
    said = capsys.readouterr().err
    assert code == 1 and not door.node.requests
    assert NO_LIBRARY in said and "sapo-desktop run" in said and "Playing" not in said


@pytest.mark.parametrize(("typed", "plays"), [("y\n", True), ("\n", False), ("", False), ("no\n", False)])
def test_who_sits_at_a_terminal_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], typed: str, plays: bool
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(display, "why_no_window", lambda: NO_LIBRARY)
    monkeypatch.setattr(display, "expects_window", lambda: True)
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    monkeypatch.setattr("sys.stderr", shown := Terminal())
    code, door = start(tmp_path)
    assert code == (0 if plays else 1) and (StartRounds() in door.node.requests) == plays
    assert NO_LIBRARY in shown.getvalue() and "[y/N]" in shown.getvalue()
    assert ("sapo-desktop run" in shown.getvalue()) == (not plays)


def test_a_tray_is_no_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(display, "why_no_window", lambda: NO_DISPLAY)
    code, door = start(tmp_path, "--tray")
    assert code == 1 and not door.node.requests
    assert "sapo-desktop run" in capsys.readouterr().err
    assert start(tmp_path, "--tray", "--terminal")[0] == 2


def test_a_link_that_was_opened_goes_to_the_window(
    tmp_path: Path,
    opened: list[tuple[Path, bool]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    link = "sapo://join?swarm=00&peer=x"
    monkeypatch.setattr(display, "why_no_window", lambda: "")
    assert start(tmp_path, link)[0] == 0
    assert opened == [(tmp_path, False)] and links == [link]
    monkeypatch.setattr(display, "why_no_window", lambda: NO_DISPLAY)
    assert start(tmp_path, link)[0] == 2
    said = capsys.readouterr().err
    assert f"run --invite '{link}'" in said and "Playing" not in said

"""How messages spell our commands, by how this process was started."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from sapo_desktop.terminal import invocation

NOT_KEPT = invocation.program.__wrapped__
SAID = "Start it with: sapo-desktop run --data d. `sapo-desktop tasks list` shows them. See sapo-desktop --help"


def started(patch: pytest.MonkeyPatch, name: str, python: str, *, installed: bool = False) -> None:
    patch.setitem(sys.modules, "__main__", SimpleNamespace(__spec__=SimpleNamespace(name=name)))
    patch.setattr(sys, "executable", python)
    patch.setattr("shutil.which", lambda program: "/usr/bin/it" if installed else None)
    patch.setattr(invocation, "program", NOT_KEPT)


def test_a_clone_names_its_own_python_from_where_one_stands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    started(monkeypatch, "sapo_desktop.__main__", str(tmp_path / ".venv" / "bin" / "python"))
    python = str(Path(".venv") / "bin" / "python")
    assert invocation.as_started(SAID) == SAID.replace("sapo-desktop", f"{python} -m sapo_desktop")
    elsewhere = "sapo-desktop-window, sapo-desktop/0.1.0, sapo-desktop 0.1.0, /a/sapo-desktop run"
    assert invocation.as_started(elsewhere) == elsewhere
    started(monkeypatch, "sapo_desktop.__main__", str(tmp_path / "my python"))
    assert invocation.as_started("sapo-desktop run") == "'my python' -m sapo_desktop run"


@pytest.mark.parametrize(("name", "installed"), [("sapo_desktop.__main__", True), ("pytest.__main__", False)])
def test_where_the_command_is_there_it_is_named(monkeypatch: pytest.MonkeyPatch, name: str, installed: bool) -> None:
    started(monkeypatch, name, "/x/python", installed=installed)
    assert invocation.as_started(SAID) == SAID


@pytest.mark.parametrize("name", ["sapo_desktop.__main__", "__main__"])  # the latter where Windows' is a zip
def test_an_installed_application_is_named_by_its_launcher(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    started(monkeypatch, name, "/opt/sapo-desktop/python/bin/python")
    monkeypatch.setenv("SAPO_DESKTOP_PROGRAM", "/opt/s/sapo-desktop")
    assert invocation.as_started("sapo-desktop run") == "/opt/s/sapo-desktop run"

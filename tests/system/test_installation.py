"""Which Python starts our processes: in a clone and in an installed folder."""

import os
import sys
from pathlib import Path

import msgspec
import pytest

from sapo_desktop.core.errors import SapoError
from sapo_desktop.system import installation, processes

MARK = installation.Payload(
    python="../python/bin/python3",
    launcher="../sapo-desktop",
    engines={"linux-cpu": "f00", "linux-cuda": "f01"},
    least_driver=580,
    least_capability=7.5,
)


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """An installed application's `app` folder, where nobody expects it."""
    folder = tmp_path / "Jürgens Programme" / "app"
    folder.mkdir(parents=True)
    (folder / installation.MARKER).write_bytes(msgspec.json.encode(MARK))
    return folder


def pack(folder: Path, **stamp: str) -> Path:
    packages = folder / "packages"
    packages.mkdir(parents=True)
    (packages / installation.STAMP).write_bytes(msgspec.json.encode(stamp))
    return packages


def test_a_clone_or_a_wheel_is_run_by_the_python_that_runs_it() -> None:
    assert installation.payload() is None
    assert processes.python_command("a.module") == [sys.executable, "-P", "-m", "a.module"]
    assert installation.engine_pack() is None


def test_an_installed_application_brings_its_python_and_its_launcher(
    app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Path(installation.interpreter(app)) == app / "../python/bin/python3"
    assert installation.launch(app) == [str(app.parent / "sapo-desktop")]
    monkeypatch.setenv("APPIMAGE", "/home/a/sapo.AppImage")
    assert installation.launch(app) == ["/home/a/sapo.AppImage"], "the folder is gone when the program ends"


def test_a_damaged_marker_is_said(tmp_path: Path) -> None:
    (tmp_path / installation.MARKER).write_text("{")
    with pytest.raises(SapoError, match="Install SAPO Desktop again"):
        installation.payload(tmp_path)


@pytest.mark.parametrize(
    ("stamp", "taken"),
    [
        ({"kind": "linux-cpu", "fingerprint": "f00"}, True),
        ({"kind": "linux-cpu", "fingerprint": "of another version"}, False),
        ({"kind": "unheard-of", "fingerprint": "f00"}, False),
        ({"kind": "linux-cpu"}, False),
    ],
)
def test_only_a_whole_engine_pack_of_this_version_is_taken(
    app: Path, tmp_path: Path, stamp: dict[str, str], taken: bool
) -> None:
    packages = pack(tmp_path / "engine", **stamp)
    assert installation.engine_pack(app, tmp_path / "engine") == (packages if taken else None)


def test_processes_find_the_engine_pack_behind_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    monkeypatch.setattr(installation, "engine_pack", lambda: tmp_path)
    found = processes.python_environment({})
    assert found["PYTHONPATH"].split(os.pathsep) == [str(installation.ROOT), str(tmp_path), "/elsewhere"]
    again = processes.python_environment({"PYTHONPATH": found["PYTHONPATH"]})
    assert again["PYTHONPATH"] == found["PYTHONPATH"], "a worker's hosts have no longer path than the worker"
    assert found["PYTHONFAULTHANDLER"] == "1"


def test_a_pack_makes_learning_possible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation.importlib.util, "find_spec", lambda name: None)
    assert not installation.can_learn()
    monkeypatch.setattr(installation, "engine_pack", lambda: tmp_path)
    assert installation.can_learn()


@pytest.mark.parametrize(
    ("engines", "usable", "kind"),
    [
        (("linux-cpu", "linux-cuda"), False, "linux-cpu"),
        (("linux-cpu", "linux-cuda"), True, "linux-cuda"),
        (("mac-arm64",), True, "mac-arm64"),
        ((), True, None),
    ],
)
def test_the_pack_for_cards_is_for_computers_with_a_usable_one(
    engines: tuple[str, ...], usable: bool, kind: str | None
) -> None:
    marked = msgspec.structs.replace(MARK, engines=dict.fromkeys(engines, "f00"))
    assert installation.fitting_kind(marked, usable) == kind


def test_the_kind_of_the_pack_that_is_here_is_known(app: Path, tmp_path: Path) -> None:
    assert installation.engine_kind(app, tmp_path / "engine") is None
    pack(tmp_path / "engine", kind="linux-cuda", fingerprint="f01")
    assert installation.engine_kind(app, tmp_path / "engine") == "linux-cuda"


def test_each_library_is_listed_with_its_licence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, said in {
        "new": "License-Expression: MIT",
        "old": "License: BSD",
        "whole": "License: Permission is granted\n   to everybody\nClassifier: License :: OSI Approved :: MIT License",
        "silent": "Summary: nothing",
    }.items():
        folder = tmp_path / f"{name}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\n{said}\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert installation.libraries() == ["new 1.0: MIT", "old 1.0: BSD", "silent 1.0: ?", "whole 1.0: MIT License"]

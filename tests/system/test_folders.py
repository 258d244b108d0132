"""The data folder: created with the right modes, refused if it cannot keep a secret, with clear errors."""

import errno
import os
import stat
import sys
from pathlib import Path

import pytest

from sapo_desktop.system import folders
from sapo_desktop.system.folders import DataFolder, FolderError, check_private, explained, write_private


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_folder_has_its_parts_and_modes(tmp_path: Path) -> None:
    folder = DataFolder.open(tmp_path / "deep" / "node")
    assert mode(folder.control) == 0o700 and mode(folder.root) == 0o700
    assert folder.checkpoints.is_dir() and folder.logs.is_dir() and folder.cache.is_dir()
    assert mode(folder.root / "node-id") == 0o600


def test_an_existing_folder_keeps_its_mode_but_control_is_closed(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "control").mkdir(mode=0o777)
    (tmp_path / "control").chmod(0o777)
    folder = DataFolder.open(tmp_path)
    assert mode(tmp_path) == 0o755 and mode(folder.control) == 0o700


def test_name_and_secrets_are_drawn_once(tmp_path: Path) -> None:
    folder = DataFolder.open(tmp_path)
    assert len(folder.node_id()) == 32 and len(folder.secret("validation")) == 32
    assert folder.secret("validation") != folder.secret("other")
    again = DataFolder.open(tmp_path)
    assert (again.node_id(), again.secret("validation")) == (folder.node_id(), folder.secret("validation"))
    assert DataFolder.open(tmp_path / "second").node_id() != folder.node_id()


def test_a_damaged_secret_is_not_used(tmp_path: Path) -> None:
    folder = DataFolder.open(tmp_path)
    (folder.control / "validation.secret").write_bytes(b"short")
    with pytest.raises(FolderError, match="5 bytes instead of 32"):
        folder.secret("validation")


def test_a_linked_control_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "control").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FolderError, match="is a link"):
        DataFolder.open(tmp_path)
    assert mode(tmp_path / "elsewhere") != 0o700, "what the link points to was touched"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners")
def test_a_control_folder_of_someone_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = DataFolder.open(tmp_path)
    someone_else = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: someone_else)
    with pytest.raises(FolderError, match="another user"):
        DataFolder.open(tmp_path)
    with pytest.raises(FolderError, match="another user"):
        check_private(folder.control)


@pytest.fixture
def system32(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where scripts stand for the programs of Windows, whose words are in a code page of its console."""
    folder = tmp_path / "System32"
    folder.mkdir()
    monkeypatch.setenv("SYSTEMROOT", str(tmp_path))
    for name in ("USERDOMAIN", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    write_program(folder / "whoami.exe", r"""printf '"pc\\j\201rgen","S-1-5-21-7-1001"\r\n'""")
    return folder


def write_program(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


@pytest.mark.skipif(sys.platform == "win32", reason="shell scripts stand for its programs")
def test_on_windows_control_is_for_the_user_by_number_and_the_system(system32: Path) -> None:
    """Over SSH the variables with the user's name say something else, or nothing."""
    write_program(system32 / "icacls.exe", f'printf "%s\\n" "$@" > "{system32}/said"')
    folders._restrict_to_user(system32)
    said = (system32 / "said").read_text().split()
    assert said == [str(system32), "/inheritance:r", "/grant:r", "*S-1-5-21-7-1001:(OI)(CI)F", "*S-1-5-18:(OI)(CI)F"]


@pytest.mark.skipif(sys.platform == "win32", reason="shell scripts stand for its programs")
@pytest.mark.parametrize("refuses", ["icacls.exe", "whoami.exe"])
def test_on_windows_a_folder_that_cannot_be_closed_is_explained(system32: Path, refuses: str) -> None:
    write_program(system32 / refuses, r"printf 'J\201rgen: no' >&2; exit 5")
    with pytest.raises(FolderError, match=r"could not be limited to you.*rgen: no"):
        folders._restrict_to_user(system32)


def test_an_open_control_folder_is_noticed(tmp_path: Path) -> None:
    folder = DataFolder.open(tmp_path)
    folder.control.chmod(0o750)
    with pytest.raises(FolderError, match="can enter"):
        check_private(folder.control)


def test_a_folder_that_everybody_may_write_is_refused_unless_sticky(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(FolderError, match="Every user"):
        DataFolder.open(tmp_path)
    tmp_path.chmod(0o1777)
    DataFolder.open(tmp_path)


def test_a_file_in_the_way_is_explained(tmp_path: Path) -> None:
    (tmp_path / "node").write_text("")
    with pytest.raises(FolderError, match="is a file but must be a folder"):
        DataFolder.open(tmp_path / "node")


@pytest.mark.parametrize(
    ("number", "text"),
    [(errno.EROFS, "may not write"), (errno.EACCES, "may not write"), (errno.ENOSPC, "is full")],
)
def test_errors_of_the_disk_are_explained(number: int, text: str) -> None:
    assert text in str(explained(OSError(number, os.strerror(number)), Path("data")))


def test_a_private_file_replaces_a_link_and_does_not_follow_it(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"precious")
    (tmp_path / "file").symlink_to(tmp_path / "target")
    write_private(tmp_path / "file", b"secret")
    assert (tmp_path / "target").read_bytes() == b"precious"
    assert (tmp_path / "file").read_bytes() == b"secret" and mode(tmp_path / "file") == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "target"]


def test_a_private_file_is_still_there_after_a_power_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name too: a key that is gone is an identity that is gone."""
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    write_private(tmp_path / "key", b"secret")
    expected = [(tmp_path / "key").stat().st_ino]
    assert synced == (expected if sys.platform == "win32" else [*expected, tmp_path.stat().st_ino])


def test_paths_with_spaces_and_without(tmp_path: Path) -> None:
    assert DataFolder.open(tmp_path / "my node").log("engine") == tmp_path / "my node" / "logs" / "engine.log"
    assert DataFolder.at(None).root == DataFolder.default()


def test_caches_of_what_is_loaded_stay_in_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLCONFIGDIR", "")
    monkeypatch.delenv("MPLCONFIGDIR")
    folder = DataFolder.open(tmp_path)
    folder.keep_caches()
    assert os.environ["MPLCONFIGDIR"].startswith(str(tmp_path))

"""Only regular files of bounded size are opened, and a copy is readable only for users who can read the original."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from sapo_desktop.core.files import reading


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_a_regular_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"a\r\nb\rc")
    assert reading.read_bytes(file, 6) == b"a\r\nb\rc"
    assert reading.read_text(file, 6) == "a\nb\nc"
    with pytest.raises(OSError, match="more than 5 bytes"):
        reading.read_bytes(file, 5)


def test_what_never_ends_or_never_begins_is_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    endless = tmp_path / "endless"
    endless.symlink_to("/dev/zero")
    for path in (pipe, endless, Path("/dev/zero"), tmp_path):
        with pytest.raises(OSError, match="no regular file"):
            reading.read_bytes(path, 10)


def test_a_link_is_followed_only_where_that_was_said(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_bytes(b"content")
    link.symlink_to(file)
    assert reading.read_bytes(link, 100) == b"content"
    with pytest.raises(OSError, match="it is a link"):
        reading.open_regular(link, links=False)
    with pytest.raises(OSError, match="it is a link"):
        reading.copy_regular(link, tmp_path / "copy", links=False)
    assert not (tmp_path / "copy").exists()


def test_what_is_exchanged_after_the_look_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, other = tmp_path / "file", tmp_path / "other"
    file.write_bytes(b"harmless")
    other.write_bytes(b"secret")
    opened = os.open

    def exchanged(path: Path, *rest: int) -> int:
        if path == file:
            file.unlink()
            os.link(other, file)
        return opened(path, *rest)

    monkeypatch.setattr(reading.os, "open", exchanged)
    with pytest.raises(OSError, match="changed while it was opened"):
        reading.read_bytes(file, 100)


@pytest.mark.usefixtures("open_umask")
@pytest.mark.parametrize(("mode", "copied"), [(0o600, 0o600), (0o640, 0o640), (0o666, 0o644), (0o444, 0o644)])
def test_a_copy_is_never_open_to_more_people(tmp_path: Path, mode: int, copied: int) -> None:
    file, copy = tmp_path / "file", tmp_path / "copy"
    file.write_bytes(b"x")
    file.chmod(mode)
    reading.copy_regular(file, copy)
    assert copy.stat().st_mode & 0o777 == copied


def test_members_of_another_group_are_everybody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, copy = tmp_path / "file", tmp_path / "copy"
    file.write_bytes(b"x")
    file.chmod(0o640)
    looked = os.fstat

    def of_another_group(descriptor: int) -> os.stat_result:
        found = looked(descriptor)
        if found.st_ino != file.stat().st_ino:
            return found
        return os.stat_result([*found[:5], found.st_gid + 1, *found[6:]])

    with reading.open_regular(file) as source:
        monkeypatch.setattr(reading.os, "fstat", of_another_group)
        reading.create_like(source, copy).close()
    assert copy.stat().st_mode & 0o777 == 0o600


def test_a_copy_takes_the_place_of_a_link_and_not_of_what_it_leads_to(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_bytes(b"kept")
    (tmp_path / "file").write_bytes(b"new")
    (tmp_path / "target").symlink_to(kept)
    reading.copy_regular(tmp_path / "file", tmp_path / "target")
    assert kept.read_bytes() == b"kept" and (tmp_path / "target").read_bytes() == b"new"

"""Logs stay bounded, and their last lines can be quoted."""

from __future__ import annotations

import stat
from pathlib import Path

from sapo_desktop.system.logs import last_lines, log_tail, open_log


def test_a_log_is_appended_to_until_it_is_full(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "engine.log"
    for text in (b"one\n", b"two\n"):
        with open_log(path, limit=5) as log:
            log.write(text)
    assert path.read_bytes() == b"one\ntwo\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with open_log(path, limit=5) as log:
        log.write(b"three\n")
    assert path.read_bytes() == b"three\n"
    assert path.with_name("engine.log.1").read_bytes() == b"one\ntwo\n"


def test_last_lines(tmp_path: Path) -> None:
    path = tmp_path / "log"
    assert last_lines(path) == ""
    path.write_bytes(b"before\n" + b"".join(b"%d\n" % n for n in range(20)) + b"\xff\n")
    assert last_lines(path, lines=2) == "19\n\ufffd"
    assert last_lines(path, since=len(b"before\n")).count("\n") == 7
    assert last_lines(path, since=10_000) == ""


def test_the_tail_of_a_log_goes_back_into_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "log"
    assert log_tail(path, 5) == []
    path.write_bytes(b"three\nfo\xffur\n")
    assert log_tail(path, 5) == ["three", "fo\ufffdur"]
    path.with_name("log.1").write_bytes(b"one\ntwo\n")
    assert log_tail(path, 5) == ["one", "two", "three", "fo\ufffdur"]
    assert log_tail(path, 3) == ["two", "three", "fo\ufffdur"]
    assert log_tail(path, 2) == ["three", "fo\ufffdur"]


def test_the_tail_of_a_log_is_bounded_and_has_whole_lines_only(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"".join(b"%05d\n" % n for n in range(1000)))
    tail = log_tail(path, 500, limit=100)
    assert tail[-1] == "00999" and len(tail) == 16 and all(len(line) == 5 for line in tail)
    path.write_bytes(b"x" * 1000)
    assert log_tail(path, 500, limit=100) == []

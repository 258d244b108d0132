"""Logs stay bounded, and their last lines can be quoted."""

import json
import logging
import os
import stat
from pathlib import Path

import pytest

from sapo_desktop.system.logs import REPEAT_SECONDS, JsonLines, LogHandler, last_lines, log_tail, open_log, turn_over


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
    assert last_lines(path, since=10_000).count("\n") == 7, "it was turned over since"


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


def test_a_log_is_turned_over_under_the_hands_of_who_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "engine.log"
    assert not turn_over(path, limit=20)
    with open_log(path) as log:
        for number in range(10):
            log.write(b"line %d\n" % number)
            log.flush()
        assert turn_over(path, limit=20) and not turn_over(path, limit=20)
        log.write(b"after\n")
    before = path.with_name("engine.log.1")
    assert (path.read_bytes(), before.read_bytes()) == (b"after\n", b"line 8\nline 9\n"), "the newest whole lines"
    assert stat.S_IMODE(before.stat().st_mode) == 0o600


def test_the_log_of_a_process_that_says_ever_other_things_stays_bounded(tmp_path: Path) -> None:
    path = tmp_path / "worker.log"
    with path.open("a") as stream:
        handler = LogHandler(stream, path, limit=1000)
        for number in range(1000):
            handler.handle(said(f"message {number}"))
        assert path.stat().st_size <= 1020 and path.with_name("worker.log.1").stat().st_size <= 1020
        assert path.read_text().endswith("message 999\n")


def test_what_repeats_itself_is_counted(tmp_path: Path) -> None:
    path, now = tmp_path / "worker.log", [0.0]
    with path.open("a") as stream:
        handler = LogHandler(stream, path, clock=lambda: now[0])
        for _ in range(1000):
            handler.handle(said("socket.send() raised exception."))
            handler.handle(said("another"))
        now[0] = REPEAT_SECONDS
        handler.handle(said("later"))
        handler.handle(said("another"))
        handler.handle(said("another"))
        handler.close()
    assert path.read_text().splitlines() == [
        "socket.send() raised exception.",
        "another",
        "socket.send() raised exception. (repeated 999 times)",
        "another (repeated 999 times)",
        "later",
        "another",
        "another (repeated 1 times)",
    ]


def said(text: str) -> logging.LogRecord:
    return logging.LogRecord("tests", logging.WARNING, "", 0, text, None, None)


@pytest.mark.skipif(os.name == "nt", reason="opening knows no O_NOFOLLOW there")
def test_a_log_that_is_a_link_is_neither_written_nor_cut(tmp_path: Path) -> None:
    precious, log = tmp_path / "precious", tmp_path / "worker.log"
    precious.write_bytes(b"x" * 100)
    log.symlink_to(precious)
    with pytest.raises(OSError, match="symbolic links"):
        open_log(log)
    assert not turn_over(log, limit=10) and precious.read_bytes() == b"x" * 100
    log.unlink()
    log.write_bytes(b"y" * 100)
    log.with_name("worker.log.1").symlink_to(precious)
    assert turn_over(log, limit=10) and not log.with_name("worker.log.1").is_symlink()
    assert precious.read_bytes() == b"x" * 100


def test_json_lines_hold_level_and_message(tmp_path: Path) -> None:
    record = logging.LogRecord("n", logging.WARNING, "", 0, 'Not reloaded: "%s"', ("a\nb",), None)
    (line,) = JsonLines().format(record).splitlines()
    logged = json.loads(line)
    assert (logged["level"], logged["message"]) == ("warning", 'Not reloaded: "a\nb"') and logged["time"] > 0

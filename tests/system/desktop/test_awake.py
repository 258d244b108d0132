"""Holding a computer awake, with a stand-in for the program that does it."""

from pathlib import Path

import pytest

from sapo_desktop.system.desktop.awake import Awake, can_hold

STAND_IN = """#!/bin/sh
echo "$@" > "{arguments}"
exec cat
"""


def test_it_is_held_by_a_child_that_comes_and_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, arguments = tmp_path / "systemd-inhibit", tmp_path / "arguments"
    program.write_text(STAND_IN.format(arguments=arguments))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    awake = Awake()
    assert awake.follow(False) and not awake.held
    assert awake.follow(True) and awake.held
    first = awake._child
    assert awake.follow(True) and awake._child is first
    assert awake.follow(False) and awake._child is None
    assert awake.follow(True)
    first = awake._child
    assert first is not None
    first.kill()
    first.wait()
    assert not awake.follow(True) and not awake.held, "one that gave up is not started again and again"
    assert awake.follow(False) and awake._child is None


def test_where_there_is_no_way_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    awake = Awake()
    assert not awake.follow(True) and not awake.held
    assert awake.follow(False)
    assert not can_hold()


@pytest.mark.parametrize(("code", "can"), [(0, True), (1, False)])
def test_whether_it_can_be_held_is_tried_for_a_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, can: bool
) -> None:
    program = tmp_path / "systemd-inhibit"
    program.write_text(f"#!/bin/sh\nexit {code}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert can_hold() is can

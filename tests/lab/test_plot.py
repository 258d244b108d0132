"""The picture is drawn from the files, the same each time; without matplotlib, the error says how to get it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sapo_desktop.core.errors import UsageError
from sapo_desktop.lab.plot import means, plot
from tests.lab.runs import arm, played, score, write


def test_a_picture_is_made_of_every_arm(tmp_path: Path) -> None:
    for mix in ("8/0", "4/4"):
        rows = [played(number, node, 0.1 * number) for number in (1, 2, 3) for node in (0, 1)]
        write(tmp_path, arm(mix), rows, [score(0, -1, 0.5, 0.4), score(3, 0, 0.6, 0.5)])
    first = plot(tmp_path).read_bytes()
    assert b"<svg" in first and plot(tmp_path).read_bytes() == first


def test_points_are_means() -> None:
    assert means([(1, 0.0), (2, 1.0), (1, 1.0)]) == {1: 0.5, 2: 1.0}


def test_without_matplotlib_the_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=r"pip install 'sapo-desktop\[lab\]'"):
        plot(tmp_path)

"""lab table, plot and what is wrong with a request: the process that does it is a real one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sapo_desktop.cli import main
from tests.lab.runs import arm, played, score, write


def test_the_table_is_shown_to_people_and_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for mix, reward in (("8/0", 0.25), ("4/4", 0.5)):
        rows = [played(1, node, reward) for node in (0, 1)]
        write(tmp_path, arm(mix), rows, [score(0, -1, 0.5, 0.4), score(1, 0, 0.6, 0.5)])
    assert main(["lab", "table", str(tmp_path), "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["event"], line["mix"], line["ratio"]) for line in lines] == [("line", "8/0", 1), ("line", "4/4", 2)]
    assert main(["lab", "table", str(tmp_path), "--against", "4/4"]) == 0
    assert "0.500" in capsys.readouterr().out
    assert main(["lab", "table", str(tmp_path), "--rounds", "2-9"]) == 2
    assert "not played round 2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["table", "."], 1, "There is no arm"),
        (["paper", "--out", ".", "--tasks", "nonsense"], 2, "no task 'nonsense'"),
        (["paper", "--out", ".", "--mix", "4-4"], 2, "like 4/4"),
        (["paper", "--out", ".", "--seeds", "one"], 2, "whole numbers"),
        (["paper", "--out", ".", "--liars", "2"], 2, "share from 0 to 1"),
        (["table", ".", "--rounds", "9-2"], 2, "no range of rounds, such as 11-20"),
        (["table", ".", "--rounds", "2-9", "--reach", "0.3"], 2, "counts from the first round"),
        ([], 2, "lab paper"),
    ],
)
def test_what_is_wrong_is_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int, said: str
) -> None:
    here = [str(tmp_path) if word == "." else word for word in words]
    assert main(["lab", *here]) == code
    assert said in capsys.readouterr().err
    assert not [*tmp_path.glob("*_seed-*")], "a request that cannot be met leaves no arm"


def test_a_folder_of_labs_names_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "rise", arm("8/0"), [played(1, 0, 0.25)], [score(0, -1, 0.5, 0.4)])
    assert main(["lab", "table", str(tmp_path)]) == 1
    assert "Choose one of its folders: rise" in capsys.readouterr().err

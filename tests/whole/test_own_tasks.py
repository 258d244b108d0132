"""Own tasks in whole nodes: the worked example of docs/own-tasks.md, and two nodes of a private swarm with one file."""

import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.whole.nodes import reports, sapo
from tests.whole.programs import Program, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "roman_numbers.csv"
SHORT = [
    *(word for item in ("questions=4", "validate_every=0", "low_priority=off") for word in ("--set", item)),
    *("--curriculum", "off"),
]


def test_the_worked_example_is_added_listed_tried_and_trained_on(tmp_path: Path) -> None:
    assert "150 questions (easy, middle, hard)" in sapo(tmp_path, "tasks", "add", str(EXAMPLE)).stdout
    listed = sapo(tmp_path, "tasks", "list").stdout
    assert [line.split()[0] for line in listed.splitlines() if " own" in line] == [
        f"roman_numbers/{level}" for level in ("easy", "middle", "hard")
    ]
    tried = ["tasks", "try", "roman_numbers", "--seed", "9", "--answer"]
    assert "✓ right" in (right := sapo(tmp_path, *tried, "10").stdout) and "X in Roman numerals" in right
    assert "wrong. Right: 10" in sapo(tmp_path, *tried, "11").stdout
    sapo(tmp_path, "run", "--silo", "--rounds", "2", "--seed", "1", "--tasks", "roman_numbers", *SHORT)
    assert [{mark.task for mark in report.tasks} for report in reports(tmp_path)] == [{"roman_numbers/middle"}] * 2
    # A file that went bad stops nothing: the node plays what is left and says why.
    (tmp_path / "tasks" / "roman_numbers.csv").write_text("question,answer\nWhy?\n")
    assert "roman_numbers.csv, line 2" in sapo(tmp_path, "tasks", "list").stdout
    sapo(tmp_path, "tasks", "remove", "roman_numbers")
    assert "roman_numbers" not in sapo(tmp_path, "tasks", "list").stdout


def test_two_nodes_of_a_private_swarm_with_the_same_file_learn_from_each_other(
    tmp_path: Path, start: Callable[..., Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAPO_PASSPHRASE", "only for this test")  # of the swarm's key
    with socket.create_server(("127.0.0.1", 0)) as found:
        here = f"127.0.0.1:{found.getsockname()[1]}"
    # Sums that the starter solves now and then: only right answers to what the other does not solve always teach.
    sums = [
        f"State the final answer to the following arithmetic problem: {a} + {b} - {c} =,{a + b - c}"
        for a in range(13, 93, 10)
        for b in range(18, 98, 10)
        for c in (9, 27)
    ]
    for name in ("founder", "newcomer"):
        (tmp_path / name / "tasks").mkdir(parents=True)
        (tmp_path / name / "tasks" / "sums.csv").write_text("\n".join(["question,answer", *sums]))
    shutil.copy(EXAMPLE, tmp_path / "founder" / "tasks")  # what only one of them has is no matter
    common = ["run", "--share", "--tasks", "sums", "--mix", "4/4", *SHORT]
    founder = start("founder", *common, "--listen", here, "--seed", "1")
    newcomer = start("newcomer", *common, "--seed", "2")
    for node in (founder, newcomer):
        until(lambda node=node: node.events("round"))
        node.ask("pause")
    founder.ask("peers", "found")
    link = founder.ask("peers", "admit", newcomer.ask("identity", "show")["key"])["link"]
    newcomer.ask("peers", "join", link, "--nearby")
    for node in (founder, newcomer):
        until(lambda node=node: node.ask("status")["swarm"]["links"] == 1)
        node.ask("resume")
    for node in (founder, newcomer):
        until(lambda node=node: [event for event in node.events("round") if event["external_groups"]])
        sources = node.lines("history", "--sources")
        assert {(one["task"], one["origin"]) for one in sources} == {("sums/easy", "own"), ("sums/easy", "peer")}
        assert not node.ask("status")["swarm"]["refused"]["invalid"]

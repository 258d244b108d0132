"""Arms with scripted nodes: repeated, broken off and continued, among liars."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sapo_desktop.lab.folder import ArmFolder
from sapo_desktop.lab.node import Played
from sapo_desktop.lab.table import read_runs, table
from tests.lab.scripted import ROOT, plan, play


def only(out: Path) -> ArmFolder:
    (found,) = [ArmFolder(path.parent) for path in out.glob("*/manifest.json")]
    return found


def without_seconds(rows: list[Played]) -> list[tuple[object, ...]]:
    return [tuple(getattr(row, name) for name in Played.__struct_fields__ if name != "cpu_seconds") for row in rows]


def states(folder: ArmFolder) -> dict[str, bytes]:
    assert folder.state is not None
    files = {path.relative_to(folder.state): path for path in folder.state.rglob("*") if path.is_file()}
    return {str(name): path.read_bytes() for name, path in files.items()}


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the tests below look at, a folder each."""
    out = tmp_path_factory.mktemp("lab")
    budget = {"mixes": ["8/0", "8/0x2"], "weightings": ["paper", "guarded"], "budget": "samples=150"}
    play(
        (plan(out / "unbroken", rounds=13), 0),
        (plan(out / "broken", rounds=13), 12),
        (plan(out / "resumed", rounds=13), 12),
        (plan(out / "resumed", rounds=13), 0),
        *((plan(out / "prolonged", rounds=rounds, score_every=13), 0) for rounds in (4, 4, 13)),
        (plan(out / "liars", nodes=4, rounds=4, liars=0.25, mixes=["3/1"]), 0),
        *((plan(out / "more lies", nodes=4, rounds=rounds, liars=0.25, mixes=["3/1"]), 0) for rounds in (1, 4)),
        (plan(out / "special", nodes=2, kind="specialists", levels=["easy", "middle"], models=["starter"] * 2), 0),
        (plan(out / "budget", rounds=9, **budget), 0),
    )
    return out


def test_a_broken_run_goes_on_and_equals_an_unbroken_one(out: Path) -> None:
    broken, resumed, unbroken = only(out / "broken"), only(out / "resumed"), only(out / "unbroken")
    assert broken.reached == 10 and broken.rounds()[-1].round == 12
    assert without_seconds(resumed.rounds()) == without_seconds(unbroken.rounds())
    assert resumed.scores() == unbroken.scores()
    assert states(resumed) == states(unbroken)


def test_the_ids_of_tasks_are_kept_next_to_the_arms_from_the_first_one_on(out: Path) -> None:
    assert (out / "unbroken" / "task-ids.json").is_file()


def test_a_finished_arm_goes_on_with_more_rounds_as_if_it_had_never_stopped(out: Path) -> None:
    prolonged, unbroken = only(out / "prolonged"), only(out / "unbroken")
    assert without_seconds(prolonged.rounds()) == without_seconds(unbroken.rounds())
    assert states(prolonged) == states(unbroken)


def test_nodes_learn_from_each_other_and_are_scored(out: Path) -> None:
    unbroken = only(out / "unbroken")
    rows = unbroken.rounds()
    assert {(row.round, row.node) for row in rows} == {(n, node) for n in range(1, 14) for node in range(3)}
    assert sum(row.external for row in rows) > 13 and all(row.external <= 2 for row in rows)
    assert {task.partition("/")[0] for row in rows for task in row.solved.split()} == {"gcd", "lcm"}
    assert all(set(row.solved.split()) <= set(row.readable.split()) for row in rows)
    assert all(row.answers == 2 * 8 for row in rows), "4/4 of four groups: two own questions of eight answers"
    scores = unbroken.scores()
    assert [score.temperature for score in scores if score.node < 0] == [1.0, 0.3, 0.5, 0.7]
    assert {score.round for score in scores} == {0, 5, 10, 13}
    assert scores[-1].sampled > scores[0].sampled


def test_liars_are_refused_and_learn_nothing(out: Path) -> None:
    rows = only(out / "liars").rounds()
    liar = [row for row in rows if not row.honest]
    assert {row.node for row in liar} == {3} and all(row.samples == 0 for row in liar)
    assert sum(row.refused for row in rows if row.honest) > 0
    assert {score.node for score in only(out / "liars").scores()} == {-1, 0, 1, 2}


def test_liars_forge_the_same_groups_in_an_arm_that_is_prolonged(out: Path) -> None:
    """Three groups a round: what is forged must not depend on how many there were since the process began."""
    prolonged, unbroken = only(out / "more lies"), only(out / "liars")
    assert without_seconds(prolonged.rounds()) == without_seconds(unbroken.rounds())


def test_a_silo_draws_nothing_and_a_budget_ends_an_arm(out: Path) -> None:
    runs = {run.arm.mix: run for run in read_runs(out / "budget")}
    assert len([*(out / "budget").glob("*/rounds.csv")]) == 2, "without external groups every weighting is the same"
    assert all(row.external == row.dropped == 0 for run in runs.values() for row in run.rounds)
    assert [run.rounds[-1].round for run in runs.values()] == [2, 2], "3 nodes x 4 groups x 8 answers a round"
    assert {row.answers for row in runs["8/0x2"].rounds} == {64}
    assert {row.samples for row in runs["8/0x2"].rounds} == {32}


def test_specialists_of_several_models_are_scored_on_everything(out: Path) -> None:
    scores = only(out / "special").scores()
    assert {score.node for score in scores if score.round == 0} == {-1, -2}
    assert {score.questions for score in scores} == {8}, "two families at two levels, two questions each"


@pytest.mark.slow
def test_the_starter_plays(tmp_path: Path) -> None:
    words = "--nodes 2 --rounds 3 --seeds 1 --mix 8/0,4/4 --tasks gcd,chain_sum --held-out 2"
    command = [sys.executable, "-m", "sapo_desktop", "lab", "paper", "--out", str(tmp_path), *words.split()]
    subprocess.run(command, cwd=ROOT, check=True, timeout=600)
    silo, shared = table(read_runs(tmp_path))
    assert silo.ratio == 1.0 and shared.ratio is not None
    assert shared.answers == silo.answers / 2 and shared.greedy is not None
    assert all(row.cpu_seconds > 0 for run in read_runs(tmp_path) for row in run.rounds)

"""The examiner with the real reasoning_gym, in its own process."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).with_name("examine.py")


def run_scene(
    *arguments: str, hash_seed: str = "0", cwd: Path | None = None, seconds: float = 110
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "OMP_NUM_THREADS": "1"},
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def scene(*arguments: str, cwd: Path | None = None, seconds: float = 110) -> dict[str, Any]:
    finished = run_scene(*arguments, cwd=cwd, seconds=seconds)
    assert finished.returncode == 0, finished.stderr
    found: dict[str, Any] = json.loads(finished.stdout.splitlines()[-1])
    return found


def test_every_true_answer_is_solved_at_every_level() -> None:
    verdicts = scene("truths")
    assert len(verdicts) >= 70
    wrong = {task: counts for task, counts in verdicts.items() if set(counts) != {"solved"}}
    # A decimal expression can divide by zero; in these 50 seeds none does.
    assert wrong == {}


def test_a_question_is_that_of_a_dataset_of_size_one() -> None:
    assert scene("same_entries") == {"different": []}


def test_no_held_out_question_has_a_twin_that_may_be_trained_on() -> None:
    """Own questions (learning/questions.py) and others' (worker/membership/external.py) pass the same split."""
    found = scene("twins")
    assert found["let through"] == {}
    assert all(found["turned"].values()) and len(found["turned"]) >= 20


def test_content_is_the_whole_text_only_where_nothing_can_be_turned() -> None:
    assert {task.partition("/")[0] for task in scene("unfolded")["unfolded"]} == {"base_conversion", "binary_matrix"}


def test_balanced_levels_set_the_same_questions_everywhere_and_rarely_the_frequent_ones() -> None:
    found = scene("balanced")
    assert found["same"] and found["without an answer"] == 0
    assert found["ones"] < 0.25  # 38 to 47% of those that the dataset makes


def test_task_ids_never_change_between_releases_by_mistake() -> None:
    assert scene("identities") == {
        "gcd/easy": "c47e82f04acf923ba5cee8ec118cf56d37dde397b6ce2093e21be88ac3cc2a98",
        "propositional_logic/easy": "7c33e3c37b8c9f5d6362014546bae2540294e1b20de17ea65315a5ca352b68c1",
    }


def test_another_hash_seed_is_refused() -> None:
    finished = run_scene("truths", hash_seed="random")
    assert finished.returncode != 0
    assert "PYTHONHASHSEED=0" in finished.stderr


def test_hostile_answers_do_nothing_in_every_family_and_level(tmp_path: Path) -> None:
    """The grammars alone, with no limit on the process; test_limits.py has the examiner behind its limits."""
    found = scene("hostile", str(tmp_path / "touched"), cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert found["solved"] == []
    assert not {"solved", "scorer_failed", "timeout"} & set(found["verdicts"])
    assert sum(found["verdicts"].values()) > 10_000
    assert found["slowest"] < 0.25

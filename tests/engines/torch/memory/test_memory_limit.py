"""The engine under a real limit of memory: it does less at once, and says when not even one answer fits."""

import json
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.allowed_skip("RLIMIT_DATA counts allocated memory on Linux only"),
    pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_DATA counts allocated memory on Linux only"),
]


def limited(work: str, megabytes: int) -> dict[str, object]:
    command = [sys.executable, "-m", "tests.engines.torch.memory.limited", work, str(megabytes)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    outcome: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return outcome


def test_a_step_is_taken_in_smaller_pieces() -> None:
    outcome = limited("learn", 25)
    assert outcome["micro_batch"] in (1, 2, 4)
    assert (outcome["skipped"], outcome["changed"]) == (False, True)


def test_answers_are_given_in_smaller_batches_and_all_of_them() -> None:
    outcome = limited("answer", 30)
    assert outcome["batch"] in (1, 2, 4, 8, 16) and outcome["lengths"] == [496]


def test_not_even_one_is_said_so() -> None:
    outcome = limited("learn", 1)
    assert "not enough memory" in str(outcome["out_of_memory"])

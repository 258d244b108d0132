"""Every script with figures still runs (`--quick --json`), so that none of them rots; what it says is not judged."""

import subprocess
import sys

import msgspec
import pytest

from tests.bench.figure import Figure

SCRIPTS = [
    "tests.bench.tasks",
    "tests.bench.cheapest",
    "tests.bench.generate",
    "tests.bench.generate_profile",
    "tests.bench.train",
    "tests.bench.precision",
    "tests.bench.memory",
    "tests.bench.session_memory",
    "tests.bench.first_answer",
    "tests.bench.busy",
    "tests.bench.asking",
    "tests.bench.guest",
    "tests.bench.learning",
    "tests.bench.guard",
    "tests.bench.bandwidth",
    "tests.bench.two_kinds",
    "tests.bench.newcomer",
    "tests.bench.window",
    "tests.bench.window_profile",
]


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_quick_run_prints_its_figures(script: str) -> None:
    assert_prints_figures(script)


def assert_prints_figures(script: str) -> None:
    command = [sys.executable, "-m", script, "--quick", "--json"]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    figures = [msgspec.json.decode(line, type=Figure) for line in ran.stdout.splitlines()]
    assert figures
    assert all(figure.unit for figure in figures)

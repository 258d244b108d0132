"""Every script with figures still runs (`--quick --json`); its figures are not judged. engines.card is left out, since
it needs a card."""

import subprocess
import sys

import msgspec
import pytest

from tests.bench.figure import Figure

SCRIPTS = [
    "tests.bench.tasks.speed",
    "tests.bench.tasks.cheapest",
    "tests.bench.engines.generate",
    "tests.bench.engines.generate_profile",
    "tests.bench.engines.train",
    "tests.bench.engines.precision",
    "tests.bench.engines.memory",
    "tests.bench.engines.round",
    "tests.bench.engines.growth --only pools",
    "tests.bench.engines.imports",
    "tests.bench.engines.overlap",
    "tests.bench.engines.pace",
    "tests.bench.node.session",
    "tests.bench.node.first_answer",
    "tests.bench.node.busy",
    "tests.bench.node.asking",
    "tests.bench.node.guest",
    "tests.bench.node.learning",
    "tests.bench.swarm.guard",
    "tests.bench.swarm.bandwidth",
    "tests.bench.swarm.two_kinds",
    "tests.bench.swarm.together",
    "tests.bench.window.newcomer",
    "tests.bench.window.cost",
]


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_quick_run_prints_its_figures(script: str) -> None:
    assert_prints_figures(script)


def assert_prints_figures(script: str) -> None:
    command = [sys.executable, "-m", *script.split(), "--quick", "--json"]
    ran = subprocess.run(command, check=False, capture_output=True, encoding="utf-8")
    assert ran.returncode == 0, ran.stderr
    figures = [msgspec.json.decode(line, type=Figure) for line in ran.stdout.splitlines()]
    assert figures
    assert all(figure.unit for figure in figures)

"""As tests/bench/test_quick.py, of the attacks: a file of its own, since test runs share their work file by file."""

import pytest

from tests.bench.test_quick import assert_prints_figures

SCRIPTS = [
    "tests.attack.kills",
    "tests.attack.faults",
    "tests.attack.lines",
    "tests.attack.flood",
    "tests.attack.frames",
    "tests.attack.backbone",
    "tests.attack.claims",
    "tests.attack.escape",
    "tests.attack.swarm",
    "tests.attack.strangers",
    "tests.attack.foreign",
    "tests.attack.autobahn",
    "tests.attack.fuzz",
    "tests.attack.scenarios",
    "tests.attack.many_relays",
    "tests.attack.planted",
]


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_quick_run_prints_its_figures(script: str) -> None:
    assert_prints_figures(script)

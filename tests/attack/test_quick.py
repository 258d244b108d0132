"""Like tests/bench/test_quick.py, for attacks: a separate file, since test runs share their work by file."""

import shutil

import pytest

from tests.bench.test_quick import assert_prints_figures

SCRIPTS = [
    "tests.attack.node.kills",
    "tests.attack.node.faults",
    pytest.param(
        "tests.attack.node.power",
        marks=[
            pytest.mark.skipif(shutil.which("strace") is None, reason="strace records what is written"),
            pytest.mark.allowed_skip("strace is on Linux alone, where it is installed"),
        ],
    ),
    "tests.attack.node.hours",
    "tests.attack.sockets.lines",
    "tests.attack.peers.flood",
    "tests.attack.sockets.frames",
    "tests.attack.peers.backbone",
    "tests.attack.peers.claims",
    "tests.attack.node.escape",
    "tests.attack.peers.swarm",
    "tests.attack.sockets.strangers",
    "tests.attack.peers.external",
    "tests.attack.sockets.autobahn",
    "tests.attack.fuzz",
    "tests.attack.peers.scenarios",
    "tests.attack.peers.many_relays",
    "tests.attack.peers.load",
    "tests.attack.peers.planted",
    "tests.attack.peers.answer_keys",
]


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_quick_run_prints_its_figures(script: str) -> None:
    assert_prints_figures(script)

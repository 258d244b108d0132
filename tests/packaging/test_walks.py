"""Which files count as passed through on the product's usual ways."""

import ast
from pathlib import Path

import pytest


@pytest.mark.usefixtures("scripts")
def test_a_round_has_what_two_rounds_enter_and_nothing_that_goes_on_beside_them(tmp_path: Path) -> None:
    import walks
    from walk_hook import MOMENT

    traces = walks.Traces(tmp_path, walks.BESIDE)
    traces.roles = {1: "worker", 2: "client"}
    governor = 1 << walks.BESIDE.index("Guest.run")
    for second in (10, 20, 30):
        at = int((second + 5) / MOMENT)
        traces.steps += [
            walks.Step(1, at, 0, "worker/node.py"),
            walks.Step(1, at, governor, "worker/governor.py"),
            walks.Step(2, at, 0, "worker/control/client.py"),
        ]
    traces.steps += [
        walks.Step(1, int(15 / MOMENT), 0, "learning/guard.py"),
        walks.Step(1, int(5 / MOMENT), 0, "worker/assembly.py"),
        walks.Step(1, int(45 / MOMENT), 0, "worker/assembly.py"),
    ]
    assert walks.usual_files(traces, [10, 20, 30, 40]) == {"worker": {"worker/node.py"}}


@pytest.mark.usefixtures("scripts")
def test_the_functions_that_mark_a_way_are_there() -> None:
    import walks

    found = set()
    for path in walks.PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in tree.body:
            inside = node.body if isinstance(node, ast.ClassDef) else []
            before = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
            for one in (node, *inside):
                if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
                    found.add(before * (one is not node) + one.name)
    marks = {*walks.ROUND, *walks.BESIDE, *(name for names in walks.PEER.values() for name in names)}
    assert marks - found == set()

"""What `bootstrap.py run` starts: the window, or a run with the options that were given."""

import pytest

from installers.commands import product


@pytest.mark.parametrize(
    ("options", "started"),
    [
        ([], []),
        (["--data", "a folder"], ["--data", "a folder"]),
        (["--debug", "--data=x", "--tray"], ["--debug", "--data=x", "--tray"]),
        (["--terminal", "--data", "--rounds"], ["--terminal", "--data", "--rounds"]),
        (["--rounds", "3"], ["run", "--rounds", "3"]),
        (["--data", "x", "--silo"], ["run", "--data", "x", "--silo"]),
        (["--terminal", "--silo", "--json"], ["run", "--silo", "--json"]),
        (["--help"], ["run", "--help"]),
    ],
)
def test_orders_for_one_run_are_the_terminals(options: list[str], started: list[str]) -> None:
    assert product(options) == started

"""How a download is shown: in words, as a terminal's last line, as lines."""

import io

import pytest

from sapo_desktop.commands.library import open_transfers, transfer_line
from sapo_desktop.core.models import Transfer
from sapo_desktop.core.sentences import sentence
from sapo_desktop.terminal.output import Output

HALF = Transfer(stage="fetching", file="a.gguf", done=1_200_000_000, total=2_900_000_000, speed=12e6, left=130.0)


@pytest.mark.parametrize(
    ("transfer", "line"),
    [
        (HALF, "downloading a.gguf: 41%, 1.2 GB of 2.9 GB, 12.0 MB/s, 2m 10s left"),
        (Transfer(stage="asking"), "asking the hub"),
        (
            Transfer(stage="waiting", text=sentence("Broke{why}. {count} left.", why="\x1b[2J", count=1200)),
            "Broke. 1,200 left.",
        ),
        (Transfer(stage="finishing", done=10, total=10), "finishing: 100%, 10 B of 10 B"),
    ],
)
def test_a_line_says_how_far_it_is(transfer: Transfer, line: str) -> None:
    assert transfer_line(transfer) == line


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_line_that_is_wiped_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    with open_transfers(Output(False, io.StringIO(), stream), "m") as show:
        show(Transfer(stage="asking"))
        show(HALF)
        assert "41%, 1.2 GB of 2.9 GB" in stream.getvalue()
    assert stream.getvalue().endswith(" \r")


def test_a_pipe_gets_a_line_for_each_stage() -> None:
    stream = io.StringIO()
    with open_transfers(Output(False, io.StringIO(), stream), "m") as show:
        for transfer in (Transfer(stage="asking"), HALF, HALF, HALF, Transfer(stage="finishing")):
            show(transfer)
    assert len(stream.getvalue().splitlines()) == 3

"""Tables for people, drawn by rich: in a terminal they fit its width, in a pipe nothing is cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sapo_desktop.core.plain_text import one_line
from sapo_desktop.terminal.output import printable

_PIPE_WIDTH = 10_000


def print_table(
    stream: TextIO, headers: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = ()
) -> None:
    """Print `rows` under `headers`; columns named in `right` are flush right. Cells are plain text, never markup."""
    console = Console(file=stream, highlight=False, emoji=False, markup=False)
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for header in headers:
        flush_right = header in right
        table.add_column(
            Text(header),
            justify="right" if flush_right else "left",
            no_wrap=flush_right or not console.is_terminal,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*(Text(printable(one_line(cell), stream)) for cell in row))
    console.print(table)

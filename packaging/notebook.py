"""Writes docs/tinkerers.ipynb, the tutorial of docs/tinkerers.md as a notebook. The page is its only source.

    python packaging/notebook.py

Each command of the page is a cell without output. Other programs' commands stay text, as those programs may be missing.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE, NOTEBOOK = DOCS / "tinkerers.md", DOCS / "tinkerers.ipynb"
SECTION = "In half an hour"
BEGIN = """\
# The tinkerers' tutorial

This is the tutorial of [the page](tinkerers.md). Open it in any Jupyter, in a clone that is
[set up](../README.md#start). Its commands need Linux or macOS."""
FIRST_CELL = """\
import os
from pathlib import Path

while not Path("installers/bootstrap.py").is_file():  # commands run in the clone's top folder
    os.chdir("..")
python = ".venv/bin/python"
sapo = f"{python} -m sapo_desktop\""""
NAMES = {"sapo-desktop": "{sapo}", ".venv/bin/python": "{python}"}
"""The beginning of a command on the page -> its beginning in a cell."""


def notebook(page: str) -> str:
    """The notebook file for the page's text."""
    _, found, rest = page.partition(f"\n## {SECTION}\n")
    if not found:
        raise SystemExit(f"{PAGE.name} has no section {SECTION!r}.")
    section = rest.partition("\n## ")[0]
    cells = [_cell("markdown", BEGIN, 0), _cell("code", FIRST_CELL, 1)]
    for part in re.split(r"((?:^    .*\n)+)", section, flags=re.MULTILINE):
        commands = [_command(line) for line in part.splitlines()] if part.startswith("    ") else []
        known = [command for command in commands if command]
        if known and known == commands:
            cells.append(_cell("code", "\n".join(known), len(cells)))
        elif part.strip():
            cells.append(_cell("markdown", part.strip("\n"), len(cells)))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    made = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def _command(line: str) -> str | None:
    """A line of a cell for an indented line of the page; None for another program's."""
    program, _, rest = line.strip().partition(" ")
    return f"!{NAMES[program]} {rest}" if program in NAMES else None


def _cell(kind: str, text: str, number: int) -> dict[str, object]:
    empty = {"execution_count": None, "outputs": []} if kind == "code" else {}
    lines = text.splitlines(keepends=True)
    return {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": lines, **empty}


def main() -> int:
    NOTEBOOK.write_text(notebook(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

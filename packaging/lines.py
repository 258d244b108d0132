"""Counts what a reader has to read: modules and lines of code in every folder of the product and of the tests.

    python packaging/lines.py

A line of code is neither blank nor a comment nor part of a docstring (a string that is a
statement by itself). Docstrings are counted separately. A folder's modules are those in it, `__init__` left out
where it is empty but for its docstring; its lines are those of its modules, without the folders below it. Benches,
attacks (tests/bench, tests/attack) and planted faults serve the figures, not the tests: they have a row of their own.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PARTS = {"product": "sapo_desktop", "tests": "tests", "installers": "installers", "packaging": "packaging"}
FIGURES = ("tests/bench", "tests/attack", "tests/planted")
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


class Count(NamedTuple):
    """Counts of one module, or sums of several."""

    modules: int = 0
    code: int = 0
    docstrings: int = 0

    def plus(self, other: Count) -> Count:
        return Count(*(a + b for a, b in zip(self, other, strict=True)))


def count(path: Path) -> Count:
    """Lines of one module."""
    text = path.read_text(encoding="utf-8")
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    said: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            said.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    is_module = path.name != "__init__.py" or bool(code - said)
    return Count(int(is_module), len(code - said), len(said))


def folders() -> dict[str, Count]:
    """Counts by folder, sorted by name."""
    found: defaultdict[str, Count] = defaultdict(Count)
    for part in PARTS.values():
        for path in sorted((ROOT / part).rglob("*.py")):
            folder = path.parent.relative_to(ROOT).as_posix()
            found[folder] = found[folder].plus(count(path))
    return dict(sorted(found.items()))


def totals(of_folders: dict[str, Count]) -> Iterator[tuple[str, Count]]:
    """Sums of the repository's parts; benches and attacks are separate from the tests."""
    for name, part in PARTS.items():
        mine = [(folder, one) for folder, one in of_folders.items() if folder.split("/")[0] == part]
        yield name, _sum(one for folder, one in mine if not folder.startswith(FIGURES))
    yield "benches, attacks, faults", _sum(one for folder, one in of_folders.items() if folder.startswith(FIGURES))


def _sum(counts: Iterator[Count]) -> Count:
    total = Count()
    for one in counts:
        total = total.plus(one)
    return total


def main() -> None:
    of_folders = folders()
    print(f"{'folder':34} {'modules':>8} {'code':>8} {'docstrings':>11}")
    for name, one in [*of_folders.items(), *totals(of_folders)]:
        print(f"{name:34} {one.modules:8,} {one.code:8,} {one.docstrings:11,}")


if __name__ == "__main__":
    main()

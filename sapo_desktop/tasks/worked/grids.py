"""Steps for grids: distances layer by layer, and one-dimensional rules found by trying them on the examples."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Row = list[int]


def binary_matrix(entry: dict[str, Any]) -> str:
    """Zeros, then the cells beside them, then the next layer, until no cell is open (`.`)."""
    rows = entry["question"].split("matrix below:\n")[1].strip().split("\n")
    size = len(rows)
    cells: dict[tuple[int, int], int | None] = {}
    for r, row in enumerate(rows):
        for c, text in enumerate(row.split()):
            cells[r, c] = 0 if text == "0" else None
    states = []
    for distance in range(1, 2 * size):
        beside = [
            (r, c)
            for (r, c), value in cells.items()
            if value is None
            and distance - 1 in {cells.get((r + a, c + b)) for a, b in ((0, 1), (1, 0), (0, -1), (-1, 0))}
        ]
        cells |= dict.fromkeys(beside, distance)
        states.append(
            "/".join(
                "".join("." if cells[r, c] is None else str(cells[r, c]) for c in range(size)) for r in range(size)
            )
        )
        if "." not in states[-1]:
            break
    answer = "\n".join(" ".join(str(cells[r, c]) for c in range(size)) for r in range(size))
    return f"{' '.join(states)}<answer>{answer}</answer>"


def _moved(row: Row, by: int) -> Row:
    return [row[i - by] if 0 <= i - by < len(row) else 0 for i in range(len(row))]


def _turned(row: Row, by: int) -> Row:
    return [row[(i - by) % len(row)] for i in range(len(row))]


def _packed(row: Row) -> Row:
    kept = [x for x in row if x]
    return kept + [0] * (len(row) - len(kept))


def _counted(row: Row) -> Row:
    return [1 if i < sum(map(bool, row)) else 0 for i in range(len(row))]


def _filled(row: Row) -> Row:
    places = [i for i, x in enumerate(row) if x]
    return [row[places[0]] if places and places[0] <= i <= places[-1] else 0 for i in range(len(row))]


def _mirrored(rule: Callable[[Row], Row]) -> Callable[[Row], Row]:
    return lambda row: rule(row[::-1])[::-1]


def _rules() -> dict[str, Callable[[Row], Row]]:
    rules: dict[str, Callable[[Row], Row]] = {}
    for by in (1, 2, 3, 4, -1, -2, -3, -4):
        rules[f"move {by}"] = lambda row, by=by: _moved(row, by)  # type: ignore[misc]
        rules[f"turn {by}"] = lambda row, by=by: _turned(row, by)  # type: ignore[misc]
    rules["pack left"], rules["pack right"] = _packed, _mirrored(_packed)
    rules["count left"], rules["count right"] = _counted, _mirrored(_counted)
    rules["five"] = lambda row: [5 if x else 0 for x in row]
    rules["fill"] = _filled
    return rules


RULES = _rules()


def _rows(text: str) -> list[Row]:
    return [[int(x) for x in line.split()] for line in re.findall(r"(?:\d ){2,}\d", text)]


def arc_1d(entry: dict[str, Any]) -> str:
    """The first known rule that maps all three examples, then the grid; for other rules the grid alone."""
    *examples, given = _rows(entry["question"])
    pairs = list(zip(examples[::2], examples[1::2], strict=True))
    name = next((n for n, rule in RULES.items() if all(rule(a) == b for a, b in pairs)), "other")
    right = entry["answer"]
    if name != "other" and " ".join(map(str, RULES[name](given))) != right:
        name = "other"
    return f"{name}<answer>{right}</answer>"

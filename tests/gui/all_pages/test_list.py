"""Features that users ask for, and the tests that show them in the window (docs/data/window.csv)."""

import ast
import csv
from pathlib import Path

ROOT = Path(__file__).parents[3]


def rows() -> list[dict[str, str]]:
    with (ROOT / "docs/data/window.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def is_there(evidence: str) -> bool:
    """`evidence`: a test, as pytest names it, or a file."""
    path, _, test = evidence.partition("::")
    if not (ROOT / path).is_file():
        return False
    if not test:
        return True
    body = ast.parse((ROOT / path).read_text(encoding="utf-8")).body
    return any(isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.name == test for one in body)


def test_each_line_that_says_yes_names_a_test_or_picture_that_is_there() -> None:
    missing = [(row["number"], one) for row in rows() for one in row["evidence"].split() if not is_there(one)]
    assert not missing
    assert [row["number"] for row in rows() if row["stands"] == "yes" and not row["evidence"]] == []
    assert [row["number"] for row in rows() if row["stands"] != "yes" and not row["note"]] == [], "why not"


def test_the_first_25_are_there_and_38_of_all() -> None:
    stands = [row["stands"] for row in sorted(rows(), key=lambda row: int(row["number"]))]
    assert len(stands) == 44 and set(stands[:25]) == {"yes"} and stands.count("yes") >= 38

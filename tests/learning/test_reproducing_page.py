"""The code in docs/reproducing.md runs, and prints what stands below it."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reproducing.md"


def test_the_code_of_the_page_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    ((code, printed),) = re.findall(
        r"```python\n(.*?)```\n\n```\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
    exec(compile(code, PAGE.name, "exec"), {})
    assert capsys.readouterr().out == printed

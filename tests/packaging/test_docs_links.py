"""The links of the documentation: every broken one is listed."""

from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
START = "# Start\n\n- [Readers](readers.md)\n"

Faults = Callable[[str], list[str]]


@pytest.fixture
def faults(tmp_path: Path, scripts: None) -> Faults:
    """What is wrong with a small site in which the readers' page has this text."""
    import docs_links

    def found(text: str) -> list[str]:
        (tmp_path / "docs").mkdir(exist_ok=True)
        (tmp_path / "README.md").write_text("# The program\n")
        (tmp_path / "docs" / "README.md").write_text(START)
        (tmp_path / "docs" / "readers.md").write_text(text)
        (tmp_path / "plot.svg").write_text("<svg/>")
        (tmp_path / "code.py").write_text("print('<b>')\n")
        return list(docs_links.Pages(tmp_path).faults)

    return found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[x](gone.md)", "docs/readers.md: no such file: gone.md"),
        ("[x](../../outside.md)", "docs/readers.md: no such file: ../../outside.md"),
        ("[x](README.md#stop)", "docs/readers.md: no such heading: README.md#stop"),
        ("[x](#stop)", "docs/readers.md: no such heading: #stop"),
        ("[x](../code.py#L3)", "docs/readers.md: no such heading: ../code.py#L3"),
        ("![x](gone.png)", "docs/readers.md: no such picture: gone.png"),
        ("![x](https://example.org/x.png)", "docs/readers.md: no such picture: https://example.org/x.png"),
        ("a <b>bold</b> word", "docs/readers.md: HTML: <b>"),
        ("<script src='x.js'></script>", "docs/readers.md: HTML: <script src='x.js'></script>"),
        ("    python x.py  makes x", "docs/readers.md: words after a command, without a #: python x.py  makes x"),
    ],
)
def test_what_leads_nowhere_is_said(faults: Faults, text: str, said: str) -> None:
    assert said in faults(text)


def test_what_leads_somewhere_is_not(faults: Faults) -> None:
    headings = "# The `Node`, twice!\n\n## Again\n\n## Again\n\n"
    links = "[a](#the-node-twice) [b](#again-1) [c](../code.py) [d](README.md#start) [e](https://example.org) [f](.)"
    command = "    python x.py 'a b'    # makes x  and y\n"
    assert faults(f"<!-- Written by a script -->\n\n{headings}{links}\n\n![plot](../plot.svg)\n\n{command}") == []


def test_a_page_that_nobody_leads_to_is_said(faults: Faults, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "lost.md").write_text("# Lost\n")
    assert faults("# Readers\n") == ["docs/lost.md: no page leads here from docs/README.md."]


def test_our_own_pages_are_whole(scripts: None) -> None:
    import docs_links

    ours = docs_links.Pages(ROOT)
    assert ours.faults == []
    assert [reader.stem for reader in ours.readers()] == [
        "volunteers",
        "operators",
        "tinkerers",
        "researchers",
        "contributors",
    ]


def test_the_docs_stay_short() -> None:
    """Some sixty pages of a book: what is added takes the place of something."""
    assert sum(map(words_of, [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])) <= 18_000


def words_of(page: Path) -> int:
    """Words of a page; the bars of a table and the marks of headings and lists are none."""
    return sum(any(map(str.isalnum, word)) for word in page.read_text(encoding="utf-8").split())

"""The site of the documentation: it can be built, and whatever leads nowhere is said."""

import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parents[2]
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("0*.md"))
START = "# Start\n\n- [Readers](readers.md)\n"

Faults = Callable[[str], list[str]]


@pytest.fixture
def faults(tmp_path: Path, scripts: None) -> Faults:
    """What is wrong with a small site in which the readers' page has this text."""
    import docs_site

    def found(text: str) -> list[str]:
        (tmp_path / "docs").mkdir(exist_ok=True)
        (tmp_path / "README.md").write_text("# The program\n")
        (tmp_path / "docs" / "README.md").write_text(START)
        (tmp_path / "docs" / "readers.md").write_text(text)
        (tmp_path / "plot.svg").write_text("<svg/>")
        (tmp_path / "code.py").write_text("print('<b>')\n")
        return list(docs_site.Site(tmp_path).faults)

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
        ("    python x.py  makes x", "docs/readers.md: words behind a command, without a #: python x.py  makes x"),
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


def test_the_pages_are_written_without_anything_from_elsewhere(faults: Faults, tmp_path: Path) -> None:
    import docs_site

    faults("# Readers\n\n[code](../code.py) ![plot](../plot.svg)\n")
    docs_site.Site(tmp_path).write(tmp_path / "out")
    made = {str(path.relative_to(tmp_path / "out").as_posix()) for path in (tmp_path / "out").rglob("*.*")}
    assert made == {"index.html", "docs/index.html", "docs/readers.html", "code.py.html", "plot.svg"}
    page = (tmp_path / "out" / "docs" / "readers.html").read_text()
    assert 'href="../code.py.html"' in page and 'src="../plot.svg"' in page and '<h1 id="readers">' in page
    assert '<a href="readers.html" aria-current="page">Readers</a>' in page and '<a href="../index.html">' in page
    assert "&lt;b&gt;" in (tmp_path / "out" / "code.py.html").read_text()


def test_our_own_site_is_whole(tmp_path: Path, scripts: None) -> None:
    import docs_site

    site = docs_site.Site(ROOT)
    assert site.faults == []
    assert [reader.stem for reader in site.readers()] == [
        "volunteers",
        "operators",
        "tinkerers",
        "researchers",
        "contributors",
    ]
    site.write(tmp_path / "site")
    fetched = re.compile(r"<script|@import|\bsrc=\"(?:https?:)?//|<link\b")
    for page in site.pages.values():
        assert not fetched.search((tmp_path / "site" / page.goal).read_text(encoding="utf-8")), page.path
    assert site.pages[PurePosixPath("docs/ARCHITECTURE.md")].title == "Architecture"


@pytest.mark.parametrize("path", DECISIONS, ids=[path.stem for path in DECISIONS])
def test_a_decision_is_half_a_page_with_its_four_parts(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith(f"# {path.stem[:3]} ")
    assert re.findall(r"^\*\*(.+?)\.\*\*", text, re.MULTILINE) == ["Context", "Decision", "Consequences", "Not taken"]
    assert len(text.split()) <= 250


@pytest.mark.parametrize(
    ("page", "words"),
    [("ARCHITECTURE", 1000), *((name, 220) for name in ("volunteers", "operators", "tinkerers", "researchers"))],
)
def test_what_is_to_be_one_page_or_one_screen_stays_it(page: str, words: int) -> None:
    assert len((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8").split()) <= words


def test_the_docs_stay_short() -> None:
    """Some sixty pages of a book: what is added takes the place of something."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in pages) <= 18_000

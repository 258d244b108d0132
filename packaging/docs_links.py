"""Checks the links of the documentation.

    python packaging/docs_links.py         lists what is wrong; exit code 1 if there is anything

The pages are README.md, its neighbours and docs/. A link, an anchor or an image that leads nowhere, an image from
elsewhere, HTML in a page, words after a command without a # and a page of docs/ that no other leads to are faults.
"""

from __future__ import annotations

import itertools
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[1]
FIRST = PurePosixPath("README.md")
START = PurePosixPath("docs/README.md")
ROOT_PAGES = ("README.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md")
PICTURES = {".png", ".svg", ".webp"}
_ASIDE = re.compile(r"\s*(alias|pip|python3?|sapo-desktop) [^#]*?\S {2,}[^#\s]")
"""A command that does something else when its line is copied."""


@dataclass
class Page:
    """A page and its path below the root."""

    path: PurePosixPath
    tokens: Sequence[Token]
    anchors: set[str]
    links: list[str] = field(default_factory=list)


class Pages:
    """All pages under a root; `faults` has a sentence for each fault."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._markdown = MarkdownIt("commonmark").enable("table")
        self.faults: list[str] = []
        self.pages: dict[PurePosixPath, Page] = {}
        self._leads: dict[PurePosixPath, list[PurePosixPath]] = {}
        """Page -> the pages that it links to, in its order."""
        waiting = [PurePosixPath(name) for name in ROOT_PAGES if (root / name).is_file()]
        waiting += [_posix(path, root) for path in sorted((root / "docs").rglob("*.md"))]
        while waiting:
            path = waiting.pop()
            if path not in self.pages:
                page = self.pages[path] = self._read(path)
                self._leads[path] = list(dict.fromkeys(self._targets(page)))
                waiting += self._leads[path]
        for page in self.pages.values():
            self._seek_anchors(page)
        self._seek_strays()

    def readers(self) -> dict[PurePosixPath, list[PurePosixPath]]:
        """The page for each kind of reader, and the pages that it links to."""
        return {one: [two for two in self._leads[one] if two not in (START, FIRST)] for one in self._leads[START]}

    def _read(self, path: PurePosixPath) -> Page:
        tokens = self._markdown.parse((self._root / path).read_text(encoding="utf-8"))
        names: Counter[str] = Counter()
        anchors = set()
        for opening, words in itertools.pairwise(tokens):
            if opening.type == "heading_open":
                said = "".join(one.content for one in words.children or [] if one.type in ("text", "code_inline"))
                anchors.add(_anchor(said, names))
        return Page(path, tokens, anchors)

    def _targets(self, page: Page) -> Iterator[PurePosixPath]:
        """The pages that a page links to; a missing one is a fault."""
        for token in _all(page.tokens):
            if token.type in ("html_block", "html_inline"):
                if not re.fullmatch(r"\s*<!--.*-->\s*", token.content, re.DOTALL):
                    self._fault(page, f"HTML: {token.content.strip()}")
            elif token.type == "image":
                found = self._found(page, str(token.attrs["src"]))
                if found is None or found.suffix not in PICTURES:
                    self._fault(page, f"no such picture: {token.attrs['src']}")
            elif token.type in ("fence", "code_block"):
                for line in filter(_ASIDE.match, token.content.splitlines()):
                    self._fault(page, f"words after a command, without a #: {line.strip()}")
            elif token.type == "link_open" and not urlsplit(str(token.attrs["href"])).scheme:
                link = str(token.attrs["href"])
                page.links.append(link)
                found = self._found(page, link)
                if found is None:
                    self._fault(page, f"no such file: {link}")
                elif found.suffix == ".md" and found != page.path:
                    yield found

    def _found(self, page: Page, link: str) -> PurePosixPath | None:
        """The file or folder of the repository that a link names. A folder's README.md stands for it."""
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            return None
        if not parts.path:
            return page.path
        try:
            path = _posix(Path(os.path.normpath(self._root / page.path.parent / unquote(parts.path))), self._root)
        except ValueError:  # outside of the repository
            return None
        if (self._root / path / "README.md").is_file():
            return path / "README.md"
        return path if (self._root / path).exists() else None

    def _seek_anchors(self, page: Page) -> None:
        for link in page.links:
            found, anchor = self._found(page, link), unquote(urlsplit(link).fragment)
            if found and anchor and (found not in self.pages or anchor not in self.pages[found].anchors):
                self._fault(page, f"no such heading: {link}")

    def _seek_strays(self) -> None:
        """Every page of docs/ must be reachable from its start."""
        if START not in self.pages:
            self.faults.append(f"{START} is missing; it is where every reader starts.")
            return
        seen, waiting = {START}, [START]
        while waiting:
            further = [one for one in self._leads[waiting.pop()] if one not in seen and one.parts[0] == "docs"]
            seen.update(further)
            waiting += further
        for path in self.pages.keys() - seen:
            if path.parts[0] == "docs":
                self.faults.append(f"{path}: no page leads here from {START}.")

    def _fault(self, page: Page, what: str) -> None:
        self.faults.append(f"{page.path}: {what}")


def _posix(path: Path, root: Path) -> PurePosixPath:
    return PurePosixPath(path.relative_to(root).as_posix())


def _all(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _all(token.children or [])


def _anchor(heading: str, names: Counter[str]) -> str:
    """The anchor that GitHub gives a heading, so that a link works in both places. `names`: how often each was used."""
    name = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
    names[name] += 1
    return name if names[name] == 1 else f"{name}-{names[name] - 1}"


def main() -> int:
    pages = Pages(ROOT)
    print("\n".join([*sorted(pages.faults), f"{len(pages.pages)} pages, {len(pages.faults)} faults"]))
    return 1 if pages.faults else 0


if __name__ == "__main__":
    sys.exit(main())

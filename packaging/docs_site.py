"""Makes a site of the documentation: plain HTML in build/site that needs no server and fetches nothing.

    python packaging/docs_site.py         writes the site and says where it is

The pages are README.md, its neighbours, docs/, and whatever file of the repository they link to. docs/README.md names
the readers; the page of each lists what is for them: that is the navigation. A link, an anchor or an image that leads
nowhere, an image from elsewhere, HTML in a page, words behind a command without a # and a page of docs/ that no other
leads to are faults: all are said, and nothing is written. MkDocs would be fifteen more packages in every lock.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path, PurePosixPath
from urllib.parse import quote, unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[1]
FIRST = PurePosixPath("README.md")
START = PurePosixPath("docs/README.md")
BESIDE = ("README.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md")
PICTURES = {".png", ".svg", ".webp"}
STYLE = """
:root { color-scheme: light dark; --line: #8884; --quiet: #8881; --link: light-dark(#0b57a4, #8ab8ec) }
* { box-sizing: border-box }
body { margin: 0; font: 1rem/1.55 system-ui, sans-serif; display: flex; flex-wrap: wrap }
nav { flex: 1 0 14rem; max-width: 18rem; padding: 1rem 1.2rem; font-size: .9rem; border-right: 1px solid var(--line) }
nav ul { list-style: none; margin: 0 0 .8rem; padding: 0 0 0 .8rem }
nav a[aria-current] { font-weight: bold }
main { flex: 1 1 30rem; min-width: 0; max-width: 60rem; padding: 1rem 2rem 4rem }
a { color: var(--link) }
h1, h2, h3 { line-height: 1.2; margin: 1.8em 0 .6em }
h1 { margin-top: .4em }
img { max-width: 100%; height: auto }
code { background: var(--quiet); padding: .1em .25em }
pre { background: var(--quiet); padding: .8rem; overflow-x: auto }
pre code { background: none; padding: 0 }
table { border-collapse: collapse; display: block; overflow-x: auto }
th, td { border: 1px solid var(--line); padding: .3em .6em; text-align: left; vertical-align: top }
"""
PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>{style}</style>
<nav aria-label="Pages">
{navigation}
</nav>
<main>
{body}
</main>
</html>
"""

_ASIDE = re.compile(r"\s*(alias|pip|python3?|sapo-desktop) [^#]*?\S {2,}[^#\s]")
"""A command that does something else when its line is copied."""


@dataclass
class Page:
    """One file of the repository as a page. Paths are relative to the root."""

    path: PurePosixPath
    tokens: Sequence[Token]
    title: str
    anchors: set[str]
    links: list[Token] = field(default_factory=list)
    """The openings of links, whose `href` becomes that of the site."""

    @property
    def goal(self) -> PurePosixPath:
        return goal(self.path)


class Site:
    """All pages and pictures under a root, with what is wrong with them in `faults`, a sentence each."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._markdown = MarkdownIt("commonmark").enable("table")
        self.faults: list[str] = []
        self.pictures: set[PurePosixPath] = set()
        self.pages: dict[PurePosixPath, Page] = {}
        self._leads: dict[PurePosixPath, list[PurePosixPath]] = {}
        """Page -> the pages that it links to, in its order."""
        waiting = [PurePosixPath(name) for name in BESIDE if (root / name).is_file()]
        waiting += [_posix(path, root) for path in sorted((root / "docs").rglob("*.md"))]
        while waiting:
            path = waiting.pop()
            if path not in self.pages:
                page = self.pages[path] = self._read(path)
                self._leads[path] = list(dict.fromkeys(self._targets(page)))
                waiting += self._leads[path]
        for page in self.pages.values():
            self._lead(page)
        self._seek_strays()

    def write(self, folder: Path) -> None:
        """Make the folder anew, with every page and picture."""
        shutil.rmtree(folder, ignore_errors=True)
        for page in self.pages.values():
            place = folder / page.goal
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(self._html(page), encoding="utf-8")
        for picture in self.pictures:
            (folder / picture).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self._root / picture, folder / picture)

    def readers(self) -> dict[PurePosixPath, list[PurePosixPath]]:
        """The page of each kind of reader, and what it leads to."""
        return {one: [two for two in self._leads[one] if two not in (START, FIRST)] for one in self._leads[START]}

    def _read(self, path: PurePosixPath) -> Page:
        place = self._root / path
        if place.is_dir():
            files = sorted(one.name for one in place.iterdir() if one.is_file())
            listed = [f"- [{name}]({quote(f'{path.name}/{name}')})" for name in files]
            text = f"# {path}/\n\n" + "\n".join(listed)
        elif path.suffix == ".md":
            text = place.read_text(encoding="utf-8")
        else:
            text = f"# {path.name}\n\n~~~~~~\n{place.read_text(encoding='utf-8')}\n~~~~~~"
        tokens = self._markdown.parse(text)
        names: Counter[str] = Counter()
        title = ""
        for opening, words in itertools.pairwise(tokens):
            if opening.type == "heading_open":
                said = "".join(one.content for one in words.children or [] if one.type in ("text", "code_inline"))
                title = title or said
                opening.attrSet("id", _anchor(said, names))
        anchors = {str(one.attrs["id"]) for one in tokens if "id" in one.attrs}
        return Page(path, tokens, title or path.name, anchors)

    def _targets(self, page: Page) -> Iterator[PurePosixPath]:
        """The pages that a page links to; its pictures are kept, what is not there is a fault."""
        for token in _all(page.tokens):
            if token.type in ("html_block", "html_inline"):
                if not re.fullmatch(r"\s*<!--.*-->\s*", token.content, re.DOTALL):
                    self._fault(page, f"HTML: {token.content.strip()}")
                token.content = ""
            elif token.type == "image":
                found = self._found(page, str(token.attrs["src"]))
                if found is None or found.suffix not in PICTURES:
                    self._fault(page, f"no such picture: {token.attrs['src']}")
                else:
                    self.pictures.add(found)
            elif token.type in ("fence", "code_block") and page.path.suffix == ".md":
                for line in filter(_ASIDE.match, token.content.splitlines()):
                    self._fault(page, f"words behind a command, without a #: {line.strip()}")
            elif token.type == "link_open" and not urlsplit(str(token.attrs["href"])).scheme:
                page.links.append(token)
                found = self._found(page, str(token.attrs["href"]))
                if found is None:
                    self._fault(page, f"no such file: {token.attrs['href']}")
                elif found.suffix in PICTURES:
                    self.pictures.add(found)
                elif found != page.path:
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

    def _lead(self, page: Page) -> None:
        """Turn a page's links into the site's."""
        for token in page.links:
            link = str(token.attrs["href"])
            found = self._found(page, link)
            if found is None:
                continue
            anchor = unquote(urlsplit(link).fragment)
            if anchor and (found not in self.pages or anchor not in self.pages[found].anchors):
                self._fault(page, f"no such heading: {link}")
            token.attrs["href"] = _way(page.goal, goal(found)) + (f"#{quote(anchor)}" if anchor else "")

    def _seek_strays(self) -> None:
        """Every page of docs/ can be come to from its beginning."""
        if START not in self.pages:
            self.faults.append(f"{START} is missing, where every reader begins.")
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

    def _html(self, page: Page) -> str:
        markdown = self._markdown
        body = markdown.renderer.render(page.tokens, markdown.options, {})
        return PAGE.format(title=escape(page.title), style=STYLE, navigation=self._navigation(page), body=body)

    def _navigation(self, page: Page) -> str:
        """All readers, and under those whose page this is the rest of theirs."""
        lines = [self._entry(page, FIRST), "<ul>"]
        for reader, listed in self.readers().items():
            lines += [f"<li>{self._entry(page, reader)}"]
            if page.path in (reader, *listed):
                lines += ["<ul>", *(f"<li>{self._entry(page, one)}" for one in listed), "</ul>"]
        return "\n".join([*lines, "</ul>"])

    def _entry(self, page: Page, path: PurePosixPath) -> str:
        here = ' aria-current="page"' if path == page.path else ""
        return f'<a href="{_way(page.goal, goal(path))}"{here}>{escape(self.pages[path].title)}</a>'


def goal(path: PurePosixPath) -> PurePosixPath:
    """Where a file of the repository is in the site. A README.md is its folder's index."""
    if path.suffix in PICTURES:
        return path
    if path.name == "README.md":
        return path.with_name("index.html")
    if path.suffix == ".md":
        return path.with_suffix(".html")
    return path.with_name(f"{path.name}.html")


def _way(here: PurePosixPath, there: PurePosixPath) -> str:
    return quote(PurePosixPath(os.path.relpath(there, here.parent).replace(os.sep, "/")).as_posix())


def _posix(path: Path, root: Path) -> PurePosixPath:
    return PurePosixPath(path.relative_to(root).as_posix())


def _all(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _all(token.children or [])


def _anchor(heading: str, names: Counter[str]) -> str:
    """As GitHub names a heading, so that a link works in both places. `names`: how often each was given."""
    name = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
    names[name] += 1
    return name if names[name] == 1 else f"{name}-{names[name] - 1}"


def main() -> int:
    site = Site(ROOT)
    if site.faults:
        print("\n".join(sorted(site.faults)), file=sys.stderr)
        print(f"{len(site.faults)} faults: no site was written.", file=sys.stderr)
        return 1
    place = ROOT / "build" / "site"
    site.write(place)
    print(f"{len(site.pages)} pages: {place / 'docs' / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

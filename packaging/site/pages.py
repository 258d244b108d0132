"""A hook of mkdocs (mkdocs.yml): pages of the site that are not in docs/, and links out of docs/.

Pages such as README.md and linked files go to `repository/`. Each module in `API` gets a page from its docstrings, and
links to its source lead there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md")
API = (
    *sorted(f"sapo_desktop/learning/{path.name}" for path in (ROOT / "sapo_desktop" / "learning").glob("[!_]*.py")),
    "sapo_desktop/core/records.py",
    "sapo_desktop/engines/torch/grpo.py",
    "sapo_desktop/tasks/examiner.py",
    "sapo_desktop/worker/hosts/engine.py",
)
CONTENTS = "api/README.md"
_LINK = re.compile(r"(?<=\]\()([^)\s#:]+)(?=[#)])")
"""A relative link in Markdown, without its anchor."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs/."""
    for name in PAGES:
        files.append(File.generated(config, f"repository/{name}", content=(ROOT / name).read_text(encoding="utf-8")))
    for module in API:
        files.append(File.generated(config, _api(module), content=f"# `{_dotted(module)}`\n\n::: {_dotted(module)}\n"))
    files.append(File.generated(config, CONTENTS, content=_contents()))
    for page in list(files.documentation_pages()):
        for target in _targets(page):
            place = _place(target)
            if place and (ROOT / target).is_file() and files.get_file_from_path(place) is None:
                files.append(File.generated(config, place, abs_src_path=str(ROOT / target)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point the repository's links to their targets on the site. A folder without a page loses its link."""
    here = _source(page.file.src_uri)
    if here is None:
        return markdown

    def led(match: re.Match[str]) -> str:
        place = _place(_target(here, match[1]))
        return os.path.relpath(place, PurePosixPath(page.file.src_uri).parent) if place else page.file.name + ".md"

    return _LINK.sub(led, markdown)


def _contents() -> str:
    lines = [f"- [`{_dotted(module)}`]({Path(_api(module)).name}): {_purpose(module)}" for module in API]
    return "\n".join(["# API", "", "Written from the docstrings.", "", *lines, ""])


def _purpose(module: str) -> str:
    """The first line of a module's docstring."""
    return (ROOT / module).read_text(encoding="utf-8").split("\n", 1)[0].strip('"')


def _targets(page: File) -> Iterator[str]:
    here = _source(page.src_uri)
    if here is not None:
        for link in _LINK.findall((ROOT / here).read_text(encoding="utf-8")):
            yield _target(here, link)


def _source(uri: str) -> str | None:
    """The file of the repository behind a page; None for a page that is written here."""
    if uri.startswith("repository/"):
        return uri.removeprefix("repository/")
    return None if uri.startswith("api/") else f"docs/{uri}"


def _target(here: str, link: str) -> str:
    """The path in the repository that a link of the file `here` names."""
    return os.path.normpath(PurePosixPath(here).parent / link)


def _place(target: str) -> str | None:
    """Where a path of the repository is on the site; None for a folder that has no page."""
    if target == "sapo_desktop/learning":
        return CONTENTS
    if target in API:
        return _api(target)
    if (ROOT / target).is_dir():
        target += "/README.md"
        if not (ROOT / target).is_file():
            return None
    inside = target.removeprefix("docs/")
    return inside if inside != target else f"repository/{target}"


def _api(module: str) -> str:
    return f"api/{_dotted(module)}.md"


def _dotted(module: str) -> str:
    return module.removesuffix(".py").replace("/", ".")

"""Shows what takes up space in an application's folder: `python packaging/payload/sizes.py FOLDER`, as a table.

Each part is packed alone, by the fastest level of xz; an installer compresses slightly better.
"""

from __future__ import annotations

import argparse
import io
import lzma
from collections import defaultdict
from pathlib import Path

SHOWN = 16


def part_of(path: Path) -> str:
    """The package of a file, or the top folder."""
    parts = path.parts
    for place in ("dist-packages", "site-packages"):
        if place in parts:
            return parts[parts.index(place) + 1].partition(".")[0].partition("-")[0]
    return "/".join(parts[:2]) if parts[0] == "app" else parts[0]


def measure(folder: Path) -> dict[str, tuple[int, int]]:
    """Part -> bytes, bytes when packed."""
    files = defaultdict(list)
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            files[part_of(path.relative_to(folder))].append(path)
    return {part: (sum(path.stat().st_size for path in paths), _packed(paths)) for part, paths in files.items()}


def _packed(paths: list[Path]) -> int:
    out = io.BytesIO()
    with lzma.LZMAFile(out, "w", preset=0) as packed:
        for path in paths:
            packed.write(path.read_bytes())
    return out.tell()


def main() -> None:
    parser = argparse.ArgumentParser(description="Show what takes up space in an application's folder.")
    parser.add_argument("folder", type=Path)
    sizes = sorted(measure(parser.parse_args().folder).items(), key=lambda item: -item[1][1])
    rest = [size for _, size in sizes[SHOWN:]]
    rows = [
        *sizes[:SHOWN],
        (f"{len(rest)} others", (sum(plain for plain, _ in rest), sum(packed for _, packed in rest))),
    ]
    total = tuple(sum(column) for column in zip(*(size for _, size in sizes), strict=True))
    print("| part | MB | packed |\n|---|---|---|")
    for part, (plain, packed) in [*rows, ("all", total)]:
        print(f"| {part} | {plain / 1e6:.1f} | {packed / 1e6:.1f} |")


if __name__ == "__main__":
    main()

"""Everything that this machine can release, from the checked-out commit: `python packaging/release.py OUT`.

The .deb, the .rpm (where rpmbuild is) and the .run file with their list of contents (CycloneDX), the wheel, all
licences, and their SHA256SUMS; with `--key` also the updater's signed manifest (updates.py), which needs every
translation. With `--twice` the
wheel and the packing of the folder are done again and compared byte by byte. The scripts that it runs
list their own requirements; the wheel needs the hatchling of packaging/requirements/test.txt.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import times  # noqa: E402
import updates  # noqa: E402


def release(out: Path, twice: bool, level: int) -> list[Path]:
    """Make everything in `out`; returns the files. Ends the process where two builds differ."""
    os.environ["SOURCE_DATE_EPOCH"] = str(times.epoch())  # one time for all files
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    payload = out / "payload"
    _run(HERE / "payload" / "build.py", payload)
    _pack(payload, out, level)
    if twice:
        again = out / "again"
        _pack(payload, again, level)
        _compare(out, again)
        shutil.rmtree(again)
    shutil.copyfile(payload / "sbom.json", out / "sapo-desktop.cdx.json")
    with tarfile.open(out / "licences.tar.xz", "w:xz") as tar:
        tar.add(payload / "licences", "licences")
    shutil.rmtree(payload)
    files = sorted(path for path in out.iterdir() if path.is_file())
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (out / "SHA256SUMS").write_text("".join(sums))
    return files


def _pack(payload: Path, out: Path, level: int) -> None:
    _run(HERE / "linux" / "package.py", payload, out, "--level", level)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
    ]
    subprocess.run([*pip, "--wheel-dir", out, HERE.parent], check=True)


def _compare(first: Path, second: Path) -> None:
    for path in sorted(second.iterdir()):
        if path.read_bytes() != (first / path.name).read_bytes():
            sys.exit(f"{path.name} differs between two builds of the same commit.")
        print(f"{path.name}: the same bytes twice")


def _run(script: Path, *words: object) -> None:
    subprocess.run([sys.executable, str(script), *map(str, words)], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Make everything that this computer can release.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--twice", action="store_true", help="pack again, and compare byte by byte")
    parser.add_argument("--level", type=int, default=6, help="level of xz (default: 6)")
    updates.add_options(parser, required=False)
    given = parser.parse_args()
    if given.key is not None and None in (given.number, given.least):
        parser.error("a manifest needs --number and --least")
    if given.key is not None:
        _run(HERE / "translations.py", "--complete")
    key = updates.open_key(given.key, updates.passphrase()) if given.key else None  # asked now, not an hour later
    for path in release(given.out.absolute(), given.twice, given.level):
        print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB")
    if key is not None:
        updates.sign_as_given(given, key)


if __name__ == "__main__":
    main()

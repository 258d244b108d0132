"""Packing the same folder twice gives the same bytes, and icons have the formats of their names."""

import hashlib
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("dpkg-deb", "xz", "tar", "rpmbuild")


@pytest.mark.slow
def test_icons_are_what_windows_and_macos_read(tmp_path: Path) -> None:
    line = [sys.executable, str(ROOT / "packaging" / "icons.py"), str(tmp_path)]
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL, timeout=120)
    ico, icns = ((tmp_path / f"sapo-desktop.{kind}").read_bytes() for kind in ("ico", "icns"))
    assert struct.unpack("<HHH", ico[:6]) == (0, 1, 6)
    for number in range(6):
        width, *_, size, at = struct.unpack("<BBBBHHII", ico[6 + 16 * number : 22 + 16 * number])
        assert ico[at : at + 8] == b"\x89PNG\r\n\x1a\n" and at + size <= len(ico)
        assert struct.unpack(">I", ico[at + 16 : at + 20])[0] % 256 == width
    assert icns[:4] == b"icns" and struct.unpack(">I", icns[4:8])[0] == len(icns)
    assert icns.count(b"\x89PNG\r\n\x1a\n") == 7
    assert (tmp_path / "hicolor" / "48x48" / "apps" / "sapo-desktop.png").stat().st_size > 300


@pytest.mark.slow
@pytest.mark.allowed_skip("packages for Linux are made on Debian")
def test_a_release_is_whole_and_the_same_twice(tmp_path: Path) -> None:
    """All of it but the making of the folder, for which a small one stands (test_linux.py makes the real one)."""
    if missing := [tool for tool in TOOLS if shutil.which(tool) is None]:
        pytest.skip(f"{', '.join(missing)} missing: apt-get install dpkg xz-utils tar rpm")
    run = subprocess.run(
        [sys.executable, "-c", SMALL, str(ROOT / "packaging"), str(tmp_path / "out")],
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    assert run.stdout.count("the same bytes twice") == 4
    sums = dict(reversed(line.split()) for line in (tmp_path / "out" / "SHA256SUMS").read_text().splitlines())
    assert {Path(name).suffix for name in sums} == {".deb", ".rpm", ".run", ".whl", ".json", ".xz"}
    for name, expected in sums.items():
        assert hashlib.sha256((tmp_path / "out" / name).read_bytes()).hexdigest() == expected


SMALL = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import release
really = release._run
def run(script, *words):
    if script.name != "build.py":
        return really(script, *words)
    (words[0] / "licences").mkdir(parents=True)
    (words[0] / "licences" / "one").write_text("may be used")
    (words[0] / "größe.py").write_text("x = 1")
    (words[0] / "sbom.json").write_text("{}")
    (words[0] / "sapo-desktop").write_text("#!/bin/sh")
    os.utime(words[0] / "sapo-desktop", (10**9, 10**9))  # older than the commit, as libraries of the system are
release._run = run
release.release(Path(sys.argv[2]), twice=True, level=0)
"""

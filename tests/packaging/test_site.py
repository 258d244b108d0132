"""The documentation as a site, with API pages from docstrings."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.home import IN_CI, fetching

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def mkdocs(tmp_path: Path) -> Path:
    """The command, in an environment of its own."""
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    commands = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    wanted = str(ROOT / "packaging" / "site" / "requirements.txt")
    install = [str(commands / "python"), "-m", "pip", "install", "-q", "-r", wanted]
    if subprocess.run(install, env=fetching(), check=False).returncode:
        pytest.fail("mkdocs cannot be had", pytrace=False) if IN_CI else pytest.skip("mkdocs cannot be had")
    return commands / "mkdocs"


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_site_builds_with_api_pages_and_a_dead_link_stops_it(mkdocs: Path, tmp_path: Path) -> None:
    here = tmp_path / "clone"
    for name in ("docs", "packaging", "resources", "sapo_desktop", "tests"):
        shutil.copytree(ROOT / name, here / name, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ROOT.iterdir():
        if file.is_file() and (file.suffix in {".md", ".yml", ".cff"} or file.name == "LICENSE"):
            shutil.copy(file, here)
    build = [str(mkdocs), "build", "--strict"]
    built = subprocess.run(build, cwd=here, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    site = here / "build" / "site"
    mixing = (site / "api" / "sapo_desktop.learning.mixing.html").read_text(encoding="utf-8")
    assert "Take <code>share.local</code> own" in mixing
    assert "sapo_desktop.core.records.html" in (site / "reproducing.html").read_text(encoding="utf-8")

    (here / "docs" / "researchers.md").write_text("# For researchers\n\n[gone](../sapo_desktop/learning/gone.py)\n")
    built = subprocess.run(build, cwd=here, capture_output=True, text=True, check=False)
    assert built.returncode != 0 and "gone.py" in built.stderr

"""What `pip install sapo-desktop` installs from an index: the package, its resources, both commands, their extras."""

import hashlib
import os
import site
import subprocess
import sys
from importlib.metadata import Distribution, PathDistribution
from pathlib import Path

import pytest

import sapo_desktop

from .conftest import ROOT

PIP = ("-m", "pip", "--disable-pip-version-check")


def index_of(wheel: Path, folder: Path) -> str:
    """A package index with this wheel (PEP 503), as a dry run of a release; returns its address."""
    place = folder / "simple" / "sapo-desktop"
    place.mkdir(parents=True)
    sha256 = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (place / "index.html").write_text(f'<a href="{wheel.as_uri()}#sha256={sha256}">{wheel.name}</a>\n')
    return (folder / "simple").as_uri()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="commands are elsewhere there")
def test_a_release_installs_from_an_index(tmp_path: Path) -> None:
    build = [*PIP, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(tmp_path / "out"), str(ROOT)]
    subprocess.run([sys.executable, *build], check=True)
    (wheel,) = (tmp_path / "out").glob("sapo_desktop-*.whl")
    there = tmp_path / "installed hére"
    subprocess.run([sys.executable, "-m", "venv", str(there)], check=True)
    python = there / "bin" / "python"
    env = {key: value for key, value in os.environ.items() if not key.startswith(("PIP_", "PYTHON"))}
    env |= {"PIP_CONFIG_FILE": os.devnull}
    install = [*PIP, "install", "-q", "--no-deps", "--index-url", index_of(wheel, tmp_path), "sapo-desktop"]
    subprocess.run([python, *install], check=True, env=env)
    (library,) = (there / "lib").glob("python3*/site-packages")
    # What it depends on is here already.
    (library / "others.pth").write_text("".join(f"{path}\n" for path in site.getsitepackages()))

    ran = subprocess.run([there / "bin" / "sapo-desktop", "--version"], env=env, capture_output=True, text=True)
    assert ran.stdout.split()[-1] == sapo_desktop.__version__, ran.stderr
    asked = [there / "bin" / "sapo-desktop", "tasks", "list", "--data", str(tmp_path / "data"), "--json"]
    ran = subprocess.run(asked, env=env, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0 and '"gcd"' in ran.stdout, ran.stderr
    assert (there / "bin" / "sapo-desktop-window").exists() and (library / "sapo_desktop" / "py.typed").exists()
    (info,) = library.glob("sapo_desktop-*.dist-info")
    fonts = Path("resources", "fonts")
    assert (library / "sapo_desktop" / fonts / "Inter-Regular.ttf").exists()
    assert (info / "licenses" / fonts / "OFL.txt").exists() and (info / "licenses" / "LICENSE").exists()
    found: Distribution = PathDistribution(info)
    assert {"llama", "lab", "relay"} <= set(found.metadata.get_all("Provides-Extra") or [])
    assert {point.group for point in found.entry_points} == {"console_scripts", "gui_scripts"}

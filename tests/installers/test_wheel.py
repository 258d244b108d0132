"""What `pip install .` installs: the package, with the shipped resources inside."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import ROOT

ASK = "import sapo_desktop.core.resources as r; print(r.__file__); print(r.resource('tasks.toml'))"


@pytest.mark.slow
def test_an_installed_wheel_finds_its_resources(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(tmp_path), str(ROOT)], check=True
    )
    wheel = next(tmp_path.glob("sapo_desktop-*.whl"))
    there = tmp_path / "installed here"
    subprocess.run([*pip, "install", "-q", "--no-deps", "--no-index", "--target", str(there), str(wheel)], check=True)
    env = {**os.environ, "PYTHONPATH": str(there), "PYTHONSAFEPATH": "1"}
    answer = subprocess.run([sys.executable, "-c", ASK], env=env, cwd=tmp_path, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    module, resource = (Path(line) for line in answer.stdout.splitlines())
    assert module == there / "sapo_desktop" / "core" / "resources.py"
    assert resource == there / "sapo_desktop" / "resources" / "tasks.toml"
    script = (next(there.glob("*.dist-info")) / "entry_points.txt").read_text()
    assert "[console_scripts]\nsapo-desktop = sapo_desktop.cli:main" in script
    assert "[gui_scripts]\nsapo-desktop-window = sapo_desktop.cli:main" in script

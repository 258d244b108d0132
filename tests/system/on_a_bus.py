"""A script with a private message bus for session and system, with stand-ins for services."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

needs_a_bus = pytest.mark.skipif(not shutil.which("dbus-run-session"), reason="dbus-run-session is not installed")
SYSTEM_TOO = 'import os\nos.environ["DBUS_SYSTEM_BUS_ADDRESS"] = os.environ["DBUS_SESSION_BUS_ADDRESS"]\n'


def plays(script: str, folder: Path, *arguments: str) -> None:
    """Runs it; its last word is `done`."""
    scene = folder / "scene.py"
    scene.write_text(SYSTEM_TOO + script)
    done = subprocess.run(
        ["dbus-run-session", "--", sys.executable, str(scene), *arguments],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2]), "XDG_RUNTIME_DIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.strip().endswith("done"), done.stdout + done.stderr

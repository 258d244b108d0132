"""The window for a screen reader: over the real accessibility bus, from another process."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.display import a_display, can_be_had

LAUNCHERS = (Path("/usr/libexec/at-spi-bus-launcher"), Path("/usr/lib/at-spi2-core/at-spi-bus-launcher"))


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.skipif(not can_be_had(), reason="Xvfb is not installed")
@pytest.mark.skipif(not any(path.exists() for path in LAUNCHERS), reason="at-spi2-core is not installed")
@pytest.mark.skipif(shutil.which("dbus-run-session") is None, reason="dbus-run-session is not installed")
def test_a_screen_reader_finds_names_and_presses_the_button(tmp_path: Path) -> None:
    with a_display() as screen:
        module = "tests.whole.window.screen_reader"
        line = ["dbus-run-session", "--", sys.executable, "-m", module, str(tmp_path / "node")]
        run = subprocess.run(line, env=screen, capture_output=True, text=True)
    assert run.returncode == 0 and run.stdout.endswith("done\n"), f"{run.stdout}\n{run.stderr}"

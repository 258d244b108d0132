"""The identity in a real Secret Service: gnome-keyring on a message bus of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCENE = """
import sys
from pathlib import Path
from sapo_desktop.system.identity import Keeper
folder = Path(sys.argv[1])
keeper = Keeper("node of the test", folder / "identity")
assert keeper.load() is None
made = keeper.create()
assert made.where == "keyring", made
assert Keeper("node of the test", folder / "identity").load() == made
assert Keeper("another", folder / "identity").load() is None
second = keeper.create()
assert keeper.load() == second != made
sealed = keeper.create("a passphrase")
assert sealed.where == "file", sealed
(folder / "identity").unlink()
assert keeper.load() is None
print("kept and forgotten")
"""

SILENT = """
import os, signal, sys, time
from pathlib import Path
from sapo_desktop.core.errors import KeyringClosed
from sapo_desktop.system.identity import Keeper
from sapo_desktop.system.presence import bus
keeper = Keeper("node of the test", Path(sys.argv[1]) / "identity")
assert keeper.create().where == "keyring"
asked = "org.freedesktop.DBus.GetConnectionUnixProcessID", "s", ("org.freedesktop.secrets",)
(service,) = bus.call("SESSION", "org.freedesktop.DBus", "/org/freedesktop/DBus", *asked)
os.kill(service, signal.SIGSTOP)
began = time.monotonic()
try:
    keeper.load()
except KeyringClosed as error:
    assert "does not answer" in str(error), error
else:
    raise AssertionError("it opened")
assert time.monotonic() - began < 20
os.kill(service, signal.SIGKILL)
print("said")
"""


@pytest.mark.slow
@pytest.mark.allowed_skip("the Secret Service is what Linux desktops have")
@pytest.mark.skipif(
    not (shutil.which("dbus-run-session") and shutil.which("gnome-keyring-daemon")),
    reason="dbus-run-session or gnome-keyring-daemon is not installed",
)
def test_a_real_keyring_keeps_and_forgets_it(tmp_path: Path) -> None:
    assert _played(SCENE, tmp_path).endswith("kept and forgotten")


@pytest.mark.slow
@pytest.mark.allowed_skip("the Secret Service is what Linux desktops have")
@pytest.mark.skipif(
    not (shutil.which("dbus-run-session") and shutil.which("gnome-keyring-daemon")),
    reason="dbus-run-session or gnome-keyring-daemon is not installed",
)
def test_a_real_keyring_that_falls_silent_ends_the_call(tmp_path: Path) -> None:
    assert _played(SILENT, tmp_path).endswith("said")


def _played(scene: str, folder: Path) -> str:
    """What a script says, with a keyring of its own that is open."""
    script = folder / "scene.py"
    script.write_text(scene)
    inside = f'printf secret | gnome-keyring-daemon --unlock --components=secrets >/dev/null && "{sys.executable}" '
    inside += f'"{script}" "{folder}"'
    home = {"HOME": str(folder), "XDG_DATA_HOME": str(folder / "data"), "XDG_RUNTIME_DIR": str(folder)}
    folder.chmod(0o700)
    done = subprocess.run(
        ["dbus-run-session", "--", "sh", "-c", inside],
        env={**os.environ, **home, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()

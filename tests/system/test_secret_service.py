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


@pytest.mark.slow
@pytest.mark.allowed_skip("the Secret Service is what Linux desktops have")
@pytest.mark.skipif(
    not (shutil.which("dbus-run-session") and shutil.which("gnome-keyring-daemon")),
    reason="dbus-run-session or gnome-keyring-daemon is not installed",
)
def test_a_real_keyring_keeps_and_forgets_it(tmp_path: Path) -> None:
    script = tmp_path / "scene.py"
    script.write_text(SCENE)
    inside = f'printf secret | gnome-keyring-daemon --unlock --components=secrets >/dev/null && "{sys.executable}" '
    inside += f'"{script}" "{tmp_path}"'
    home = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data"), "XDG_RUNTIME_DIR": str(tmp_path)}
    tmp_path.chmod(0o700)
    done = subprocess.run(
        ["dbus-run-session", "--", "sh", "-c", inside],
        env={**os.environ, **home, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.strip().endswith("kept and forgotten"), done.stderr

"""Tests run in a home full of a user's files, and read, write or ask for none of them."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.home import fetching, own_environment

ROOT = Path(__file__).resolve().parents[1]
REPRESENTATIVE = (
    "tests/cli/test_cli.py",
    "tests/gui/home",
    "tests/models",
    "tests/system",
    "tests/view",
    "tests/worker/hosts/test_choice.py",
    "tests/worker/test_main.py",
    "tests/worker/test_recovery.py",
)
"""What looks for models, settings, keys, buses, proxies and displays, in this process and in workers and hosts."""
WRITES = re.compile(
    r"(?:\b(?:creat|mkdir|mknod|rename|unlink|rmdir|symlink|link|truncate|chmod|chown|utimensat)\w*\(|O_WRONLY|O_RDWR|O_CREAT)"
)
EARLIER = re.compile(r"/\.(?:inputrc|terminfo)\"")
"""What pytest loads for its debugger, before the first line of ours, looks whether there is one."""
PROGRAMS = ("/tmp/.X", "/tmp/dbus-", "/var/lib/xkb/")
"""Sockets and locks of displays and buses that tests start."""
PATHS = re.compile(r'(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"')


def a_users_environment(home: Path) -> dict[str, str]:
    """A home with all that a test could stumble over, and the variables that lead there."""
    for name, text in {
        ".local/share/sapo-desktop/settings.toml": "threads = not a number",
        ".local/share/sapo-desktop/wishes.json": "{",
        ".local/share/sapo-desktop/models/smollm2-135m/config.json": "{",
        ".local/share/sapo-desktop/models/smollm2-135m/model.safetensors": "no weights",
        ".local/share/keyrings/login.keyring": "locked",
        ".cache/huggingface/token": "hf_of_the_user",
        ".cache/huggingface/hub/models--a--b/refs/main": "0",
        ".cache/sapo-desktop/wheels/none": "",
        ".config/python_keyring/keyringrc.cfg": "[backend]\ndefault-keyring=nobodys.Keyring",
        ".config/pip/pip.conf": "[global]\nindex-url = http://127.0.0.1:9/",
        ".config/autostart/sapo-desktop.desktop": "[Desktop Entry]",
        ".Xauthority": "",
    }.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    folders = {
        "XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share", "XDG_CACHE_HOME": ".cache",
        "XDG_RUNTIME_DIR": "", "HF_HOME": ".cache/huggingface", "HF_HUB_CACHE": ".cache/huggingface/hub",
        "XAUTHORITY": ".Xauthority", "MPLCONFIGDIR": ".config",
    }  # fmt: skip
    return {
        **{name: str(home / folder) for name, folder in {"HOME": "", "USERPROFILE": "", **folders}.items()},
        "DBUS_SESSION_BUS_ADDRESS": f"unix:path={home}/bus",
        "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={home}/bus",
        "PYTHON_KEYRING_BACKEND": "nobodys.Keyring",
        "SAPO_PASSPHRASE": "of the user",
        "SAPO_REMOTE_KEY": "of the user",
        "HF_TOKEN": "hf_of_the_user",
        "HF_ENDPOINT": "http://127.0.0.1:9",
        "HTTPS_PROXY": "socks9://127.0.0.1:9",
        "ALL_PROXY": "socks9://127.0.0.1:9",
        "DISPLAY": ":77",
        "WAYLAND_DISPLAY": "wayland-77",
        "QT_QPA_PLATFORM": "nothing",
        "LANG": "de_DE.UTF-8",
        "LANGUAGE": "de",
        "NO_COLOR": "1",
        "COLUMNS": "20",
        "PIP_INDEX_URL": "http://127.0.0.1:9/",
    }


@pytest.fixture
def user(tmp_path: Path) -> dict[str, str]:
    return a_users_environment(tmp_path / "home of a user")


@pytest.fixture
def scratch() -> Iterator[Path]:
    """A short path: sockets lie below it."""
    with tempfile.TemporaryDirectory(prefix="sapo-") as name:
        yield Path(name)


def test_nothing_of_the_users_environment_is_left(user: dict[str, str], tmp_path: Path) -> None:
    own = own_environment({**user, "PATH": os.environ["PATH"]}, tmp_path / "own")
    assert own["PATH"] == os.environ["PATH"]
    shared = {name for name, value in user.items() if own.get(name) == value}
    assert not shared, "only the path of programs and the like are kept"


def test_packages_are_fetched_where_the_user_fetches_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    user = {"PIP_INDEX_URL": "http://mirror.invalid/", "https_proxy": "http://proxy.invalid", "HOME": "/home/of"}
    monkeypatch.setattr(os, "environ", own_environment(user, tmp_path / "own"))
    assert "PIP_INDEX_URL" not in os.environ
    found = fetching()
    assert {name: found[name] for name in ("PIP_INDEX_URL", "https_proxy")} == {
        name: user[name] for name in ("PIP_INDEX_URL", "https_proxy")
    }
    assert found["PIP_CONFIG_FILE"] == "/home/of/.config/pip/pip.conf"


@pytest.mark.slow
@pytest.mark.allowed_skip("strace is for Linux")
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_no_test_touches_what_is_outside(user: dict[str, str], scratch: Path, tmp_path: Path) -> None:
    home, trace = Path(user["HOME"]), tmp_path / "trace"
    trace.mkdir()
    env = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(scratch), **user}
    strace = ["strace", "-ff", "-qq", "-y", "--seccomp-bpf", "-e", "trace=%file,connect", "-o", str(trace / "of")]
    control = f"open({str(home / '.Xauthority')!r}); open({str(tmp_path / 'outside')!r}, 'w')"
    subprocess.run([*strace, sys.executable, "-I", "-c", control], env=env, check=True, timeout=60)
    assert any(str(home) in line for line in calls(trace)), "or else nothing would be found"
    assert [*written_outside(trace, scratch)] == [str(tmp_path / "outside")]

    shutil.rmtree(trace)
    trace.mkdir()
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *REPRESENTATIVE]
    tests += ["--deselect", "tests/system/test_processes.py::test_suspend_and_resume"]  # a traced process never stops
    run = subprocess.run([*strace, *tests], cwd=ROOT, env=env, capture_output=True, text=True, timeout=1100)
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-2000:]
    touched = [line for line in calls(trace) if str(home) in line and not EARLIER.search(line)]
    assert not touched, "".join(touched[:20])
    assert not (found := sorted(set(written_outside(trace, scratch)))), found[:20]


def calls(trace: Path) -> Iterator[str]:
    """What the processes asked of the kernel, each line a call; strace keeps a file for each thread."""
    for path in trace.iterdir():
        with path.open(errors="replace") as lines:
            yield from lines


def written_outside(trace: Path, scratch: Path) -> Iterator[str]:
    """Paths that were made, changed or removed, but for the tests' own folders and the checkout's caches."""
    inside = (str(scratch), str(ROOT), "/dev/", "/proc/", *PROGRAMS)
    for line in calls(trace):
        if not WRITES.search(line) or " = -1 " in line:
            continue
        named = PATHS.findall(line.partition(" = ")[0])
        for folder, name in named[-1:] if line.startswith("symlink") else named:
            path = str(Path(folder, name))
            if path.startswith("/") and not path.startswith(inside):
                yield path

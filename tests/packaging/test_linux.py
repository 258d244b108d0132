"""The application's folder and Linux packages: built, installed in unusual places, started, removed."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from installers.llama import find_wheel, wheel_folders
from tests.display import a_display, can_be_had
from tests.home import fetching

ROOT = Path(__file__).resolve().parents[2]
TOOLS = {"apt-get": "apt", "dpkg-deb": "dpkg", "patchelf": "patchelf", "xz": "xz-utils", "rpmbuild": "rpm"} | {
    tool: tool for tool in ("rpm2cpio", "cpio")
}
PATIENCE = 300.0
EXAMINE = """
import json
from sapo_desktop.core.resources import resource
from sapo_desktop.tasks.catalogue import load_catalogue
from sapo_desktop.tasks.examiner import Examiner
examiner = Examiner(load_catalogue(resource("tasks.toml")))
for task in examiner.catalogue.tasks():
    for seed in (1, 2):
        truth = examiner.truth(task, seed)
        mark = examiner.mark(task, seed, f"<answer>{truth}</answer>")
        print(json.dumps([task, seed, examiner.question(task, seed).text, truth, mark.verdict]))
"""
LOOK = """
import pkgutil
import transformers, huggingface_hub, reasoning_gym, rich.progress, PySide6.QtSvg, PySide6.QtNetwork
import sapo_desktop.gui as gui
for module in pkgutil.walk_packages(gui.__path__, "sapo_desktop.gui."):
    __import__(module.name)
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.allowed_skip("packages for Linux are made with Python 3.11 on a Debian PC"),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the payload and the packages of it."""
    missing = [package for tool, package in TOOLS.items() if shutil.which(tool) is None]
    if missing or sys.version_info[:2] != (3, 11) or os.uname().machine != "x86_64":
        pytest.skip(f"apt-get install {' '.join(missing)}" if missing else "needs Python 3.11 on x86-64")
    folder = tmp_path_factory.mktemp("made")
    script(ROOT / "packaging" / "payload" / "build.py", folder / "payload")
    script(ROOT / "packaging" / "linux" / "package.py", folder / "payload", folder, "--level", "0")
    yield folder
    shutil.rmtree(folder)


def script(path: Path, *words: object) -> None:
    line = [sys.executable, str(path), *map(str, words)]
    done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=1000, env=fetching())
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def nobody(home: Path, **more: str) -> dict[str, str]:
    """The environment of a user without Python, compiler or anything of ours, but a Python set-up that misleads."""
    home.mkdir(exist_ok=True)
    return {"HOME": str(home), "PATH": "/usr/bin:/bin", "PYTHONPATH": "/nowhere", "PYTHONHOME": "/nowhere", **more}


def run(*line: object, env: dict[str, str], **more: object) -> subprocess.CompletedProcess[str]:
    words = [str(word) for word in line]
    return subprocess.run(words, env=env, capture_output=True, text=True, timeout=PATIENCE, **more)  # type: ignore[call-overload,no-any-return]


def answers(program: Path, env: dict[str, str]) -> None:
    assert run(program, "--version", env=env).stdout.startswith("sapo-desktop ")
    unreachable = {"HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9"}
    answer = run(program, "ask", "What is 17 + 25?", env=env | unreachable)
    if find_wheel(wheel_folders(ROOT)):
        assert answer.returncode == 0 and answer.stdout.strip() not in ("", "(nothing)"), answer.stderr
    else:
        assert answer.returncode == 2 and "Get the engine pack" in answer.stderr


def starts_and_answers(program: Path, home: Path) -> None:
    """Without a network: the version, an answer, and a window that a second start finds."""
    env = nobody(home)
    answers(program, env)
    engine = run(program, "engine", env=env)
    assert re.search(r"sapo-desktop['\"]? engine install", engine.stdout), engine.stdout
    if not can_be_had():
        pytest.skip("apt-get install xvfb")
    with a_display() as display:
        shown = env | {name: display[name] for name in ("DISPLAY", "QT_QPA_PLATFORM")}
        window = subprocess.Popen([str(program)], env=shown, stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + PATIENCE
        # Its worker is started once its first picture stands.
        while not is_up(program, env) and window.poll() is None and time.monotonic() < until:
            time.sleep(0.5)
        assert window.poll() is None, window.stderr.read() if window.stderr else ""
        assert is_up(program, env)
        second = run(program, "sapo://join?swarm=00&peer=x", env=shown)
        assert second.returncode == 0, second.stderr
        window.send_signal(signal.SIGTERM)
        assert window.wait(PATIENCE) == 0


def is_up(program: Path, env: dict[str, str]) -> bool:
    """Whether the window's worker answers, or, in a package made without llama.cpp, said that it needs an engine."""
    if find_wheel(wheel_folders(ROOT)):
        return run(program, "status", env=env).returncode == 0
    log = Path(env["HOME"]) / ".local" / "share" / "sapo-desktop" / "logs" / "window.log"
    return log.exists() and "Get the engine pack" in log.read_text()


def test_the_list_of_contents_names_what_is_there(made: Path) -> None:
    payload = made / "payload"
    packages = payload / "python" / "lib" / "python3.11" / "dist-packages"
    assert (packages / "PySide6").is_dir() and not (packages / "torch").exists()
    listed = json.loads((payload / "sbom.json").read_text())
    names = {component["name"].lower().replace("_", "-") for component in listed["components"]}
    assert {"pyside6-essentials", "reasoning-gym", "tokenizers", "pip", "python3.11-minimal", "libssl3"} <= names
    assert all(component["version"] for component in listed["components"])
    licences = {path.name.partition("-")[0].partition("_")[0].lower() for path in (payload / "licences").iterdir()}
    assert {"sapo", "inter", "numpy", "debian", "transformers"} <= licences


def test_its_examiner_asks_and_marks_as_a_clones_does(made: Path) -> None:
    """Though what other tasks of reasoning_gym need, and what would draw, was left out."""
    packages = made / "payload" / "python" / "lib" / "python3.11" / "dist-packages"
    assert not list(packages.glob("matplotlib*"))
    env = {"PATH": os.defpath, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    ours = run(made / "payload" / "python" / "bin" / "python3.11", "-c", EXAMINE, env=env, cwd=made)
    theirs = run(sys.executable, "-c", EXAMINE, env=env | {"PYTHONPATH": str(ROOT)}, cwd=made)
    assert ours.returncode == 0 and ours.stdout == theirs.stdout, ours.stderr
    lines = [json.loads(line) for line in ours.stdout.splitlines()]
    assert len(lines) > 100 and {line[-1] for line in lines} == {"solved"}


def test_every_page_finds_what_it_loads(made: Path) -> None:
    env = {"PATH": os.defpath, "QT_QPA_PLATFORM": "offscreen", "PYTHONDONTWRITEBYTECODE": "1"}
    loaded = run(made / "payload" / "python" / "bin" / "python3.11", "-c", LOOK, env=env, cwd=made)
    assert loaded.returncode == 0, loaded.stderr


def test_nothing_of_the_machine_that_built_it_is_in_it(made: Path) -> None:
    own = [str(ROOT).encode(), str(Path(sys.prefix)).encode()]
    assert list((made / "payload").rglob("direct_url.json")) == []
    for path in (made / "payload").rglob("*"):
        if path.is_file() and not path.is_symlink() and path.stat().st_size < 30_000_000:
            content = path.read_bytes()
            assert not any(one in content for one in own), path


def test_the_run_file_installs_for_one_user_and_leaves_as_it_came(made: Path, tmp_path: Path) -> None:
    home = tmp_path / "Jürgens Ordner"
    env = nobody(home)
    (file,) = made.glob("*.run")
    for _ in ("a first time", "over itself"):
        done = run("sh", file, env=env)
        assert done.returncode == 0, done.stderr
    share = home / ".local" / "share"
    entry = (share / "applications" / "sapo-desktop.desktop").read_text()
    assert f'Exec="{share}/sapo-desktop-app/sapo-desktop" %u' in entry and "x-scheme-handler/sapo" in entry
    starts_and_answers(home / ".local" / "bin" / "sapo-desktop", home)
    kept = run(home / ".local" / "bin" / "sapo-desktop-uninstall", env=env, input="n\n")
    assert "This cannot be undone" in kept.stdout and "Kept: " in kept.stdout
    assert (share / "sapo-desktop" / "history.sqlite").exists() and not (share / "sapo-desktop-app").exists()
    assert [path.name for path in home.rglob("*sapo*") if ".cache" not in path.parts] == ["sapo-desktop"]


def test_a_damaged_run_file_installs_nothing(made: Path, tmp_path: Path) -> None:
    (file,) = made.glob("*.run")
    cut = tmp_path / "cut.run"
    with file.open("rb") as source:
        cut.write_bytes(source.read(3_000_000))
    done = run("sh", cut, env=nobody(tmp_path / "home"))
    assert done.returncode == 1 and "damaged: fetch it again" in done.stderr
    assert list((tmp_path / "home").iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="dpkg installs as root")
def test_the_package_is_installed_started_and_purged(made: Path, tmp_path: Path) -> None:
    (deb,) = made.glob("*.deb")
    root = tmp_path / "root"
    (root / "var" / "lib" / "dpkg" / "info").mkdir(parents=True)
    (root / "var" / "lib" / "dpkg" / "status").touch()
    dpkg = ["dpkg", f"--root={root}", "--force-depends", "--log=/dev/null"]
    env = dict(os.environ)
    assert run(*dpkg, "--install", deb, env=env).returncode == 0
    assert (root / "usr" / "share" / "icons" / "hicolor" / "256x256" / "apps" / "sapo-desktop.png").exists()
    starts_and_answers(root / "usr" / "bin" / "sapo-desktop", tmp_path / "home")
    gone = run(root / "usr" / "bin" / "sapo-desktop-uninstall", "--delete", env=nobody(tmp_path / "home"))
    assert "sudo apt remove" in gone.stdout and "history are gone" in gone.stdout, gone.stderr
    assert run(*dpkg, "--purge", "sapo-desktop", env=env).returncode == 0
    assert [path for path in root.rglob("*sapo*") if "dpkg" not in path.parts] == []


def test_the_rpm_holds_the_same_tree_and_runs(made: Path, tmp_path: Path) -> None:
    (rpm,), (deb,) = made.glob("*.rpm"), made.glob("*.deb")
    env = dict(os.environ)
    held = run("rpm", "-qp", "--qf", "[%{FILENAMES}\\n]", rpm, env=env).stdout.splitlines()
    other = run("bash", "-c", 'dpkg-deb --fsys-tarfile "$1" | tar -t', "-", deb, env=env).stdout.splitlines()
    ours = {name.strip("./") for name in other if "/sapo-desktop/" in name or "/applications/" in name}
    ours = {name for name in ours if "/doc/" not in name and not name.endswith("/applications")}
    assert len(ours) > 1000 and ours <= {name.strip("/") for name in held}
    assert "libxcb-cursor.so.0()(64bit)" in run("rpm", "-qpR", rpm, env=env).stdout
    root = tmp_path / "root"
    root.mkdir()
    unpack = 'rpm2cpio "$1" | cpio --extract --make-directories --quiet'
    assert run("bash", "-o", "pipefail", "-c", unpack, "-", rpm, env=env, cwd=root).returncode == 0
    answers(root / "usr" / "bin" / "sapo-desktop", nobody(tmp_path / "home"))

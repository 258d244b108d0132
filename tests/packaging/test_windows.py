"""The Windows installer, run under wine with a small application: what it installs, replaces, refuses and removes.

No Windows interpreter comes along: in its place stands a program that writes down how it was started.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = {"makensis": "nsis", "wine": "wine", "wineserver": "wine64"}
PYTHON = r"""
Unicode true
Target amd64-unicode
RequestExecutionLevel user
OutFile "python.exe"
SilentInstall silent
Section
    FileOpen $0 "C:\said.txt" w
    FileWriteUTF16LE $0 "$CMDLINE"
    FileClose $0
    ReadEnvStr $1 SAPO_TEST_MILLISECONDS
    Sleep $1
SectionEnd
"""
EVERYWHERE = ("app/größe.py", "licences/one", "python/python.exe", "python/pythonw.exe", "sbom.json")
PUT = {*EVERYWHERE, "sapo-desktop.exe", "sapo-desktop-window.exe", "sapo-desktop.ico", "uninstall.exe"}
LINK = "sapo://join?swarm=00&peer=wss://größe:1"

pytestmark = [pytest.mark.slow, pytest.mark.allowed_skip("installers for Windows are tried where wine is")]


class Windows:
    """A wine prefix."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.c = folder / "drive_c"
        off = "mscoree,mshtml,winemenubuilder.exe="
        self.env = {**os.environ, "WINEPREFIX": str(folder), "WINEDEBUG": "-all", "WINEDLLOVERRIDES": off}
        self.env |= {"DISPLAY": "", "LC_ALL": "C.UTF-8"}
        self.run("wineboot", "-i")
        self.pretend("win10")
        self.user = next(path for path in (self.c / "users").iterdir() if path.name != "Public")
        self.data = self.user / "AppData" / "Local" / "sapo-desktop"

    def run(self, *words: object, **env: str) -> int:
        """The exit code, once everything has ended that was started."""
        code = self.start(*words, **env).wait(300)
        subprocess.run(["wineserver", "-w"], env=self.env, timeout=300, check=True)
        return code

    def pretend(self, version: str) -> None:
        """Be another Windows. winecfg, which writes the same, wants a screen and fails now and then."""
        assert self.run("reg", "add", r"HKCU\Software\Wine", "/v", "Version", "/d", version, "/f") == 0

    def start(self, *words: object, **env: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(["wine", *map(str, words)], env=self.env | env, stdin=subprocess.DEVNULL)

    def registry(self) -> dict[str, list[str]]:
        """Key -> values, of the user's and the computer's part, without times, empty keys and wine's own notes."""
        keys: dict[str, list[str]] = {}
        for name in ("user.reg", "system.reg"):
            text = (self.folder / name).read_text(encoding="utf-8", errors="replace")
            for block in text.split("\n\n"):
                head, *lines = block.splitlines() or [""]
                values = [line for line in lines if not line.startswith("#time")]
                if values and head.startswith("[Software") and "\\\\Wine" not in head and "Windows NT" not in head:
                    keys[f"{name} {head.partition(']')[0]}"] = values
        return keys

    def files(self) -> set[str]:
        found = (path.relative_to(self.c).as_posix() for path in self.c.rglob("*"))
        return {path for path in found if "/Temp" not in path and path != "said.txt"}

    def said(self) -> str:
        return (self.c / "said.txt").read_text(encoding="utf-16-le")


@pytest.fixture(scope="module")
def setups(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Installers of an older and a newer version."""
    if missing := sorted({package for tool, package in TOOLS.items() if shutil.which(tool) is None}):
        pytest.skip(f"apt-get install {' '.join(missing)}")
    folder = tmp_path_factory.mktemp("setups")
    (folder / "python.nsi").write_text(PYTHON)
    subprocess.run(["makensis", "-V1", "python.nsi"], cwd=folder, check=True)
    payload = folder / "payload"
    for name in EVERYWHERE:
        (payload / name).parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".exe"):
            shutil.copyfile(folder / "python.exe", payload / name)
        else:
            (payload / name).write_text("x = 1\n")
    old, new = (_pack(payload, folder, version) for version in ("0.1.0", "0.2.0"))
    return old, new


def _pack(payload: Path, out: Path, version: str) -> Path:
    code = (
        "import sys; from pathlib import Path; sys.path[:0] = sys.argv[1:4]; import package, launcher; "
        "from platforms import PLATFORMS; from PySide6.QtGui import QGuiApplication; app = QGuiApplication([]); "
        "payload, out = Path(sys.argv[4]), Path(sys.argv[5]); launcher.write(payload, PLATFORMS['windows']); "
        "print(package.make(payload, out, 0, sys.argv[6]))"
    )
    (payload / "app" / f"only {version}.py").write_text(version)
    folders = [str(ROOT / "packaging" / name) for name in ("windows", "payload", "")]
    line = [ROOT / ".venv" / "bin" / "python", "-c", code, *folders, payload, out, version]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    (payload / "app" / f"only {version}.py").unlink()
    return Path(done.stdout.strip().splitlines()[-1])


@pytest.fixture(scope="module")
def windows(setups: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Windows]:
    yield Windows(tmp_path_factory.mktemp("wine"))


def test_for_one_user_it_comes_starts_is_replaced_and_goes(windows: Windows, setups: tuple[Path, Path]) -> None:
    old, new = setups
    files, registry = windows.files(), windows.registry()
    assert windows.run(old, "/S", "/CurrentUser", "/Autostart") == 0
    place = windows.user / "AppData" / "Local" / "Programs" / "SAPO Desktop"
    put = {path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file()}
    assert put == PUT | {"app/only 0.1.0.py"}
    said = "\n".join(line for key, lines in windows.registry().items() for line in (key, *lines))
    assert said.count("sapo-desktop-window.exe") == 2 and '--tray"' in said  # the link's, the login's
    assert '"DisplayVersion"="0.1.0"' in said and "system.reg [Software\\\\Classes\\\\sapo" not in said
    assert [path.name for path in windows.user.rglob("*.lnk")] == ["SAPO Desktop.lnk"]

    assert windows.run(place / "sapo-desktop-window.exe", LINK, PYTHONHOME="C:\\nowhere") == 0
    heard = windows.said()
    assert "\\python\\pythonw.exe" in heard and " -I -X utf8 " in heard and heard.rstrip('\0" ').endswith(LINK)
    assert windows.run(place / "sapo-desktop.exe", "--version") == 0
    assert "\\python\\python.exe" in windows.said()

    (place / "mine.txt").write_text("mine")
    (windows.data / "engine").mkdir(parents=True)
    (windows.data / "history.sqlite").write_text("rounds")
    assert windows.run(new, "/S") == 0
    assert {path.name for path in (place / "app").iterdir()} == {"größe.py", "only 0.2.0.py"}
    assert (place / "mine.txt").exists() and not (place / "new").exists()

    (place / "mine.txt").unlink()
    assert windows.run(place / "uninstall.exe", "/S") == 0
    assert windows.registry() == registry
    left = windows.data.relative_to(windows.c).as_posix()
    assert windows.files() - files == {left, f"{left}/history.sqlite", place.parent.relative_to(windows.c).as_posix()}


def test_for_everybody_it_lies_among_the_programs(windows: Windows, setups: tuple[Path, Path]) -> None:
    old, _ = setups
    files, registry = windows.files(), windows.registry()
    assert windows.run(old, "/S", "/AllUsers") == 0
    place = windows.c / "Program Files" / "SAPO Desktop"
    assert (place / "python" / "python.exe").exists()
    assert any(key.startswith("system.reg [Software\\\\Classes\\\\sapo") for key in windows.registry())
    assert windows.run(place / "uninstall.exe", "/S", "/Delete") == 0
    assert windows.registry() == registry
    assert windows.files() - files == set() and not windows.data.exists()


def test_nothing_is_touched_while_it_runs(windows: Windows, setups: tuple[Path, Path]) -> None:
    old, new = setups
    place = windows.c / "Jürgens Ordner"
    where = ("C:\\Jürgens", "Ordner")  # NSIS takes it without quotes
    assert windows.run(old, "/S", "/CurrentUser", f"/D={where[0]}", where[1]) == 0
    before = {path: path.stat().st_mtime_ns for path in place.rglob("*")}
    (windows.c / "said.txt").unlink(missing_ok=True)
    running = windows.start(place / "sapo-desktop.exe", SAPO_TEST_MILLISECONDS="600000")
    until = time.monotonic() + 60
    while not (windows.c / "said.txt").exists() and time.monotonic() < until:
        time.sleep(0.1)
    assert windows.start(new, "/S", "/CurrentUser", f"/D={where[0]}", where[1]).wait(60) == 2
    assert windows.start(place / "uninstall.exe", "/S", f"_?={where[0]}", where[1]).wait(60) == 2
    assert {path: path.stat().st_mtime_ns for path in place.rglob("*")} == before
    subprocess.run(["wineserver", "-k"], env=windows.env, timeout=60, check=True)
    running.wait(60)
    assert windows.run(place / "uninstall.exe", "/S") == 0
    assert not place.exists()


def test_an_old_windows_is_refused(windows: Windows, setups: tuple[Path, Path]) -> None:
    files = windows.files()
    windows.pretend("win7")
    assert windows.run(setups[0], "/S", "/CurrentUser") == 2
    windows.pretend("win10")
    assert windows.files() == files

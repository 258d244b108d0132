"""The start of a command imports no slow library, and a closed pipe is no failure."""

import os
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

SLOW = (
    "{'torch', 'transformers', 'reasoning_gym', 'PySide6', 'rich', 'websockets', 'numpy', 'nacl', 'keyring', 'psutil', "
    "'tomlkit'}"
)

DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")


def python(code: str, *words: str) -> subprocess.CompletedProcess[str]:
    nowhere = {key: value for key, value in os.environ.items() if key not in DISPLAYS}
    return subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, timeout=60, check=False, env=nowhere
    )


def loaded_after(words: list[str]) -> str:
    code = (
        "import sys\nfrom sapo_desktop.cli import main\n"
        f"try:\n    main({words!r})\nexcept SystemExit:\n    pass\n"
        f"print(sorted({SLOW} & set(sys.modules)), file=sys.stderr)"
    )
    return python(code).stderr.splitlines()[-1]


@pytest.mark.parametrize("words", [["--help"], ["--tray"], ["--version"], ["run", "--help"], ["stauts"]])
def test_help_and_mistakes_import_nothing_slow(words: list[str]) -> None:
    assert loaded_after(words) == "[]"


def test_status_without_a_node_imports_no_engine_and_no_view(tmp_path: Path) -> None:
    loaded = loaded_after(["status", "--data", str(tmp_path)])
    assert not {"torch", "transformers", "reasoning_gym", "rich", "numpy"} & set(
        loaded.strip("[]").replace("'", "").split(", ")
    )


def printing_to(stdout: int | IO[str], *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sapo_desktop", *words]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=60, check=False)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_closed_pipe_is_quiet(monkeypatch: pytest.MonkeyPatch, unbuffered: str) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    reader, writer = os.pipe()
    os.close(reader)
    done = printing_to(writer, "--help")
    os.close(writer)
    assert done.stderr == ""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/dev/full is Linux's")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_behind_the_output_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unbuffered: str
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    with Path("/dev/full").open("w") as full:
        done = printing_to(full, "settings", "get", "seed", "--data", str(tmp_path))
    assert (done.returncode, done.stderr) == (1, "The output could not be written: No space left on device.\n")


@pytest.mark.skipif(sys.platform == "win32", reason="descriptors are closed by a shell")
@pytest.mark.parametrize(
    ("closed", "words", "code", "said"),
    [
        (">&-", ["settings", "get", "seed"], 0, ""),
        ("2>&-", ["stauts"], 2, ""),
        ("<&-", ["models", "token", "set"], 2, "pass it on standard input"),
    ],
)
def test_a_closed_stream_is_no_bug(tmp_path: Path, closed: str, words: list[str], code: int, said: str) -> None:
    line = ["sh", "-c", f'"$0" -m sapo_desktop "$@" {closed}', sys.executable, *words, "--data", str(tmp_path)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code
    assert said in done.stderr and "bug" not in done.stderr

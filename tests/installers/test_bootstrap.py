"""The bootstrap as a user runs it: real processes, a real environment, small packages."""

import ast
import os
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from installers import bootstrap
from installers.flavour import choose

from .conftest import ROOT, Checkout, write_source, write_wheel

unix_only = pytest.mark.skipif(os.name == "nt", reason="shell scripts and signals of Unix")


CHOSEN = choose(platform.system(), platform.machine())
RAN = "import os, pathlib; pathlib.Path(os.environ['HOME'], 'ran').touch()"


@pytest.mark.slow
def test_a_node_starts_from_a_path_with_spaces_and_a_second_start_needs_nothing(checkout: Checkout) -> None:
    first = checkout.start("run", "--silo", "--rounds", "3")
    assert first.returncode == 0, first.stderr
    assert first.stdout.startswith("node run --silo --rounds 3 ")
    assert str(checkout.root / ".venv") in first.stdout
    assert "[1/" in first.stderr and "Set up in" in first.stderr

    checkout.wheels.rename(checkout.wheels.with_name("gone"))
    checkout.wheels.mkdir()
    second = checkout.start("run")
    assert second.returncode == 0 and second.stdout.startswith("node /"), "the product chooses window or terminal"
    assert second.stderr == ""


@pytest.mark.slow
@unix_only
def test_a_relay_needs_nothing_that_learns_and_leaves_the_rest_to_a_node(checkout: Checkout) -> None:
    small = write_wheel(checkout.wheels, "small", "1.0")
    lock = checkout.lock.with_name("relay.txt")
    lock.write_text(f"{lock.read_text()}small==1.0 \\\n    --hash=sha256:{small}\n")
    relay = checkout.start("relay", "--listen", "x")
    assert relay.stdout.startswith("node relay --listen x"), relay.stderr
    installed = "import importlib.util as u; print([n for n in ('small', 'tiny', 'torch') if u.find_spec(n)])"
    python = checkout.root / ".venv" / "bin" / "python"
    assert subprocess.check_output([python, "-c", installed], text=True) == "['small']\n"
    assert "Set up in" in checkout.start("run", "--silo").stderr
    again = checkout.start("relay")
    assert again.stdout.startswith("node relay") and "Set up in" in again.stderr, (
        "a node's set-up leaves no other stamp"
    )
    assert "Set up in" not in checkout.start("run", "--silo").stderr, "a relay's leaves the node's alone"


@pytest.mark.slow
def test_without_a_network_a_sentence_says_so_and_the_next_start_goes_on(checkout: Checkout) -> None:
    dead = {"PIP_NO_INDEX": "0", "PIP_FIND_LINKS": "", "PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_RETRIES": "1"}
    failed = checkout.start("setup", **dead)
    assert failed.returncode == 1
    assert "could not be reached" in failed.stderr and "Traceback" not in failed.stderr
    made = (checkout.root / ".venv" / "pyvenv.cfg").stat().st_mtime_ns

    assert checkout.start("setup").returncode == 0
    assert (checkout.root / ".venv" / "pyvenv.cfg").stat().st_mtime_ns == made


@pytest.mark.slow
@pytest.mark.parametrize("changed", ["tiny", "torch", "backend", "from_source"])
def test_a_changed_file_is_refused(checkout: Checkout, changed: str) -> None:
    path = next(checkout.wheels.glob(f"{changed}-1*"), checkout.wheels / "torch-2.13.0+cpu-py3-none-any.whl")
    if path.suffix == ".whl":
        write_wheel(checkout.wheels, *path.name.split("-")[:2], RAN)
    else:
        write_source(checkout.wheels, "from_source", "1.0", RAN)
    failed = checkout.start("setup")
    if changed == "torch":
        assert "plain build" in failed.stderr
    else:
        assert failed.returncode == 1 and "hash differs" in failed.stderr, failed.stderr
    assert not (checkout.root.parent / "ran").exists()


@pytest.mark.slow
@pytest.mark.skipif(CHOSEN.plain is None, reason="this kind of computer has no other build")
@pytest.mark.parametrize("constraint", ["", "torch<=2.14.1"])
def test_without_its_build_of_torch_the_plain_one_is_taken(checkout: Checkout, constraint: str) -> None:
    """pip says "no matching distribution", and with a constraint that names torch "ResolutionImpossible"."""
    (checkout.wheels / "torch-2.13.0+cpu-py3-none-any.whl").unlink()
    limits = checkout.wheels / "constraints"
    limits.write_text(constraint)
    done = checkout.start("run", PIP_CONSTRAINT=str(limits))
    assert done.returncode == 0 and done.stdout.startswith("node"), done.stderr
    asked, taken = (done.stderr.index(words) for words in ("asking PyTorch's own index", "GB to download"))
    assert asked < taken < done.stderr.index("Packages: done")
    python = checkout.root / ".venv" / "bin" / "python"
    installed = "from importlib.metadata import version; print(version('torch'), version('tiny'))"
    assert subprocess.check_output([python, "-c", installed], text=True) == "2.13.0 1.0\n"
    assert checkout.start("run").stderr == "", "and a second start needs nothing"


@pytest.mark.slow
def test_what_builds_a_package_is_checked_too(checkout: Checkout) -> None:
    """pip would take the newest version of a build tool, from anywhere, and check no hash."""
    write_wheel(checkout.wheels, "backend", "2.0", RAN)
    done = checkout.start("setup")
    assert done.returncode == 0, done.stderr
    python = checkout.root / ".venv" / "bin" / "python"
    assert subprocess.check_output([python, "-c", "import from_source; print(from_source.NAME)"]) == b"from_source\n"
    assert not (checkout.root.parent / "ran").exists()


@pytest.mark.slow
@unix_only
@pytest.mark.parametrize("instant", ["pyvenv.cfg", "bin/python", "bin/pip", "lib/*/site-packages/tiny.py"])
def test_a_set_up_killed_in_the_middle_goes_on(checkout: Checkout, instant: str) -> None:
    child = subprocess.Popen(
        checkout.command("setup"), env=checkout.env, stderr=subprocess.DEVNULL, start_new_session=True
    )
    deadline = time.monotonic() + 120
    while not list((checkout.root / ".venv").glob(instant)) and time.monotonic() < deadline:
        time.sleep(0.005)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()

    finished = checkout.start("run", "--silo")
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.startswith("node run --silo ")


@pytest.mark.slow
@unix_only
def test_two_starts_at_once_take_turns(checkout: Checkout) -> None:
    both = [
        # From a folder that has a package of the same name: what is started is the checkout's own.
        subprocess.Popen(
            checkout.command("run", "--silo"),
            cwd=ROOT,
            env=checkout.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    ends = [child.communicate(timeout=300) for child in both]
    assert [child.returncode for child in both] == [0, 0]
    assert all(out.startswith(b"node run ") for out, _ in ends)
    assert sum(b"waiting for it" in err for _, err in ends) == 1


def test_wrong_usage_is_answered_with_the_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert bootstrap.main(["fly"]) == 2
    assert "bootstrap.py run" in capsys.readouterr().err


def test_the_first_file_is_understood_by_old_pythons() -> None:
    source = (ROOT / "installers" / "bootstrap.py").read_text(encoding="utf-8")
    assert ast.parse(source, feature_version=(3, 6)).body
    first_lines = [node for node in ast.parse(source).body if isinstance(node, ast.Import | ast.ImportFrom)]
    assert {getattr(node, "module", None) or node.names[0].name for node in first_lines} == {
        "os",
        "signal",
        "subprocess",
        "sys",
        "typing",
    }


@unix_only
def test_an_old_python_finds_a_newer_one_past_shims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, body in (("python3.13", "exit 127"), ("python3.12", 'echo "12 /opt/a python"')):
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert bootstrap.find_python() == "/opt/a python"


def test_an_old_python_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    assert bootstrap.main(["run"]) == 1
    said = capsys.readouterr().err
    assert "this is Python 3.9" in said and "apt install python3.11" in said


def test_pythons_of_the_microsoft_store_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        sys, "base_prefix", r"C:\Program Files\WindowsApps\PythonSoftwareFoundation.Python.3.11_qbz5n2kfra8p0"
    )
    assert bootstrap.main(["help"]) == 1
    said = capsys.readouterr().err
    assert "python.org" in said and "py installers" in said


@unix_only
def test_a_ctrl_c_that_both_get_is_heeded_by_the_command_alone() -> None:
    interrupt = f"import os, signal, sys; os.kill(os.getppid(), signal.{signal.SIGINT.name}); sys.exit(3)"
    before = signal.getsignal(signal.SIGINT)
    assert bootstrap.call_through([sys.executable, "-c", interrupt]) == 3
    assert signal.getsignal(signal.SIGINT) is before

import io
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from installers import environment
from installers.bootstrap import NEWEST
from installers.environment import alone, check_space, fingerprint, is_ready, remove_half_installed
from installers.flavour import FLAVOURS, RELAY
from installers.progress import Progress
from installers.tool import find_tool
from installers.trouble import SetupError

from .conftest import ROOT

CPU = FLAVOURS["linux-cpu"]
REQUIREMENTS = ROOT / "packaging" / "requirements"


@pytest.fixture
def ready(tmp_path: Path) -> Path:
    """A checkout whose stamp fits."""
    locks = tmp_path / "packaging" / "requirements"
    locks.mkdir(parents=True)
    for name in ("torch-linux-cpu", "linux-cpu", "sources", "relay", "pip", "test"):
        (locks / f"{name}.txt").write_text("a==1\n")
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "sapo-run.stamp").write_text(f"linux-cpu {fingerprint(tmp_path, 'run', CPU)}\n")
    return tmp_path


def test_a_fitting_stamp_is_recognised_for_its_purpose_only(ready: Path) -> None:
    assert is_ready(ready, "run")
    assert not is_ready(ready, "test") and not is_ready(ready, "relay")


@pytest.mark.parametrize(
    ("changed", "fits"), [("linux-cpu", False), ("torch-linux-cpu", False), ("sources", False), ("test", True)]
)
def test_a_lock_of_its_own_makes_the_stamp_stale_and_no_other(ready: Path, changed: str, fits: bool) -> None:
    (ready / "packaging" / "requirements" / f"{changed}.txt").write_text("a==2\n")
    assert is_ready(ready, "run") is fits


def test_another_python_makes_the_stamp_stale(ready: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 99, 0))
    assert not is_ready(ready, "run")


def test_a_moved_checkout_makes_the_stamp_stale(ready: Path) -> None:
    moved = ready.rename(ready.with_name("moved"))
    assert not is_ready(moved, "run")


@pytest.mark.parametrize("content", ["", "linux-cpu", "plan9-cpu 0", "linux-cpu 0 0"])
def test_a_damaged_stamp_is_no_stamp(ready: Path, content: str) -> None:
    (ready / ".venv" / "sapo-run.stamp").write_text(content)
    assert not is_ready(ready, "run")


def test_too_little_space_is_said_and_what_a_stopped_set_up_left_counts(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"needs 2\.5 GB .* and 1\.1 GB are free"):
        check_space(free_mb=1_000, present_mb=100, needed_mb=2_500, folder=tmp_path)
    check_space(free_mb=1_000, present_mb=1_600, needed_mb=2_500, folder=tmp_path)


def test_only_packages_with_their_last_file_count_as_installed(tmp_path: Path) -> None:
    packages = environment._site_packages(tmp_path)
    for name, files in (("whole", ("METADATA", "RECORD", "INSTALLER")), ("cut", ("METADATA", "RECORD"))):
        (packages / f"{name}-1.dist-info").mkdir(parents=True)
        for file in files:
            (packages / f"{name}-1.dist-info" / file).write_text("")
    remove_half_installed(tmp_path)
    assert [path.name for path in packages.iterdir()] == ["whole-1.dist-info"]


def test_the_checkout_is_found_from_its_environment_whatever_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python 3.11 and 3.12 read .pth files in the system's encoding."""
    root = tmp_path / "J\u00fcrgen"
    packages = environment._site_packages(root / ".venv")
    packages.mkdir(parents=True)
    monkeypatch.setattr(environment, "_works", lambda python: True)
    progress = Progress(io.StringIO(), 1, tmp_path / "log")
    environment._create(root, root / ".venv", find_tool(), progress, {}, [])
    (line,) = (packages / "sapo_desktop_checkout.pth").read_text(encoding="ascii").splitlines()
    assert (packages / line).resolve() == root


def test_a_second_set_up_waits_on_windows_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [PermissionError(13, "Permission denied")] * 2
    held = []

    def locking(descriptor: int, mode: str, size: int) -> None:
        assert (os.lseek(descriptor, 0, os.SEEK_CUR), mode, size) == (0, "LK_NBLCK", 1)
        if answers:
            raise answers.pop()
        held.append(descriptor)

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK="LK_NBLCK"))
    monkeypatch.setattr(environment.time, "sleep", lambda _: None)
    out = io.StringIO()
    with alone(tmp_path, out) as lock:
        assert held == [lock.fileno()]
    assert out.getvalue().count("waiting for it") == 1


@pytest.mark.skipif(os.name == "nt", reason="folder rights of Unix")
def test_a_folder_that_cannot_be_written_gets_a_sentence(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)  # root may write anywhere; nobody may not
    try:
        with pytest.raises(SetupError, match="Clone into a folder of your own"), alone(tmp_path, io.StringIO()):
            pass
    finally:
        if is_root:
            os.seteuid(0)
        tmp_path.chmod(0o755)


def test_the_repository_has_a_lock_for_every_flavour() -> None:
    for flavour in FLAVOURS.values():
        for lock in environment._locks(ROOT, "slow", flavour):
            text = lock.read_text()
            assert "--hash=sha256:" in text and "://" not in text
            every = f"python_full_version < '3.{NEWEST[1] + 1}'" in text or lock.stem == flavour.torch_lock
            assert every, "for every Python that the bootstrap takes"
        pins = "".join(lock.read_text() for lock in environment._locks(ROOT, "run", flavour))
        assert pins.count("\ntorch==") == 1, flavour.name


def test_a_relay_has_the_nodes_versions_and_nothing_that_learns_or_shows() -> None:
    lock, sources = environment._locks(ROOT, "relay", RELAY)
    assert "\nsetuptools==" in lock.read_text() and "cellpylib==" in sources.read_text()
    node = set(re.findall(r"^\S+==\S+", (lock.parent / "linux-cpu.txt").read_text(), re.M))
    relay = set(re.findall(r"^\S+==\S+", lock.read_text(), re.M))
    assert {pin.split("==")[0] for pin in relay - node} == {"nats-py", "prometheus-client", "pywin32-ctypes"}
    assert not any(pin.startswith(("torch", "transformers", "pyside6", "accelerate")) for pin in relay)


RELAYS = """
import importlib.metadata as metadata, re, sys
locked = set(re.findall(r"^([a-z0-9.-]+)==", open(sys.argv[1]).read(), re.M))
for module, packages in metadata.packages_distributions().items():
    if locked.isdisjoint(re.sub(r"[-_.]+", "-", name).lower() for name in packages):
        sys.modules[module] = None  # as if it were not installed
import sapo_desktop.cli, sapo_desktop.commands.relay, sapo_desktop.commands.doctor, sapo_desktop.commands.peers
import sapo_desktop.worker.membership.relay, sapo_desktop.tasks.service
"""


def test_a_relay_starts_with_what_its_lock_installs() -> None:
    lock, _ = environment._locks(ROOT, "relay", RELAY)
    ran = subprocess.run(
        [sys.executable, "-c", RELAYS, str(lock)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


def test_setting_up_unpacks_downloads_in_the_checkout(ready: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's folder for temporary files is often a small one in memory, where PyTorch does not fit."""
    seen: list[Path] = []

    def run(self: Progress, command: list[str], env: dict[str, str], keep_open: object = ()) -> None:
        seen.append(Path(env["TMPDIR"]))
        assert seen[-1].is_dir() and not list(seen[-1].iterdir())

    (ready / ".cache" / "scratch" / "of-a-killed-set-up").mkdir(parents=True)
    monkeypatch.setattr(Progress, "run", run)
    monkeypatch.setattr(environment, "_create", lambda *_: None)
    monkeypatch.setattr(environment, "choose", lambda *_: CPU)
    monkeypatch.setattr(environment, "check_space", lambda *_: None)
    environment.prepare(ready, "test", io.StringIO())
    assert set(seen) == {ready / ".cache" / "scratch"} and not seen[0].exists()


def test_a_machine_without_a_gpu_gets_no_cuda_package() -> None:
    for name in ("linux-cpu", "mac-arm64", "win-cpu", "test", "slow"):
        assert "nvidia-cu" not in (REQUIREMENTS / f"{name}.txt").read_text()


def test_a_machine_with_a_gpu_gets_the_cuda_build_on_every_python() -> None:
    lines = (REQUIREMENTS / "linux-cuda.txt").read_text().splitlines()
    builds = [line for line in lines if line.startswith(("torch==", "nvidia-cublas=="))]
    assert len(builds) == 2
    assert not [line for line in builds if "+cpu" in line or "python_full_version <" not in line or ">= '3.1" in line]

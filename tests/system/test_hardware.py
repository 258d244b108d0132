"""What the computer has, with control groups made of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from sapo_desktop.system import hardware


@pytest.fixture
def groups(tmp_path: Path) -> tuple[Path, Path]:
    """A control group `/a/b` under a root, and the file that says that this process is in it."""
    root = tmp_path / "cgroup"
    (root / "a" / "b").mkdir(parents=True)
    membership = tmp_path / "self"
    membership.write_text("0::/a/b\n")
    return root, membership


def test_the_narrowest_quota_above_counts(groups: tuple[Path, Path]) -> None:
    root, membership = groups
    assert hardware.cpu_quota(root, membership) is None
    (root / "a" / "b" / "cpu.max").write_text("max 100000\n")
    assert hardware.cpu_quota(root, membership) is None
    (root / "a" / "cpu.max").write_text("150000 100000\n")
    (root / "cpu.max").write_text("400000 100000\n")
    assert hardware.cpu_quota(root, membership) == 1.5


def test_the_first_version_of_control_groups(tmp_path: Path) -> None:
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("-1\n")
    assert hardware.cpu_quota(tmp_path, tmp_path / "none") is None
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("200000\n")
    assert hardware.cpu_quota(tmp_path, tmp_path / "none") == 2.0


def test_memory_quota(groups: tuple[Path, Path]) -> None:
    root, membership = groups
    (root / "a" / "memory.max").write_text("1000000\n")
    (root / "a" / "b" / "memory.max").write_text("max\n")
    assert hardware.memory_quota(root, membership) == 1_000_000


@pytest.mark.parametrize(("quota", "cores"), [(None, 8), (0.5, 1), (1.5, 2), (20.0, 8)])
def test_cores_by_affinity_and_quota(monkeypatch: pytest.MonkeyPatch, quota: float | None, cores: int) -> None:
    monkeypatch.setattr(hardware.os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.setattr(hardware, "cpu_quota", lambda: quota)
    assert hardware.usable_cores() == cores
    assert hardware.default_threads() == max(1, cores // 2)


def test_this_computer(tmp_path: Path) -> None:
    found = hardware.probe(tmp_path)
    assert found.cores >= 1 and 0 < found.memory_free <= found.memory and found.disk_free > 0

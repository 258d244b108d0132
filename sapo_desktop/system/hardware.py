"""What this computer has: cores, memory, disk, graphics cards. Asked of the system, without torch.

The cores are those this process may use (affinity) and is given (the quota of its control group, as
containers set it), not those in the box. What a model needs of all this is decided elsewhere.
"""

from __future__ import annotations

import importlib
import math
import os
import platform
import shutil
from pathlib import Path

import msgspec
import psutil

_CGROUP = Path("/sys/fs/cgroup")
_SELF = Path("/proc/self/cgroup")


class Gpu(msgspec.Struct, frozen=True):
    name: str
    memory: int
    """Bytes."""


class Hardware(msgspec.Struct, frozen=True, kw_only=True):
    """A probe of this computer; sizes in bytes."""

    system: str
    machine: str
    python: str
    cores: int
    memory: int
    memory_free: int
    disk_free: int
    gpus: list[Gpu]


def probe(folder: Path) -> Hardware:
    """Look at this computer, and at the disk that holds `folder`."""
    memory = psutil.virtual_memory()
    limit = memory_quota()
    return Hardware(
        system=f"{platform.system()} {platform.release()}",
        machine=platform.machine(),
        python=platform.python_version(),
        cores=usable_cores(),
        memory=min(memory.total, limit) if limit else memory.total,
        memory_free=min(memory.available, limit) if limit else memory.available,
        disk_free=shutil.disk_usage(folder).free,
        gpus=gpus(),
    )


def usable_cores() -> int:
    """Cores that this process may keep busy, at least 1."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    quota = cpu_quota()
    return max(1, min(cores, math.ceil(quota)) if quota else cores)


def default_threads() -> int:
    """Half the cores: gentle by default."""
    return max(1, usable_cores() // 2)


def cpu_quota(root: Path = _CGROUP, membership: Path = _SELF) -> float | None:
    """Cores that the control groups above this process grant it (version 2, or version 1's), None: no
    limit."""
    quotas = []
    for text in _values("cpu.max", root, membership):
        quota, _, period = text.partition(" ")
        if quota != "max":
            quotas.append(int(quota) / int(period))
    old = root / "cpu"
    if (old / "cpu.cfs_quota_us").exists():
        granted = int((old / "cpu.cfs_quota_us").read_text())
        if granted > 0:
            quotas.append(granted / int((old / "cpu.cfs_period_us").read_text()))
    return min(quotas, default=None)


def memory_quota(root: Path = _CGROUP, membership: Path = _SELF) -> int | None:
    """Bytes of memory that the control groups above this process grant it, None: no limit."""
    return min((int(text) for text in _values("memory.max", root, membership) if text != "max"), default=None)


def gpus() -> list[Gpu]:
    """NVIDIA cards as their driver tells them; none without driver or nvidia-ml-py."""
    try:
        nvml = importlib.import_module("pynvml")
    except ImportError:
        return []
    try:
        nvml.nvmlInit()
    except nvml.NVMLError:
        return []
    try:
        handles = [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(nvml.nvmlDeviceGetCount())]
        return [
            Gpu(str(nvml.nvmlDeviceGetName(handle)), int(nvml.nvmlDeviceGetMemoryInfo(handle).total))
            for handle in handles
        ]
    finally:
        nvml.nvmlShutdown()


def _values(name: str, root: Path, membership: Path) -> list[str]:
    """A version 2 setting of this process's own control group and of all above it."""
    try:
        lines = membership.read_text().splitlines()
    except FileNotFoundError:  # not Linux
        return []
    own = next((line[3:] for line in lines if line.startswith("0::")), None)
    if own is None:
        return []
    place = root / own.lstrip("/")
    folders = [folder for folder in (place, *place.parents) if folder == root or root in folder.parents]
    # Inside a container the path may name groups that cannot be seen from there.
    return [(folder / name).read_text().strip() for folder in folders if (folder / name).exists()]

"""This computer's cores, memory, disk and graphics cards, from the system and without torch.

Cores are those that this process may use (affinity) and is granted (the control group's quota, as set by containers),
not those installed. What a model needs is decided elsewhere.
"""

from __future__ import annotations

import contextlib
import importlib.util
import math
import os
import platform
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import psutil

from sapo_desktop.core.fitting import Pace, ProductTimes
from sapo_desktop.system import installation
from sapo_desktop.system.processes import kernel_count

T = TypeVar("T")

_CGROUP = Path("/sys/fs/cgroup")
_SELF = Path("/proc/self/cgroup")
_CPUINFO = Path("/proc/cpuinfo")
_CUDA_DEVICE = Path("/dev/nvidia-uvm")
_WAKE_SECONDS = 10.0
OWN_SCOPE = "sapo-desktop-"
"""Prefix of the control group that a node creates for itself (system/desktop/ceiling.py)."""
_NO_LIMIT = 1 << 60
"""Version 1 of control groups expresses "no limit" as a number near 2^63."""


class Gpu(msgspec.Struct, frozen=True):
    """A graphics card; sizes in bytes."""

    name: str
    memory: int
    free: int = 0
    """Unused bytes."""
    uuid: str = ""
    """The id that restricts CUDA to this card."""


class Hardware(msgspec.Struct, frozen=True, kw_only=True):
    """A probe of this computer; sizes in bytes."""

    system: str
    machine: str
    python: str
    cores: int
    memory: int
    memory_free: int
    """Available without swapping, within the container's limit."""
    disk_free: int
    gpus: list[Gpu]
    """Cards that the installed torch can use."""
    idle_gpus: list[str] = []
    """Names of the other cards."""
    memory_limited: bool = False
    """A control group (container) grants less than the computer has."""
    swap: int = 0
    unified: bool = False
    """Graphics and processor share one memory (Apple silicon)."""
    fast_bfloat16: bool = False
    """The processor reports instructions for bfloat16 products; also False if unknown."""
    products: Sequence[ProductTimes] = ()
    """Its measured speed (models/fit/formats.py), which takes precedence over what it reports."""
    pace: Pace | None = None
    """Derived from its last rounds; None: none were played."""


def probe(folder: Path) -> Hardware:
    """Inspect this computer, and the disk of `folder`."""
    memory = psutil.virtual_memory()
    limit = memory_quota()
    left = memory_left()
    cards = gpus()
    usable = torch_takes_cards()
    return Hardware(
        system=f"{platform.system()} {platform.release()}",
        machine=platform.machine(),
        python=platform.python_version(),
        cores=usable_cores(),
        memory=min(memory.total, limit) if limit else memory.total,
        memory_free=min(memory.available, left) if left is not None else memory.available,
        disk_free=shutil.disk_usage(folder).free,
        gpus=cards if usable else [],
        idle_gpus=[] if usable else [card.name for card in cards],
        memory_limited=limit is not None and limit < memory.total,
        swap=psutil.swap_memory().total,
        unified=platform.system() == "Darwin" and platform.machine() == "arm64",
        fast_bfloat16=fast_bfloat16(),
    )


def fast_bfloat16(cpuinfo: Path = _CPUINFO) -> bool:
    """Whether the processor has instructions for bfloat16 products (AVX-512), checked as torch does."""
    return "avx512_bf16" in _said_by("flags", cpuinfo).split()


def processor(cpuinfo: Path = _CPUINFO) -> str:
    """The processor's name as reported by the system."""
    return _said_by("model name", cpuinfo) or platform.processor() or platform.machine()


def _said_by(key: str, cpuinfo: Path) -> str:
    """Linux's description of the first core; empty elsewhere."""
    try:
        text = cpuinfo.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in text.splitlines() if line.startswith(key)), "")


def usable_cores() -> int:
    """Cores that this process may use, at least 1."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    quota = cpu_quota()
    return max(1, min(cores, math.ceil(quota)) if quota else cores)


def threads_for(asked: int) -> int:
    """As many as requested, limited to the number of cores; 0: the default."""
    return min(asked, usable_cores()) or default_threads()


def default_threads(cores: int | None = None) -> int:
    """Half of the cores, by default this computer's."""
    return max(1, (usable_cores() if cores is None else cores) // 2)


def cpu_quota(root: Path = _CGROUP, membership: Path = _SELF) -> float | None:
    """Cores that the control groups above this process grant (version 2 or 1); None: no limit."""
    quotas = []
    for folder in _folders(root, membership):
        if (folder / "cpu.max").exists():
            quota, _, period = (folder / "cpu.max").read_text().partition(" ")
            if quota != "max":
                quotas.append(int(quota) / int(period))
    old = root / "cpu"
    if (old / "cpu.cfs_quota_us").exists():
        granted = int((old / "cpu.cfs_quota_us").read_text())
        if granted > 0:
            quotas.append(granted / int((old / "cpu.cfs_period_us").read_text()))
    return min(quotas, default=None)


def memory_quota(root: Path = _CGROUP, membership: Path = _SELF) -> int | None:
    """Bytes of memory that the control groups above this process grant (version 2 or 1); None: no limit."""
    return min((limit for limit, _ in _memory_groups(root, membership)), default=None)


def memory_left(root: Path = _CGROUP, membership: Path = _SELF) -> int | None:
    """Bytes left in those groups, including droppable file pages; None: no limit."""
    return min((max(0, limit - used) for limit, used in _memory_groups(root, membership)), default=None)


def _memory_groups(root: Path, membership: Path) -> list[tuple[int, int]]:
    """Limit and use, in bytes, of the control groups that limit this process's memory."""
    groups = []
    for folder in _folders(root, membership):
        limit = folder / "memory.max"
        if limit.exists() and (text := limit.read_text().strip()) != "max":
            used = _number(folder / "memory.current") - _file_pages(folder / "memory.stat", "")
            groups.append((int(text), used))
    old = root / "memory"
    if (old / "memory.limit_in_bytes").exists() and (granted := _number(old / "memory.limit_in_bytes")) < _NO_LIMIT:
        used = _number(old / "memory.usage_in_bytes") - _file_pages(old / "memory.stat", "total_")
        groups.append((granted, used))
    return groups


def _number(path: Path) -> int:
    return int(path.read_text()) if path.exists() else 0


def _file_pages(statistics: Path, prefix: str) -> int:
    """Pages of files, which the system drops when memory is needed. Otherwise a model's own file would count as used
    after it was read once."""
    return sum(kernel_count(statistics, f"{prefix}{kind}_file") for kind in ("active", "inactive"))


def gpus() -> list[Gpu]:
    """NVIDIA cards as reported by their driver; none without driver or nvidia-ml-py."""

    def look(nvml: Any, handle: Any) -> Gpu:
        memory = nvml.nvmlDeviceGetMemoryInfo(handle)
        name, uuid = nvml.nvmlDeviceGetName(handle), nvml.nvmlDeviceGetUUID(handle)
        return Gpu(str(name), int(memory.total), int(memory.free), str(uuid))

    return _of_each_card(look)


def taken_by_others(own: Sequence[int]) -> float:
    """The share of a graphics card's memory, in percent, that processes other than `own` use, on the card with the
    largest share. Cards whose driver does not report our use are left out."""

    def look(nvml: Any, handle: Any) -> float:
        memory = nvml.nvmlDeviceGetMemoryInfo(handle)
        running = nvml.nvmlDeviceGetComputeRunningProcesses(handle)
        held = [process.usedGpuMemory for process in running if process.pid in own]
        if None in held:  # Windows hides this for cards that show a desktop
            return 0.0
        return 100 * max(0, int(memory.used) - int(sum(held))) / max(1, int(memory.total))

    return max(_of_each_card(look), default=0.0)


def card_memory_of(own: Sequence[int]) -> int:
    """Bytes of the graphics cards' memory that these processes use; 0 if the driver does not report it."""

    def look(nvml: Any, handle: Any) -> int:
        running = nvml.nvmlDeviceGetComputeRunningProcesses(handle)
        return sum(process.usedGpuMemory or 0 for process in running if process.pid in own)  # None on some Windows

    return sum(_of_each_card(look))


def card_degrees() -> list[float]:
    """The temperature of each card, in Celsius."""
    return _of_each_card(lambda nvml, handle: float(nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU)))


def card_joules(own: Sequence[int]) -> list[tuple[float, bool]]:
    """For each card that reports it: the energy used since its driver was loaded, and whether these processes use
    the card."""

    def look(nvml: Any, handle: Any) -> tuple[float, bool]:
        running = {process.pid for process in nvml.nvmlDeviceGetComputeRunningProcesses(handle)}
        return nvml.nvmlDeviceGetTotalEnergyConsumption(handle) / 1000, not running.isdisjoint(own)

    return _of_each_card(look)


def _of_each_card(ask: Callable[[Any, Any], T]) -> list[T]:
    """Call NVIDIA's library for each card; cards that do not answer are left out, as are all without a driver."""
    try:
        import pynvml as nvml  # a dependency on all systems but macOS, which has no such driver
    except ImportError:
        return []
    found: list[T] = []
    try:
        nvml.nvmlInit()
    except nvml.NVMLError:
        return found
    try:
        for index in range(nvml.nvmlDeviceGetCount()):
            with contextlib.suppress(nvml.NVMLError):
                found.append(ask(nvml, nvml.nvmlDeviceGetHandleByIndex(index)))
    finally:
        nvml.nvmlShutdown()
    return found


def torch_takes_cards() -> bool:
    """Whether the installed torch was built for NVIDIA cards; inspected without an import."""
    found = importlib.util.find_spec("torch")
    places = [Path(place) for place in (found.submodule_search_locations if found else None) or ()]
    if (pack := installation.engine_pack()) is not None:
        places.append(pack / "torch")  # window and commands do not have it on their path
    libraries = ("libtorch_cuda.so", "torch_cuda.dll")
    return any((place / "lib" / name).exists() for place in places for name in libraries)


def has_usable_card(least_driver: int, least_capability: float) -> bool:
    """Whether there is an NVIDIA card with at least that CUDA compute capability and driver version."""

    def look(nvml: Any, handle: Any) -> bool:
        driver = str(nvml.nvmlSystemGetDriverVersion()).partition(".")[0]
        major, minor = nvml.nvmlDeviceGetCudaComputeCapability(handle)
        return driver.isdigit() and int(driver) >= least_driver and major + minor / 10 >= least_capability

    return any(_of_each_card(look))


def other_engine() -> str | None:
    """The kind of engine pack that now fits, if the installed one is of another kind because card or driver changed.
    None if it fits, there is none, or the driver cannot be asked now. Asking the driver may take a second."""
    installed, here = installation.payload(), installation.engine_kind()
    if installed is None or here is None:
        return None
    usable = has_usable_card(installed.least_driver, installed.least_capability)
    if not usable and _driver_is_mute():
        return None
    fitting = installation.fitting_kind(installed, usable)
    return None if fitting == here else fitting


def _driver_is_mute() -> bool:
    """Whether a driver exists but cannot be asked, as between its update and the next restart of the computer."""
    try:
        import pynvml as nvml
    except ImportError:
        return False
    try:
        nvml.nvmlInit()
    except (nvml.NVMLError_LibraryNotFound, nvml.NVMLError_DriverNotLoaded):
        return False
    except nvml.NVMLError:
        return True
    nvml.nvmlShutdown()
    return False


def wake_cards() -> None:
    """Load the computing part of NVIDIA's driver if nothing has used it since the computer's start. CUDA does this
    itself with a privileged program, which a confined process may not use. Linux only."""
    program = shutil.which("nvidia-modprobe")
    if platform.system() == "Linux" and program is not None and not _CUDA_DEVICE.exists():
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run([program, "-u", "-c", "0"], check=False, capture_output=True, timeout=_WAKE_SECONDS)


def card_environment(cards: Sequence[Gpu]) -> dict[str, str]:
    """The environment that selects the card with the most free memory; empty if there is no choice, or the user has
    chosen."""
    if len(cards) < 2 or "CUDA_VISIBLE_DEVICES" in os.environ:
        return {}
    return {"CUDA_VISIBLE_DEVICES": max(cards, key=lambda card: card.free).uuid}


def _folders(root: Path, membership: Path) -> list[Path]:
    """This process's version 2 control group and all above it, without the node's own, whose limit comes from the
    settings."""
    own = control_group(membership)
    if not own:
        return []
    place = root / own.lstrip("/")
    above = [place, *place.parents][place.name.startswith(OWN_SCOPE) :]
    # Inside a container, the path may name groups that are invisible there.
    return [folder for folder in above if folder == root or root in folder.parents]


def control_group(membership: Path = _SELF) -> str:
    """The version 2 control group of this process, as named by the kernel; empty if there is none."""
    try:
        lines = membership.read_text().splitlines()
    except OSError:  # not Linux
        return ""
    return next((line[3:] for line in lines if line.startswith("0::")), "")

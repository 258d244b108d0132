"""The computer's hardware, with control groups made of files."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from sapo_desktop.system import hardware, installation


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


def test_what_a_container_has_left(groups: tuple[Path, Path]) -> None:
    """File pages that can be dropped count as free; the narrowest group decides."""
    root, membership = groups
    assert hardware.memory_left(root, membership) is None
    (root / "a" / "memory.max").write_text("1000000\n")
    (root / "a" / "memory.current").write_text("700000\n")
    (root / "a" / "memory.stat").write_text("anon 300000\nactive_file 100000\ninactive_file 150000\n")
    (root / "a" / "b" / "memory.max").write_text("2000000\n")
    (root / "a" / "b" / "memory.current").write_text("700000\n")
    assert hardware.memory_left(root, membership) == 550_000
    (root / "a" / "memory.current").write_text("1400000\n")
    assert hardware.memory_left(root, membership) == 0


def test_memory_in_the_first_version_of_control_groups(tmp_path: Path) -> None:
    folder, nowhere = tmp_path / "memory", tmp_path / "none"
    folder.mkdir()
    (folder / "memory.limit_in_bytes").write_text("9223372036854771712\n")
    assert hardware.memory_quota(tmp_path, nowhere) is None and hardware.memory_left(tmp_path, nowhere) is None
    (folder / "memory.limit_in_bytes").write_text("3000000\n")
    (folder / "memory.usage_in_bytes").write_text("2000000\n")
    (folder / "memory.stat").write_text("inactive_file 1\ntotal_inactive_file 500000\n")
    assert hardware.memory_quota(tmp_path, nowhere) == 3_000_000
    assert hardware.memory_left(tmp_path, nowhere) == 1_500_000


@pytest.mark.parametrize(
    ("flags", "fast"), [("fpu avx512f avx512_bf16", True), ("fpu avx512f", False), ("fpu avx512_bf16x", False)]
)
def test_fast_bfloat16_is_read_from_the_processors_flags(tmp_path: Path, flags: str, fast: bool) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"processor : 0\nmodel name\t: A maker's: 9\nflags\t\t: {flags}\nprocessor : 1\n")
    assert hardware.fast_bfloat16(cpuinfo) is fast
    assert hardware.processor(cpuinfo) == "A maker's: 9"
    assert hardware.fast_bfloat16(tmp_path / "none") is False


def a_driver(version: str, *capabilities: tuple[int, int], **more: object) -> SimpleNamespace:
    """NVIDIA's library with so many cards."""
    plain = {
        "NVMLError": RuntimeError,
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlSystemGetDriverVersion": lambda: version,
        "nvmlDeviceGetCount": lambda: len(capabilities),
        "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlDeviceGetCudaComputeCapability": lambda handle: capabilities[handle],
    }
    return SimpleNamespace(**(plain | more))


@pytest.fixture
def from_installer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program as an installer set it up, with the pack for cards."""
    engines = {"linux-cpu": "f00", "linux-cuda": "f01"}
    marked = installation.Payload(python="p", launcher="l", engines=engines, least_driver=580, least_capability=7.5)
    monkeypatch.setattr(installation, "payload", lambda: marked)
    monkeypatch.setattr(installation, "engine_kind", lambda: "linux-cuda")


@pytest.mark.parametrize(
    ("driver", "usable"),
    [
        (a_driver("580.65.06", (7, 5)), True),
        (a_driver("580.65.06", (6, 1), (12, 0)), True),
        (a_driver("580.65.06", (6, 1)), False),
        (a_driver("579.99", (9, 0)), False),
        (a_driver("unknown", (9, 0)), False),
        (a_driver("580.65.06"), False),
    ],
)
def test_a_card_counts_where_its_driver_and_generation_are_new_enough(
    monkeypatch: pytest.MonkeyPatch, driver: SimpleNamespace, usable: bool
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", driver)
    assert hardware.has_usable_card(580, 7.5) is usable


@pytest.mark.parametrize(
    ("here", "usable", "other"),
    [
        ("linux-cpu", True, "linux-cuda"),
        ("linux-cuda", False, "linux-cpu"),
        ("linux-cpu", False, None),
        ("linux-cuda", True, None),
        (None, True, None),
    ],
)
@pytest.mark.usefixtures("from_installer")
def test_the_other_engine_pack_is_named_once_the_card_changed(
    monkeypatch: pytest.MonkeyPatch, here: str | None, usable: bool, other: str | None
) -> None:
    monkeypatch.setattr(installation, "engine_kind", lambda: here)
    monkeypatch.setattr(hardware, "has_usable_card", lambda driver, capability: usable)
    assert hardware.other_engine() == other


class _Mute(RuntimeError):
    """What NVIDIA's library says of itself."""


class _NoLibrary(_Mute): ...


class _NoDriver(_Mute): ...


@pytest.mark.parametrize(("error", "other"), [(_NoLibrary, "linux-cpu"), (_NoDriver, "linux-cpu"), (_Mute, None)])
@pytest.mark.usefixtures("from_installer")
def test_a_driver_that_cannot_be_asked_before_the_next_start_is_no_card_that_went(
    monkeypatch: pytest.MonkeyPatch, error: type[_Mute], other: str | None
) -> None:
    def begin() -> None:
        raise error("Driver/library version mismatch")

    driver = SimpleNamespace(
        NVMLError=_Mute, NVMLError_LibraryNotFound=_NoLibrary, NVMLError_DriverNotLoaded=_NoDriver, nvmlInit=begin
    )
    monkeypatch.setitem(sys.modules, "pynvml", driver)
    assert hardware.other_engine() == other


def test_a_clone_has_no_engine_pack_to_exchange() -> None:
    assert hardware.other_engine() is None


def test_cards_are_used_by_an_engine_pack_made_for_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where window and commands ask, which do not have it on their path."""
    monkeypatch.setattr(hardware.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(installation, "engine_pack", lambda: tmp_path)
    assert not hardware.torch_takes_cards()
    (tmp_path / "torch" / "lib").mkdir(parents=True)
    (tmp_path / "torch" / "lib" / "libtorch_cuda.so").touch()
    assert hardware.torch_takes_cards()


def test_free_memory_of_graphics_cards_is_the_drivers(monkeypatch: pytest.MonkeyPatch) -> None:
    def memory(handle: int) -> SimpleNamespace:
        return SimpleNamespace(total=10**10, free=10**9 * (handle + 1))

    driver = a_driver(
        "580",
        *[(7, 5)] * 2,
        nvmlDeviceGetName=lambda handle: f"card {handle}",
        nvmlDeviceGetUUID=lambda handle: f"GPU-{handle}",
        nvmlDeviceGetMemoryInfo=memory,
    )
    monkeypatch.setitem(sys.modules, "pynvml", driver)
    used = [SimpleNamespace(pid=7, usedGpuMemory=5), SimpleNamespace(pid=8, usedGpuMemory=3)]
    unreported = SimpleNamespace(pid=7, usedGpuMemory=None)  # as on some Windows
    driver.nvmlDeviceGetComputeRunningProcesses = lambda handle: used if handle else [unreported]
    assert hardware.card_memory_of([7]) == 5 and hardware.card_memory_of([]) == 0
    driver.nvmlDeviceGetMemoryInfo = lambda handle: SimpleNamespace(total=100, free=10, used=90 - handle)
    assert hardware.taken_by_others([7]) == 84, "of card 0 nobody knows what is ours"
    assert hardware.taken_by_others([8]) == 90 and hardware.taken_by_others([]) == 90
    driver.nvmlDeviceGetMemoryInfo = memory
    cards = hardware.gpus()
    assert [(card.name, card.memory, card.free) for card in cards] == [
        ("card 0", 10**10, 10**9),
        ("card 1", 10**10, 2 * 10**9),
    ]
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert hardware.card_environment(cards) == {"CUDA_VISIBLE_DEVICES": "GPU-1"}
    assert hardware.card_environment(cards[:1]) == {}
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert hardware.card_environment(cards) == {}


@pytest.mark.skipif(sys.platform != "linux", reason="what loads the driver's part is there on Linux alone")
@pytest.mark.parametrize("there", [True, False])
def test_the_part_of_a_driver_that_computes_is_loaded_where_it_is_not_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    program, device = tmp_path / "nvidia-modprobe", tmp_path / "nvidia-uvm"
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(hardware, "_CUDA_DEVICE", device)
    if there:
        device.touch()
    hardware.wake_cards()
    asked = tmp_path / "asked"
    assert asked.exists() is not there
    assert there or asked.read_text() == "-u -c 0\n"
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    hardware.wake_cards()

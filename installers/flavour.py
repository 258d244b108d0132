"""Which lock and which build of torch fit this computer: the CPU build, unless a GPU is really usable."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from typing import NamedTuple

from installers.trouble import SetupError

# PyTorch's own indexes. Used only for torch itself, and only if the configured sources do not have the build.
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
CUDA_INDEX = "https://download.pytorch.org/whl/cu130"

# Requirements of CUDA 13, with which torch 2.13 is built.
MIN_DRIVER = 580
MIN_CAPABILITY = 7.5


class Flavour(NamedTuple):
    """One platform: the name of its lock, and the source of torch."""

    name: str
    disk_mb: int
    """Free space that setup needs, including downloads (1 MB = 1,000,000 bytes)."""
    torch_index: str | None = None
    """PyTorch's own index, for a build that the package index lacks (`torch-NAME.txt` pins it). None: in the lock."""
    plain: str | None = None
    """The flavour to install if no source has that build: the package index has all of it."""
    cost: str = ""
    """What a person should know before this flavour replaces another."""

    @property
    def torch_lock(self) -> str | None:
        """Name of the lock that pins only torch."""
        return f"torch-{self.name}" if self.torch_index else None


FLAVOURS = {
    flavour.name: flavour
    for flavour in (
        Flavour("linux-cpu", 2_500, CPU_INDEX, plain="linux-cuda"),
        Flavour(
            "linux-cuda", 12_000, cost="2.7 GB to download and 12 GB of free disk (5 GB stay), because it brings CUDA"
        ),
        Flavour("mac-arm64", 2_500),
        Flavour("win-cpu", 2_500, cost="0.1 GB to download. It does not use your graphics card"),
        Flavour("win-cuda", 12_000, CUDA_INDEX, plain="win-cpu"),
    )
}
RELAY = Flavour("relay", 500)
"""A relay needs the same everywhere, and no torch."""
NVIDIA_SMI = ("nvidia-smi", "--query-gpu=driver_version,compute_cap", "--format=csv,noheader")


def choose(system: str, machine: str, nvidia_smi: Sequence[str] = NVIDIA_SMI) -> Flavour:
    """The flavour for `platform.system()` and `platform.machine()`.

    Raises:
        SetupError: there is no torch for this kind of computer.
    """
    x86 = machine.lower() in {"x86_64", "amd64"}
    if system == "Linux" and x86:
        return FLAVOURS["linux-cuda" if has_usable_gpu(nvidia_smi) else "linux-cpu"]
    if system == "Linux" and machine == "aarch64":
        return FLAVOURS["linux-cpu"]._replace(plain=None)  # the plain build's lock is for PCs
    if system == "Darwin" and machine == "arm64":
        return FLAVOURS["mac-arm64"]
    if system == "Windows" and x86:
        return FLAVOURS["win-cuda" if has_usable_gpu(nvidia_smi) else "win-cpu"]
    raise SetupError(
        f"There is no tested build of PyTorch for {system} on {machine}. SAPO Desktop runs on 64-bit Linux and "
        "Windows PCs, 64-bit ARM Linux and Macs with Apple silicon."
    )


def has_usable_gpu(nvidia_smi: Sequence[str]) -> bool:
    """Whether nvidia-smi names a GPU whose driver and generation this torch supports."""
    try:
        answer = subprocess.run(nvidia_smi, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return False
    return any(_is_usable(line) for line in answer.stdout.splitlines())


def _is_usable(line: str) -> bool:
    driver, _, capability = line.partition(",")
    try:
        return int(driver.split(".")[0]) >= MIN_DRIVER and float(capability) >= MIN_CAPABILITY
    except ValueError:  # "[N/A]", or a message instead of the table
        return False

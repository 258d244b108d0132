import sys

import pytest

from installers.flavour import choose, has_usable_gpu
from installers.trouble import SetupError

NO_GPU = [sys.executable, "-c", "import sys; sys.exit('NVIDIA-SMI has failed')"]


def smi(text: str) -> list[str]:
    return [sys.executable, "-c", f"print({text!r})"]


@pytest.mark.parametrize(
    ("system", "machine", "name"),
    [
        ("Linux", "x86_64", "linux-cpu"),
        ("Linux", "aarch64", "linux-cpu"),
        ("Darwin", "arm64", "mac-arm64"),
        ("Windows", "AMD64", "win-cpu"),
    ],
)
def test_a_pc_with_a_gpu_gets_the_cuda_build_and_every_other_machine_the_cpu_build(
    system: str, machine: str, name: str
) -> None:
    assert choose(system, machine, NO_GPU).name == name
    with_gpu = name.replace("-cpu", "-cuda") if machine != "aarch64" else name
    assert choose(system, machine, smi("580.95.05, 9.0")).name == with_gpu


@pytest.mark.parametrize(
    ("answer", "usable"),
    [
        ("580.95.05, 9.0", True),
        ("570.86.10, 9.0", False),  # the driver is older than CUDA 13
        ("580.95.05, 6.1", False),  # a Pascal card: torch's build has no code for it
        ("570.86.10, 6.1\n590.10, 12.0", True),
        ("580.95.05, [N/A]", False),
        ("No devices were found", False),
        ("", False),
    ],
)
def test_a_gpu_counts_only_if_this_torch_supports_it(answer: str, usable: bool) -> None:
    assert has_usable_gpu(smi(answer)) is usable


def test_a_missing_nvidia_smi_means_no_gpu() -> None:
    assert not has_usable_gpu(["no-such-program-as-this"])


def test_a_machine_without_any_build_of_torch_gets_a_sentence() -> None:
    with pytest.raises(SetupError, match="Darwin on x86_64"):
        choose("Darwin", "x86_64", NO_GPU)

"""Which errors mean that memory ran out."""

import errno
from types import ModuleType, SimpleNamespace

import pytest
import torch
from safetensors import SafetensorError

from sapo_desktop.engines.torch.memory import bound_card, is_out_of_memory, release_memory, without_holes


def test_the_cpu_allocators_own_error_is_known() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.empty(1 << 55)
    assert is_out_of_memory(caught.value)


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory"),
        OSError(errno.ENOMEM, "no memory"),
        RuntimeError("could not create a primitive"),
        RuntimeError("unable to mmap 3759984 bytes from file <m>: Cannot allocate memory (12)"),
        RuntimeError(
            "[enforce fail at alloc_cpu.cpp:115] DefaultCPUAllocator: not enough memory: you tried to allocate 9"
        ),
        RuntimeError(
            "MPS backend out of memory (MPS allocated: 9.06 GB, other allocations: 1.02 MB, max allowed: 9 GB)"
        ),
        RuntimeError("CUDA error: out of memory\nCompile with `TORCH_USE_CUDA_DSA` to enable device-side assertions."),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        OSError("The paging file is too small for this operation to complete. (os error 1455)"),
        SafetensorError("I/O error: The paging file is too small for this operation to complete. (os error 1455)"),
        SafetensorError("I/O error: Cannot allocate memory (os error 12)"),
    ],
)
def test_other_allocators(error: BaseException) -> None:
    assert is_out_of_memory(error)


@pytest.mark.parametrize(
    "error",
    [RuntimeError("shapes differ"), ValueError("can't allocate memory"), SafetensorError("header too large")],
)
def test_other_errors(error: BaseException) -> None:
    assert not is_out_of_memory(error)


@pytest.mark.parametrize("card", [torch.cuda, torch.mps])
def test_a_smaller_attempt_begins_with_what_the_card_keeps_given_back(
    card: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    emptied: list[str] = []
    for module, where, sign in (
        (torch.cuda, torch.cuda, "is_initialized"),
        (torch.mps, torch.backends.mps, "is_available"),
    ):
        monkeypatch.setattr(where, sign, lambda here=module is card: here)
        monkeypatch.setattr(module, "empty_cache", lambda name=module.__name__: emptied.append(name))
    release_memory()
    assert emptied == [card.__name__]


def test_of_a_card_no_more_is_taken_than_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    shares: list[float] = []
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda number: SimpleNamespace(total_memory=8 * 10**9))
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", shares.append)
    for most in (2 * 10**9, 16 * 10**9, 0):
        bound_card(most)
    assert shares == [0.25, 1.0, 1.0]


def test_large_blocks_leave_no_holes() -> None:
    """Ends as it began: with an error inside, too."""
    with pytest.raises(ValueError, match="inside"), without_holes():
        assert torch.ones(1 << 20).sum() == 1 << 20
        raise ValueError("inside")

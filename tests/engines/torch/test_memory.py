"""Which errors mean that memory ran out."""

import errno
from types import SimpleNamespace

import pytest
import torch

from sapo_desktop.engines.torch.memory import bound_card, is_out_of_memory, without_holes


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
    ],
)
def test_other_allocators(error: BaseException) -> None:
    assert is_out_of_memory(error)


@pytest.mark.parametrize("error", [RuntimeError("shapes differ"), ValueError("can't allocate memory")])
def test_other_errors(error: BaseException) -> None:
    assert not is_out_of_memory(error)


def test_of_a_card_no_more_is_taken_than_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    shares: list[float] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda number: SimpleNamespace(total_memory=8 * 10**9))
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", shares.append)
    for most in (2 * 10**9, 16 * 10**9, 0):
        bound_card(most)
    assert shares == [0.25, 1.0, 1.0]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    bound_card(1)
    assert len(shares) == 3


def test_large_blocks_leave_no_holes() -> None:
    """Ends as it began: with an error inside, too."""
    with pytest.raises(ValueError, match="inside"), without_holes():
        assert torch.ones(1 << 20).sum() == 1 << 20
        raise ValueError("inside")

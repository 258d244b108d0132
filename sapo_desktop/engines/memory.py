"""Running out of memory, told the same way whatever allocator says it."""

from __future__ import annotations

import gc

import torch


def is_out_of_memory(error: BaseException) -> bool:
    """Say whether an error means that an allocation failed (CPU allocator, CUDA, Python)."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    # torch's CPU allocator raises a plain RuntimeError; its message is the only sign.
    return isinstance(error, RuntimeError) and "can't allocate memory" in str(error)


def release_memory() -> None:
    """Give back what a failed attempt left behind, before a smaller one."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()

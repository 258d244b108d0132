"""Running out of memory, told the same way whatever allocator says it."""

from __future__ import annotations

import ctypes
import gc
import sys

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
    return_freed_memory()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def return_freed_memory() -> None:
    """Hand freed heap back to the system where the C library can (glibc); takes about a millisecond.

    Micro-batches of ever different shapes leave holes in glibc's heap, and a process that trains for days grows by
    some megabytes a round without this.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)

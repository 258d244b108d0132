"""Recognises out-of-memory errors of every allocator, and frees memory."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import gc
import os
import sys
from collections.abc import Iterator

import torch
from safetensors import SafetensorError

_M_MMAP_THRESHOLD = -3
_OWN_MAPPING = 512 * 1024
_GLIBC_MOST = 32 * 1024 * 1024

_SIGNS = (
    os.strerror(errno.ENOMEM).lower(),  # mapping a file
    "can't allocate memory",  # torch's allocator on a processor
    "not enough memory: you tried to allocate",  # the same on Windows
    "could not create a primitive",  # oneDNN
    "mps backend out of memory",
    "cuda error: out of memory",  # the driver, if torch's own allocator was not involved
    "status_alloc_failed",  # cuBLAS and cuDNN
    "error 1455",  # Windows, mapping a file: its paging file is too small
)
"""Texts of plain errors, in lower case: nothing else identifies them."""


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error means that an allocation failed (on a processor or card, of a mapped file, in Python)."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return True
    said = str(error).lower()
    return isinstance(error, RuntimeError | OSError | SafetensorError) and any(sign in said for sign in _SIGNS)


def release_memory() -> None:
    """Free what a failed attempt left behind, before a smaller one."""
    gc.collect()
    return_freed_memory()
    if torch.backends.mps.is_available():
        torch.mps.empty_cache()


def bound_card(most: int) -> None:
    """Limit tensors to `most` bytes of the graphics card's memory from now on (0: unlimited); beyond it, allocations
    fail as on a full card. CUDA's own memory comes on top: the caller leaves room for it."""
    whole = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction(min(1.0, most / whole) if most else 1.0)


def return_freed_memory() -> None:
    """Return freed heap memory to the system if the C library can (glibc, about a millisecond), and a card's freed
    memory to the card.

    Micro-batches of changing shapes leave holes in glibc's heap; without this, a process that trains for days grows by
    megabytes per round. On a card, nothing else can use the memory of recorded steps.
    """
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.empty_cache()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


@contextlib.contextmanager
def without_holes() -> Iterator[None]:
    """Inside, glibc maps every block of half a megabyte and more separately and returns it when freed.

    glibc cannot reuse a freed aligned block for the next request of the same size. Temporary tensors between those that
    the backward pass needs therefore leave holes: a step took up to twice the memory of what it kept. Mapping costs
    page faults: about a fifth of a step's CPU time with 135M parameters, less with more. Small models are better off
    with the holes.
    """
    set_option = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if set_option is None:
        yield
        return
    set_option(_M_MMAP_THRESHOLD, _OWN_MAPPING)
    try:
        yield
    finally:
        set_option(_M_MMAP_THRESHOLD, _GLIBC_MOST)

"""The products of engines/products.py, by torch."""

from __future__ import annotations

import functools
import time

import torch
import torch.nn.functional as F

from sapo_desktop.core.fitting import ProductTimes
from sapo_desktop.engines.products import Format, time_products

_DTYPES: dict[Format, torch.dtype] = {"float32": torch.float32, "bfloat16": torch.bfloat16}


@torch.inference_mode()
def measure(hidden: int, widest: int) -> ProductTimes:
    """Measure this processor with one thread: several wait for each other wherever a program is in the way of one."""

    @functools.lru_cache(maxsize=len(_DTYPES))
    def factors(format: Format, rows: int, columns: int) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.ones(rows, hidden, dtype=_DTYPES[format]), torch.ones(columns, hidden, dtype=_DTYPES[format])

    def timed(format: Format, rows: int, columns: int) -> float:
        x, weight = factors(format, rows, columns)
        began = time.perf_counter()
        F.linear(x, weight)
        return time.perf_counter() - began

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return time_products(hidden, widest, timed)
    finally:
        torch.set_num_threads(threads)

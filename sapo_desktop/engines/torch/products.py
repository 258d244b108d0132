"""Measures for a second which number format this processor multiplies faster in.

The two products of a round decide: with as many rows as concurrent answers, and with a micro-batch of tokens. Both
formats take turns, so that other load affects both, and the best try of each counts. The matrix grows only until a
product takes long enough to measure, because in an emulated format one of a model's own size could take many seconds.
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable
from typing import Literal

import msgspec
import torch
import torch.nn.functional as F

from sapo_desktop.core.fitting import PassSeconds, ProductTimes

Format = Literal["float32", "bfloat16"]
FORMATS: dict[Format, torch.dtype] = {"float32": torch.float32, "bfloat16": torch.bfloat16}
GENERATING_ROWS = 72
LEARNING_ROWS = 512
"""Tokens of a micro-batch on a processor."""
MOST_SECONDS = 0.8
"""For all products. Finding the size takes longer if a format is very slow, by less than as much again."""
MOST_COLUMNS_TIMES_HIDDEN = 2**24
"""Numbers in the matrix: 100 MB in both formats."""
_FIRST_COLUMNS = 32
_LONG_ENOUGH = 0.02
"""Seconds of one product in each format."""
_LOOKS = 3
"""Tries of one size before it counts as long enough: the first is cold, and another program may interfere."""
_LEAST_TRIES, _MOST_TRIES = 2, 1000

TimedProduct = Callable[[Format, int, int], float]
"""Multiplies once: format, rows, columns -> seconds."""
CLOCK = time.perf_counter if sys.platform == "win32" else time.thread_time
"""The clock of this thread alone, so that other programs do not count; on Windows it is too coarse."""


@torch.inference_mode()
def measure(hidden: int, widest: int) -> ProductTimes:
    """Measure this processor with one thread; several would wait for each other if a program disturbs one."""

    @functools.lru_cache(maxsize=len(FORMATS))
    def factors(format: Format, rows: int, columns: int) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.ones(rows, hidden, dtype=FORMATS[format]), torch.ones(columns, hidden, dtype=FORMATS[format])

    def timed(format: Format, rows: int, columns: int) -> float:
        x, weight = factors(format, rows, columns)
        began = CLOCK()
        F.linear(x, weight)
        return CLOCK() - began

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return time_products(hidden, widest, timed)
    finally:
        torch.set_num_threads(threads)


def time_products(hidden: int, widest: int, timed: TimedProduct) -> ProductTimes:
    """Measure products of rows of `hidden` numbers with a matrix of at most `widest` columns."""
    widest = max(1, min(widest, MOST_COLUMNS_TIMES_HIDDEN // hidden))
    generating = _race(GENERATING_ROWS, widest, timed)
    learning = _race(LEARNING_ROWS, widest, timed)
    float32, bfloat16 = (PassSeconds(generating=generating[format], learning=learning[format]) for format in FORMATS)
    return ProductTimes(hidden=hidden, float32=float32, bfloat16=bfloat16)


def _race(rows: int, widest: int, timed: TimedProduct) -> dict[Format, float]:
    """Seconds per row and column, in each format."""
    columns = min(_FIRST_COLUMNS, widest)
    spent, looks = 0.0, 0
    while columns < widest and looks < _LOOKS and spent < MOST_SECONDS / 2:
        once = sum(timed(format, rows, columns) for format in FORMATS)
        spent, looks = spent + once, looks + 1
        if once < _LONG_ENOUGH:
            columns, looks = min(2 * columns, widest), 0
    best = dict.fromkeys(FORMATS, float("inf"))
    for number in range(_MOST_TRIES):
        for format in FORMATS:
            seconds = timed(format, rows, columns)
            spent += seconds
            best[format] = min(best[format], seconds)
        if spent >= MOST_SECONDS / 2 and number + 1 >= _LEAST_TRIES:
            break
    # A clock too coarse to measure a product shows no difference either.
    return {format: max(seconds, 1e-9) / (rows * columns) for format, seconds in best.items()}


if __name__ == "__main__":
    print(msgspec.json.encode(measure(*map(int, sys.argv[1:]))).decode())

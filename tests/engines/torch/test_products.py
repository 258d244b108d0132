"""Which format is faster is found in a bounded time, on processors of every kind; none of them is here."""

import pytest

from sapo_desktop.engines.torch.products import GENERATING_ROWS, LEARNING_ROWS, MOST_SECONDS, Format, time_products

GIGA = 1e9


class Processor:
    """Takes the time that so many multiplications a second mean, and some for each call."""

    def __init__(self, float32: float, bfloat16: float, overhead: float = 1e-5) -> None:
        self._speed: dict[Format, float] = {"float32": float32, "bfloat16": bfloat16}
        self._overhead = overhead
        self.hidden = 0
        self.spent = 0.0
        self.widest = 0

    def __call__(self, format: Format, rows: int, columns: int) -> float:
        seconds = self._overhead + rows * columns * self.hidden / self._speed[format]
        self.spent += seconds
        self.widest = max(self.widest, columns)
        return seconds

    def pays(self, hidden: int = 896, widest: int = 4864) -> bool:
        self.hidden = hidden
        return time_products(hidden, widest, self).bfloat16_pays


@pytest.mark.parametrize(
    ("name", "float32", "bfloat16", "pays"),
    [
        ("AMX", 40 * GIGA, 240 * GIGA, True),
        ("instructions of AVX-512", 30 * GIGA, 55 * GIGA, True),
        ("none: converted back and forth", 30 * GIGA, 15 * GIGA, False),
        ("hardly any gain", 30 * GIGA, 31 * GIGA, False),
        ("emulated, as slow as can be", 30 * GIGA, 0.25 * GIGA, False),
    ],
)
@pytest.mark.parametrize(("hidden", "widest"), [(576, 1536), (896, 4864), (4096, 14336)])
def test_processors_of_every_kind(
    name: str, float32: float, bfloat16: float, pays: bool, hidden: int, widest: int
) -> None:
    processor = Processor(float32, bfloat16)
    assert processor.pays(hidden, widest) is pays, name
    assert processor.spent < 2 * MOST_SECONDS, "somebody waits for the first round"
    assert processor.widest <= widest


def test_both_formats_see_the_same_matrices() -> None:
    seen: dict[Format, list[tuple[int, int]]] = {"float32": [], "bfloat16": []}

    def timed(format: Format, rows: int, columns: int) -> float:
        seen[format].append((rows, columns))
        return 0.01

    time_products(64, 256, timed)
    assert seen["float32"] == seen["bfloat16"]
    assert {rows for rows, _ in seen["float32"]} == {GENERATING_ROWS, LEARNING_ROWS}


def test_what_else_the_computer_does_meanwhile_does_not_decide() -> None:
    calls = 0

    def timed(format: Format, rows: int, columns: int) -> float:
        nonlocal calls
        calls += 1
        disturbed = 10 if format == "bfloat16" and calls % 4 == 0 else 1  # half of its tries
        return disturbed * (0.012 if format == "float32" else 0.006)

    assert time_products(896, 4864, timed).bfloat16_pays


def test_a_processor_that_is_taken_away_for_a_moment_does_not_end_the_search_for_a_size() -> None:
    processor, calls = Processor(float32=30 * GIGA, bfloat16=15 * GIGA), 0
    processor.hidden = 896

    def timed(format: Format, rows: int, columns: int) -> float:
        nonlocal calls
        calls += 1
        late = 0.044 if format == "float32" else 0.022  # every other pair of tries, the first among them
        return processor(format, rows, columns) + (late if calls % 4 in (1, 2) else 0.0)

    assert not time_products(896, 4864, timed).bfloat16_pays
    assert processor.widest > 64


def test_a_clock_that_sees_nothing_sees_no_gain() -> None:
    assert not time_products(32, 64, lambda format, rows, columns: 0.0).bfloat16_pays

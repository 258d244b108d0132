"""The page docs/fit.md: its text (fit_page.md) with the constants of the code and every estimate beside its peak."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from sapo_desktop.models.fit import fit, memory
from tests.bench.figure import Figure

TEMPLATE = Path(__file__).with_name("fit_page.md")
Table = Callable[[Sequence[str], Sequence[Sequence[str]]], str]


def fit_page(made: dict[str, str], figures: Sequence[Figure], table: Table) -> str:
    """The whole page."""
    rows = [_row(figure) for figure in figures if figure.unit == "of the peak"]
    return TEMPLATE.read_text(encoding="utf-8").format(
        written_out=memory.PACKED_PARAMETERS / 1e6,
        chunk=memory.CHUNK / 2**20,
        draw=memory.DRAW_BLOCK / 2**20,
        stream=memory.STREAM_STEP,
        torch=memory.TORCH_RUNTIME / 1e6,
        bare=memory.BARE_RUNTIME / 1e6,
        tokens_a_pass=memory.CPU_TOKENS,
        at_once=fit.MOST_AT_ONCE,
        prompts_at_once=memory.PROMPT_TOKENS_AT_ONCE,
        tokenizer=memory.TOKENIZER_BYTES,
        llama=memory.LLAMA_RUNTIME / 1e6,
        llama_word=memory.LLAMA_WORD_BYTES,
        holes=memory.HEAP_HOLES,
        cache=memory.CACHE_HOLES,
        mapped=memory.MAPPED_HOLES,
        free=fit.ASSUMED_FREE,
        free_card=fit.ASSUMED_FREE_CARD,
        prompt=fit.PROMPT_TOKENS,
        rows=table(["case", "peak", "estimate, of the peak"], rows),
        **made | {"command": made["command"].partition("  #")[0]},
    )


def _row(figure: Figure) -> list[str]:
    peak = figure.note.removeprefix("peak ").partition(", estimate ")[0]
    return [figure.name.partition("/")[2], peak, f"{figure.value:.3f}" + ("" if figure.held else " missed")]

"""The page docs/fit.md: its text (fit.md) with the constants of the code and every estimate beside its peak."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from pages.parts import table

from sapo_desktop.core.settings import Settings
from sapo_desktop.models.catalogue import Entry, model_catalogue
from sapo_desktop.models.fit import fit, memory, pace, room, ways
from sapo_desktop.system.hardware import Gpu, Hardware
from tests.bench.figure import Figure

TEMPLATE = Path(__file__).with_name("fit.md")
CORES = (4, 8, 16)
ROOMY = Hardware(
    system="", machine="", python="", cores=4, memory=64 * 2**30, memory_free=60 * 2**30, disk_free=0, gpus=[]
)
CARD = Gpu("", 24 * 2**30, 23 * 2**30)


def fit_page(made: dict[str, str], figures: Sequence[Figure]) -> str:
    """The whole page."""
    rows = [_row(figure) for figure in figures if figure.unit == "of the peak"]
    return TEMPLATE.read_text(encoding="utf-8").format(
        written_out=memory.PACKED_PARAMETERS / 1e6,
        float32=memory.FLOAT32_PARAMETERS / 1e6,
        chunk=memory.CHUNK / 2**20,
        draw=memory.DRAW_BLOCK / 2**20,
        stream=memory.STREAM_STEP,
        torch=memory.TORCH_RUNTIME / 1e6,
        bare=memory.BARE_RUNTIME / 1e6,
        tokens_a_pass=memory.CPU_TOKENS,
        at_once=ways.MOST_AT_ONCE,
        few=ways.FEW_AT_ONCE,
        prompts_at_once=memory.PROMPT_TOKENS_AT_ONCE,
        tokenizer=memory.TOKENIZER_BYTES,
        llama=memory.LLAMA_RUNTIME / 1e6,
        llama_word=memory.LLAMA_WORD_BYTES,
        holes=memory.HEAP_HOLES,
        cache=memory.CACHE_HOLES,
        mapped=memory.MAPPED_HOLES,
        free=room.ASSUMED_FREE,
        free_card=room.ASSUMED_FREE_CARD,
        prompt=ways.PROMPT_TOKENS,
        rows=table(["case", "peak", "estimate, of the peak"], rows),
        core=pace.CORE / 1e9,
        further_core=pace.FURTHER_CORE,
        card=pace.CARD / 1e12,
        card_bytes=pace.CARD_BYTES / 1e9,
        written=pace.WRITTEN,
        rounds=table(["model", *(f"{cores} cores" for cores in CORES), "a card"], [_rounds(e) for e in _catalogue()]),
        **made | {"command": made["command"].partition("  #")[0]},
    )


def _row(figure: Figure) -> list[str]:
    peak = figure.note.removeprefix("peak ").partition(", estimate ")[0]
    return [figure.name.partition("/")[2], peak, f"{figure.value:.3f}" + ("" if figure.held else " missed")]


def _catalogue() -> list[Entry]:
    return sorted(model_catalogue().models, key=lambda entry: entry.exact_parameters)


def _rounds(entry: Entry) -> list[str]:
    """Minutes of a round of one model, with the default settings."""
    places = [msgspec.structs.replace(ROOMY, cores=cores) for cores in CORES]
    return [entry.id, *map(_minutes, (_seconds(entry, here) for here in (*places, _with_card())))]


def _with_card() -> Hardware:
    return msgspec.structs.replace(ROOMY, gpus=[CARD])


def _seconds(entry: Entry, here: Hardware) -> float:
    badges = fit.badges(here, model_catalogue(), Settings(), frozenset())
    return next(badge.round_seconds for badge in badges if badge.id == entry.id)


def _minutes(seconds: float) -> str:
    if not seconds:
        return "does not fit"
    if seconds < 1:
        return "under 1 s"
    return f"{seconds / 60:.1f} min" if seconds >= 60 else f"{seconds:.0f} s"

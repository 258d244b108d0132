"""The page docs/fit.md: its text (fit.md) with the constants of the code, and estimates compared with peaks."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from pages.parts import filled, table

from sapo_desktop.core.settings import Settings
from sapo_desktop.models.catalogue import model_catalogue
from sapo_desktop.models.fit import fit, memory, pace, room, ways
from sapo_desktop.system.hardware import Gpu, Hardware
from sapo_desktop.worker.control.handlers.appraisal import ROUNDS
from tests.bench.figure import Figure

PROCESSOR = Hardware(
    system="", machine="", python="", cores=4, memory=64 * 2**30, memory_free=60 * 2**30, disk_free=0, gpus=[]
)
CARD = msgspec.structs.replace(PROCESSOR, gpus=[Gpu("", 24 * 2**30, 23 * 2**30)])
ROUNDS_OF = ("starter", "smollm2-135m", "qwen2.5-0.5b", "qwen3-1.7b", "qwen3-8b")
KIND = re.compile(r"torch \w+(?: in 8 bits)?|llama\.cpp|answers(?=, estimate)|learns(?=, estimate)")
"""The part of an estimate's name that says how it is computed."""


def fit_page(made: dict[str, str], figures: Sequence[Figure], on_card: tuple[dict[str, str], Sequence[Figure]]) -> str:
    """The whole page, from the measurements on a processor and on a card."""
    card_made, card_figures = on_card
    tokens, computed = (
        [figure.value for figure in card_figures if figure.name.endswith(what)]
        for what in ("a token of each answer", "the same, not recorded")
    )
    sooner = [slow / fast for fast, slow in zip(tokens, computed, strict=True)]
    sizes = [int(found[1]) for figure in card_figures if (found := re.search(r"in (\d+) GiB", figure.name))]
    return filled(
        "fit.md",
        packed=memory.PACKED_PARAMETERS / 1e6,
        float32=memory.FLOAT32_PARAMETERS / 1e6,
        torch=memory.TORCH_RUNTIME / 1e6,
        llama=memory.LLAMA_RUNTIME / 1e6,
        cuda=(memory.CUDA_CONTEXT + memory.CUDA_WORKSPACES) / 1e6,
        holes=memory.HEAP_HOLES,
        at_once=ways.MOST_AT_ONCE,
        whole=fit.WHOLE_TOKENS,
        shown=ROUNDS,
        prompt=pace.CHAT.prompt,
        written=pace.CHAT.written,
        few=ways.FEW_AT_ONCE,
        free=room.ASSUMED_FREE,
        free_card=room.ASSUMED_FREE_CARD,
        rounds=table(["model", "4 cores", "a card"], [[name, *rounds(name)] for name in ROUNDS_OF]),
        command=made["command"].partition("  #")[0],
        machine=made["machine"],
        peaks=share_of_peaks(figures),
        card_command=card_made["command"],
        card_machine=card_made["machine"],
        card_plans=len(sooner),
        card_sizes=f"{min(sizes)} to {max(sizes)}",
        card_peaks=share_of_peaks(card_figures),
        process=span([figure for figure in card_figures if figure.name.endswith(": the process")], unit=1000),
        process_goal=memory.CUDA_RUNTIME / 1e9,
        recorded=f"{min(sooner):.1f} to {max(sooner):.1f}",
    )


def share_of_peaks(figures: Sequence[Figure]) -> str:
    """A line for each kind of estimate."""
    kinds: dict[str, list[Figure]] = {}
    for figure in figures:
        if kind := KIND.search(figure.name):
            kinds.setdefault(kind[0], []).append(figure)
    return "\n".join(f"- {kind}, {len(those)} cases: {span(those)}" for kind, those in kinds.items())


def span(figures: Sequence[Figure], unit: float = 1) -> str:
    """The range of the figures, and how many missed the goal."""
    values = [figure.value / unit for figure in figures]
    missed = sum(figure.held is False for figure in figures)
    return f"{min(values):.3f} to {max(values):.3f}" + (f", {missed} **missed**" if missed else "")


def rounds(name: str) -> list[str]:
    """How long a round of one model takes, with the default settings."""
    places = (fit.badges(here, model_catalogue(), Settings(), []) for here in (PROCESSOR, CARD))
    return [minutes(next(badge.round_seconds for badge in badges if badge.id == name)) for badges in places]


def minutes(seconds: float) -> str:
    if seconds < 1:
        return "under 1 s"
    return f"{seconds / 60:.1f} min" if seconds >= 60 else f"{seconds:.0f} s"

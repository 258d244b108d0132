"""The page docs/fit.md: its text (fit.md) with the constants of the code and every estimate beside its peak."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec
from pages.parts import table

from sapo_desktop.core.fitting import Parts
from sapo_desktop.core.settings import Settings
from sapo_desktop.models.catalogue import Entry, model_catalogue
from sapo_desktop.models.fit import fit, memory, pace, room, ways
from sapo_desktop.system.hardware import Gpu, Hardware
from tests.bench.engines.card import SETTINGS, estimated
from tests.bench.figure import Figure

TEMPLATE = Path(__file__).with_name("fit.md")
CORES = (4, 16)
ROOMY = Hardware(
    system="", machine="", python="", cores=4, memory=64 * 2**30, memory_free=60 * 2**30, disk_free=0, gpus=[]
)
CARD = Gpu("", 24 * 2**30, 23 * 2**30)
ON_CARD = re.compile(r"card/(\S+) in \d+ GiB, \w+( in 8 bits)?( twice)?, (\d+) at once, micro-batch (\d+)")


def fit_page(made: dict[str, str], figures: Sequence[Figure], on_card: tuple[dict[str, str], Sequence[Figure]]) -> str:
    """The whole page, from what was measured on a processor and on a card."""
    rows = _rows([figure for figure in figures if figure.unit == "of the peak"])
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
        rows=table(["case", "peak, MB", "estimate, of the peak"], rows),
        core=pace.CORE / 1e9,
        further_core=pace.FURTHER_CORE,
        card=pace.CARD / 1e12,
        card_bytes=pace.CARD_BYTES / 1e9,
        card_step=pace.CARD_STEP * 1e3,
        card_pass=pace.CARD_PASS * 1e3,
        context=memory.CUDA_CONTEXT / 1e6,
        workspaces=memory.CUDA_WORKSPACES / 1e6,
        card_command=on_card[0]["command"],
        card_machine=on_card[0]["machine"],
        card_date=on_card[0]["date"],
        card_rows=_on_card(on_card[1]),
        written=pace.WRITTEN,
        rounds=table(["model", *(f"{cores} cores" for cores in CORES), "a card"], [_rounds(e) for e in _catalogue()]),
        **made | {"command": made["command"].partition("  #")[0]},
    )


def _rows(figures: Sequence[Figure]) -> list[list[str]]:
    """One for each way of computing: what it answered, what it learned from."""
    rows: dict[str, list[list[str]]] = {}
    for figure in figures:
        way, _, case = figure.name.partition("/")[2].rpartition(", ")
        peak = figure.note.removeprefix("peak ").partition(" MB, estimate ")[0]
        ratio = f"{figure.value:.3f}" + ("" if figure.held else " missed")
        rows.setdefault(way, []).append([case.replace(" x ", "×"), peak, ratio])
    columns = {way: ["; ".join(column) for column in zip(*cases, strict=True)] for way, cases in rows.items()}
    return [[f"{way}, {cases}", *others] for way, (cases, *others) in columns.items()]


def _on_card(figures: Sequence[Figure]) -> str:
    """A row per case: the peaks beside what is estimated of them now, and how fast it was."""
    cases: dict[str, dict[str, Figure]] = {}
    for figure in figures:
        case, _, what = figure.name.rpartition(": ")
        cases.setdefault(case, {})[what] = figure
    rows = []
    for case, found in cases.items():
        peaks = [_megabytes(found[f"{phase}, estimate"].note) for phase in ("answers", "learns")]
        ratios = [
            f"{(parts.total - memory.CUDA_CONTEXT) / 1e6 / peak:.2f}"
            for parts, peak in zip(_estimated(case), peaks, strict=True)
        ]
        took = re.sub("answers |learns | s", "", found["a round"].note.partition(";")[0])
        tokens = [f"{found[what].value:.1f}" for what in ("a token of each answer", "the same, not recorded")]
        sizes = [f"{peak:,.0f}" for peak in peaks]
        rows.append([case.partition("/")[2], *sizes, ", ".join(ratios), took, *tokens])
    head = ["case", "peak, MB, answering", "learning", "estimates, of the peaks", "a round answers, learns, s"]
    return table([*head, "ms a token", "not recorded"], rows)


def _megabytes(note: str) -> float:
    return float(note.removeprefix("peak ").partition(" MB")[0].replace(",", ""))


def _estimated(case: str) -> tuple[Parts, Parts]:
    """Of a case by its name, with today's constants: those of a card came of these cases."""
    found = ON_CARD.fullmatch(case)
    assert found is not None, case
    name, rounded, twice, batch, micro_batch = found.groups()
    entry = model_catalogue().find(name)
    assert entry is not None
    way = ways.plan(ways.Model.of(entry), _with_card(), SETTINGS)
    how = {"batch": int(batch), "micro_batch": int(micro_batch), "rounded": bool(rounded), "recompute": bool(twice)}
    return estimated(entry, msgspec.structs.replace(way, **how))


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

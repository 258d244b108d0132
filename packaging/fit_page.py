"""The page docs/fit.md: how memory is estimated, and every estimate against its measured peak."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sapo_desktop.models import fit, memory
from tests.bench.figure import Figure

Table = Callable[[Sequence[str], Sequence[Sequence[str]]], str]

UNMEASURED = (
    "Graphics cards: the context of CUDA on the card, its libraries in the computer's memory, fused attention",
    "Macs: one memory for graphics and processor, and another C library, whose holes may be others",
    "Windows: another C library as well",
    "bfloat16 on a processor: counted as autograd keeps it (tests/engines/test_memory_counts.py), never measured as a peak, "
    "since the machine here computes it too slowly to use",
    "More than 1.5B parameters",
)


def fit_page(made: dict[str, str], figures: Sequence[Figure], table: Table) -> str:
    """The whole page."""
    rows = []
    for figure in figures:
        if figure.name == "memory/estimates within the goal":
            continue
        peak, _, estimate = figure.note.partition(", estimate ")
        held = "held" if figure.held else "missed"
        rows.append([figure.name.partition("/")[2], peak.removeprefix("peak "), estimate, f"{figure.value:.3f}", held])
    return "\n".join([*_head(), "", *_measured(made, rows, table), ""])


def _head() -> list[str]:
    return [
        "# What fits",
        "",
        "`sapo-desktop fit` says which model would run, with which engines, how much at once, and why nothing bigger; "
        "`fit --ram 8 --vram 0` says it for another machine. The same calculation (sapo_desktop/models/fit.py over "
        "models/memory.py) gives the badges of `models list` and tells the loader how much to ask for; memory is looked at "
        "anew before each load.",
        "",
        "## The parts",
        "",
        "| part | formula |",
        "|---|---|",
        "| weights | parameters × 4 bytes (float32) or 2 (bfloat16); a GGUF file's own size; for models up to "
        f"{memory.WRITTEN_OUT_PARAMETERS / 1e6:.0f}M the packed copy of the matrices beside it |",
        "| adapter | 8 bytes a parameter: itself, and the start that a reset goes back to |",
        "| optimiser, gradients | 8 and 4 bytes a parameter that is trained |",
        "| activations | what autograd keeps of one micro-batch, counted tensor by tensor; a test holds the count to autograd's "
        "own books within 2% |",
        f"| logits | one chunk of {memory.CHUNK / 2**20:.0f} MiB while learning; one step's while answering |",
        "| KV cache | answers under way × their longest × 2 × layers × key width; llama.cpp rounds each up to "
        f"{memory.STREAM_STEP} tokens |",
        f"| runtime | Python with torch, transformers and peft {memory.TORCH_RUNTIME / 1e6:.0f} MB, and "
        f"{memory.TOKENIZER_BYTES} bytes a word of the vocabulary; with llama.cpp {memory.LLAMA_RUNTIME / 1e6:.0f} MB and "
        f"{memory.LLAMA_WORD_BYTES} bytes |",
        "| reserve | the setting `memory_reserve` |",
        "",
        f"Two factors cannot be counted. glibc leaves holes between tensors that come and go: ×{memory.HEAP_HOLES:g}. Large "
        "models train with every tensor of half a megabyte and more mapped by itself, which halves the memory of a step and "
        f"costs about a seventh of its CPU time on a model of 135M parameters: ×{memory.MAPPED_HOLES:g}. One process that answers and "
        "learns in turns takes the greater of the two, two processes their sum.",
        "",
        "## What is chosen",
        "",
        f"Free memory less the reserve; of a machine that is only described, {fit.ASSUMED_FREE:.0%} of its memory and "
        f"{fit.ASSUMED_FREE_CARD:.0%} of its card are taken for free. A container's limit counts, swap does not, a card counts with "
        "what it has free, of several the one with most, and memory that graphics and processor share is counted once. "
        f"Questions are taken to have {fit.PROMPT_TOKENS} tokens. What does not fit is halved in this order: answers per pass and answers at "
        "once (whichever takes more), the length of answers, the model. The largest model that can learn with at least half of its "
        "tier's answer length is chosen, among those that the catalogue's tier names: a processor could hold larger models than it can teach.",
        "",
        "Where memory runs out all the same, the engine halves its micro-batch or its batch and repeats; one that the system killed is "
        "started again with half of both; then answers are shortened; then, in a node without checkpoints, the largest smaller model on "
        "disk takes over, at last the starter. Each is said.",
    ]


def _measured(made: dict[str, str], rows: list[list[str]], table: Table) -> list[str]:
    return [
        "## Estimates against measured peaks",
        "",
        f"    {made['command']}",
        "",
        f"On {made['machine']}, {made['date']}. Random weights in real shapes, and the starter; peak of RssAnon + RssShmem, and of the "
        "model's own file where its pages are computed with. Goal: the estimate within 15%, and never more than 5% below.",
        "",
        table(["case (sizes: answers × tokens)", "peak", "estimate", "of the peak", ""], rows),
        "",
        "Never measured:",
        "",
        *(f"- {line}" for line in UNMEASURED),
    ]

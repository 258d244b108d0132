"""How fast does the torch engine answer? Eight questions, eight answers each, on one thread.

    python -m tests.bench.generate [--quick] [--json] [--seed N]

Random weights in the starter's shape (tests/bench/models.py); no answer ends early, so every way does the
same work. Compared within the run, in turns, by CPU time: our decoding, our loop through transformers'
modules, and transformers' own generate(). CPU seconds, because the machine may be busy with something else.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import torch

from sapo_desktop.core.records import Sampling, TrainerSettings
from sapo_desktop.engines.answering import GenerationJob, Watch
from sapo_desktop.engines.decoder import Start, start_with_transformers
from sapo_desktop.engines.decoder_llama import start_written_out
from sapo_desktop.engines.generation import generate
from sapo_desktop.engines.llama import WrittenOutModel
from sapo_desktop.engines.protocols import Load
from sapo_desktop.engines.service import TorchEngine
from tests.bench.figure import Figure, arguments, cpu_seconds, show, tell
from tests.bench.models import starter_like

QUESTIONS, ANSWERS = 8, 8
PROMPT_TOKENS = 16


def main() -> None:
    """Measure and print."""
    options = arguments(__doc__).parse_args()
    torch.set_num_threads(1)
    tokens, repeats = (50, 1) if options.quick else (150, 3)
    with tempfile.TemporaryDirectory() as folder:
        load = Load(model=str(starter_like(Path(folder), options.seed)), trainer=TrainerSettings(), threads=1)
        engine = TorchEngine(load)
    ways = ways_of(engine, tokens, options.seed)
    best = dict.fromkeys(ways, float("inf"))
    for turn in range(repeats):
        for name, way in ways.items():
            tell(f"turn {turn + 1} of {repeats}: {name}")
            best[name] = min(best[name], cpu_seconds(way))
    total = QUESTIONS * ANSWERS * tokens
    for name, seconds in best.items():
        show(Figure(name=f"generate/{name}", value=total / seconds, unit="tokens per CPU-s"), options.json)
    speedup = best["transformers generate"] / best["ours"]
    show(
        Figure(
            name="generate/ours against transformers generate",
            value=speedup,
            unit="times",
            goal="at least 2",
            held=speedup >= 2,
        ),
        options.json,
    )
    seconds = best["ours"] * 150 / tokens
    show(
        Figure(
            name="generate/64 answers of 150 tokens",
            value=seconds,
            unit="CPU-s",
            goal="at most 2",
            held=seconds <= 2,
            note="scaled from 50 tokens" if options.quick else "",
        ),
        options.json,
    )


def ways_of(engine: TorchEngine, tokens: int, seed: int) -> dict[str, Callable[[], object]]:
    """The ways to answer the same questions; each continues after a warm-up of its own."""
    words = torch.Generator().manual_seed(seed)
    prompts = torch.randint(4, 60, (QUESTIONS, PROMPT_TOKENS), generator=words)
    sampling = Sampling(max_tokens=tokens, seed=seed)
    job = GenerationJob(prompts.tolist(), ANSWERS, sampling, frozenset(), engine.lm.context)
    model = engine.lm.model

    def ours() -> object:
        with torch.no_grad():
            return loop(start_written_out(WrittenOutModel(model, merged=True)))

    def loop(start: Start) -> object:
        return generate(job, start, engine.lm.device, Watch())

    def theirs() -> object:
        repeated = prompts.repeat_interleave(ANSWERS, 0)
        return model.generate(
            input_ids=repeated,
            attention_mask=torch.ones_like(repeated),
            max_new_tokens=tokens,
            min_new_tokens=tokens,
            do_sample=True,
            top_k=0,
        )

    return {
        "ours": ours,
        "our loop, transformers' modules": lambda: loop(start_with_transformers(model)),
        "transformers generate": theirs,
    }


if __name__ == "__main__":
    main()

"""What a core computes in a round, beside what models/fit/pace.py counts with.

    python -m tests.bench.engines.pace [--quick] [--json] [--seed N] [--models 135M]

A round of ours as `round.py` plays it: its operations, counted as the estimate counts them, over the CPU
seconds that it took. An estimate that is right by half is good enough to choose a model by.
"""

import tempfile
from pathlib import Path

import torch
from transformers import AutoConfig, AutoTokenizer

from sapo_desktop.models.fit.pace import CORE, operations
from sapo_desktop.models.fit.shape import shape_of
from tests.bench.engines.models import model_for_both_engines
from tests.bench.engines.round import ANSWERS, QUESTIONS, TOKENS, measured, median, ours, questions
from tests.bench.figure import Figure, arguments, show, tell


def main() -> None:
    """Measure and print."""
    parser = arguments(__doc__)
    parser.add_argument("--models", nargs="+", default=["135M"])
    options = parser.parse_args()
    torch.set_num_threads(1)
    for model in ["starter"] if options.quick else options.models:
        tell(model)
        with tempfile.TemporaryDirectory() as name:
            folder = model_for_both_engines(Path(name), model, options.seed)
            spent = measured(ours(folder, 2, options.seed))
            rate = counted(folder, options.seed) / median(spent.cpu)
        core = Figure(f"a core, {model}", rate / 1e9, "billion operations a CPU-s")
        goal = ("0.67 to 1.5", 0.67 <= rate / CORE <= 1.5) if model == "135M" else ()
        show([core, Figure(f"a core beside the estimate's, {model}", rate / CORE, "times", *goal)], options)


def counted(folder: Path, seed: int) -> float:
    """Operations of that round. Random weights hardly ever end an answer before its last token."""
    read = sum(len(ids) for ids in AutoTokenizer.from_pretrained(folder)(questions(seed)).input_ids)
    shape = shape_of(AutoConfig.from_pretrained(folder).to_dict())
    return operations(shape, QUESTIONS * ANSWERS * TOKENS, read)


if __name__ == "__main__":
    main()

"""Is bfloat16 faster than float32 on this processor, and does the second of measuring see it?

    python -m tests.bench.engines.precision [--quick] [--json] [--seed N] [--models starter 50M 135M]

Rounds of ours as `round.py` plays them, with shorter answers: one thread, random weights, a model's two formats in
turns. What is measured before a model is loaded (engines/products.py) is shown beside them; the goal is that what it
chooses is not the slower one of a whole round by more than a tenth. Smaller models than FLOAT32_PARAMETERS compute in
float32 whatever is faster, since an adapter that is packed into weights of 8 bits of mantissa is mostly rounded away.
"""

import tempfile
from pathlib import Path

import torch

from sapo_desktop.engines.products import FORMATS
from sapo_desktop.engines.torch import products
from tests.bench.engines.models import SHAPES, model_for_both_engines
from tests.bench.engines.round import measured, median, ours, with_goal
from tests.bench.figure import Figure, arguments, show, tell

ROUNDS = 3
TOKENS = 16


def main() -> None:
    """Measure and print."""
    parser = arguments(__doc__)
    parser.add_argument("--models", nargs="+", default=["starter", "50M", "135M"])
    options = parser.parse_args()
    torch.set_num_threads(1)
    for model in ["starter"] if options.quick else options.models:
        compare(model, options.seed, options.json, quick=options.quick)


def compare(model: str, seed: int, as_json: bool, *, quick: bool) -> None:
    """Play rounds in both formats; show them, and what the measurement says."""
    shape = SHAPES[model]
    times = products.measure(shape["hidden_size"], shape["intermediate_size"])
    spent: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = model_for_both_engines(Path(name), model, seed)
        for dtype in FORMATS:
            tell(f"{model}: {dtype}")
            rounds = ours(folder, 2 if quick else ROUNDS, seed, dtype, answers=2 if quick else 8, tokens=TOKENS)
            spent[dtype] = median(measured(rounds).cpu)
            show(Figure(name=f"precision/{model}, a round in {dtype}", value=spent[dtype], unit="CPU-s"), as_json)
    gains = {
        "products while generating": times.float32.generating / times.bfloat16.generating,
        "products of a step": times.float32.learning / times.bfloat16.learning,
        "a round": spent["float32"] / spent["bfloat16"],
    }
    for what, gain in gains.items():
        name = f"precision/{model}, bfloat16 against float32, {what}"
        show(Figure(name=name, value=gain, unit="times as fast"), as_json)
    chosen = "bfloat16" if times.bfloat16_pays else "float32"
    worst = spent[chosen] / min(spent.values())
    figure = Figure(
        name=f"precision/{model}, what is measured faster against the faster",
        value=worst,
        unit="times its CPU-s",
        note=f"{chosen} is measured faster",
    )
    show(with_goal(figure, "at most 1.1", worst <= 1.1) if model == "135M" else figure, as_json)


if __name__ == "__main__":
    main()

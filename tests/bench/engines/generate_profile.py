"""Where does the time of answering go? What generate.py compares, taken apart on one thread.

    python -m tests.bench.engines.generate_profile [--quick] [--json] [--seed N] [--models starter,50M,0.5B]

The same questions and shapes, fewer tokens. Each engine's rate compared with the model's matrix products alone, in
float32 in torch: how far generate() is from what the processor can multiply says how much faster anything with the same
arithmetic can be. Our llama.cpp loop is split into llama_decode, drawing and Python, llama_decode into its
operations (computed one by one for that, as llama.cpp's callback asks). The rates for 1, 8 and 72 answers at once show
who gains from a batch. The last part is a round as the product plays it: 32 questions of the catalogue's lengths, 8
answers each that end by chance, 64 at once. It is repeated without refilling the places of ended answers. It has no
goals of its own: it explains why those of generate.py are reached or missed.
"""

import contextlib
import ctypes
import functools
import importlib.util
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import torch

from sapo_desktop.core.records import Sampling, TrainerSettings
from sapo_desktop.engines.answering import GenerationJob, GenerationMonitor
from sapo_desktop.engines.protocols import Load, WriteGguf
from sapo_desktop.engines.torch import generation
from sapo_desktop.engines.torch.service import PROMPT_TOKENS_AT_ONCE, TorchEngine, create
from tests.bench.engines.generate import LlamaWays, Ways, least
from tests.bench.engines.generate_job import (
    ANSWERS,
    QUESTIONS,
    JobOptions,
    job_of,
    plain_model,
    with_our_torch,
    with_transformers,
)
from tests.bench.engines.models import model_for_both_engines
from tests.bench.figure import Figure, arguments, cpu_seconds, show, tell

TOKENS = {"starter": 60, "50M": 24, "0.5B": 6}
AT_ONCE = {1: (1, 1), ANSWERS: (1, ANSWERS), QUESTIONS * ANSWERS: (QUESTIONS, ANSWERS)}
"""Answers at once: questions, and answers to each."""
ALL = max(AT_ONCE)
TORCH, TRANSFORMERS, LLAMA = "torch engine", "transformers float32", "llama.cpp F16, bare loop"
PRODUCTS, ATTENTION = "MUL_MAT", "FLASH_ATTN_EXT"
"""ggml's names of operations."""
LENGTHS = (6, 7, 8, 9, 11, 13, 17, 18, 22, 25, 32, 38, 44, 55, 170, 324)
"""Tokens that questions of all families and levels have in the starter's tokenizer; each length twice in a round."""
ROUND_BATCH, ROUND_TOKENS, ROUND_MEAN = 64, 256, 50
"""Answers under way, the longest, and the mean as random weights end them."""
Spent = defaultdict[str, float]
"""CPU seconds by what took them."""


def main() -> None:
    """Measure and print."""
    parser = arguments(__doc__)
    parser.add_argument("--models", default="starter,50M", help="by comma, of starter, 50M, 0.5B")
    options = parser.parse_args()
    torch.set_num_threads(1)
    for shape in ["starter"] if options.quick else options.models.split(","):
        with tempfile.TemporaryDirectory() as folder:
            measure(shape, Path(folder), options)


def measure(shape: str, folder: Path, options: Any) -> None:
    """Take one model apart."""
    tokens, turns = (8, 1) if options.quick else (TOKENS[shape], 3)

    def put(name: str, value: float, unit: str, note: str = "") -> None:
        show([Figure(f"{name}, {shape}", value, unit, note=note)], options)

    service = create()
    model = str(model_for_both_engines(folder / "model", shape, options.seed))
    service.handle(Load(model=model, trainer=TrainerSettings(), threads=1, dtype="float32"), lambda _: None)
    engine = service._engine
    assert engine is not None
    jobs = {
        count: job_of(JobOptions(tokens=tokens, seed=options.seed, questions=questions, answers=answers))
        for count, (questions, answers) in AT_ONCE.items()
    }
    file = None
    if importlib.util.find_spec("llama_cpp"):
        file = folder / "model.gguf"
        service.handle(WriteGguf(model=model, file=str(file), weights="F16"), lambda _: None)
    plain = plain_model(engine)
    rates: dict[tuple[str, int], float] = {}
    for count, job in jobs.items():
        spent = least(ways_of(engine, plain, file, job), turns, f"{shape}, {count} at once")
        for name, seconds in spent.items():
            rates[name, count] = job.total * tokens / seconds
            put(f"{name}, {count} at once", rates[name, count], "tokens per CPU-s")
    tell(f"{shape}: matrix products alone")
    alone = ALL / products_alone(plain, ALL, seconds=0.2 if options.quick else 3.0)
    put("matrix products alone, torch float32, 72 rows", alone, "tokens per CPU-s")
    for name in (TRANSFORMERS, TORCH):
        put(f"{name}: in matrix products", rates[name, ALL] / alone, "of its CPU time", "72 at once")
    put(
        "4 times transformers float32 against matrix products alone",
        4 * rates[TRANSFORMERS, ALL] / alone,
        "times",
        "what the goal asks; above 1 float32 in torch cannot reach it with nothing else to do",
    )
    put("torch engine: in drawing", share_of_drawing(engine, jobs[ALL]), "of its CPU time")
    for name, rate in rates_of_a_round(engine, options).items():
        put(f"torch engine: a round{name}", rate, "tokens per CPU-s")
    if file is not None:
        for name, share in shares_of_loop(LlamaWays(file, jobs[ALL])).items():
            put(f"our llama.cpp loop: {name}", share, "of its CPU time")
        pass_seconds = ALL * (tokens - 1) / tokens / rates[LLAMA, ALL]
        shares = shares_of_decode(file, jobs[ALL])
        for name in (PRODUCTS, ATTENTION):
            put(f"llama_decode: {name}", shares[name], "of its operations' time")
        slower = shares[PRODUCTS] * pass_seconds * alone / ALL
        put("llama.cpp's matrix products against torch's", 1 / slower, "times as fast", "by the two figures above")


def ways_of(engine: TorchEngine, plain: Any, file: Path | None, job: GenerationJob) -> Ways:
    """Our torch engine, transformers, and llama.cpp with nothing around it."""
    ways = {TORCH: with_our_torch(engine, job), TRANSFORMERS: with_transformers(plain, job)}
    if file is not None:
        ways[LLAMA] = LlamaWays(file, job).bare
    return {name: functools.partial(cpu_seconds, way) for name, way in ways.items()}


def products_alone(model: Any, rows: int, seconds: float) -> float:
    """Least CPU seconds of one pass's products of `rows` rows with each of the model's matrices; tried so long."""
    matrices = [module.weight for module in model.modules() if isinstance(module, torch.nn.Linear)]
    inputs = {matrix.shape[1]: torch.randn(rows, matrix.shape[1]) for matrix in matrices}

    def work() -> None:
        with torch.inference_mode():
            for matrix in matrices:
                torch.nn.functional.linear(inputs[matrix.shape[1]], matrix)

    taken = [cpu_seconds(work)]
    while sum(taken) < seconds or len(taken) < 2:
        taken.append(cpu_seconds(work))
    return min(taken)


def share_of_drawing(engine: TorchEngine, job: GenerationJob) -> float:
    """The share of drawing in our torch engine's time."""
    spent: Spent = defaultdict(float)
    with timed(generation, "draw", spent):
        total = whole(with_our_torch(engine, job), spent)
    return spent["draw"] / total


def rates_of_a_round(engine: TorchEngine, options: Any) -> dict[str, float]:
    """Tokens per CPU second, as it is and with each batch answered to its end before the next begins."""
    words = torch.Generator().manual_seed(options.seed)
    lengths = LENGTHS[:4] if options.quick else 2 * LENGTHS
    prompts = [torch.randint(0, 250, (length,), generator=words).tolist() for length in lengths]
    ends = frozenset(range(engine.lm.vocabulary // ROUND_MEAN))
    sampling = Sampling(max_tokens=ROUND_TOKENS, seed=options.seed)
    limits = {"batch": ROUND_BATCH, "prompt_tokens": PROMPT_TOKENS_AT_ONCE}
    job = GenerationJob(prompts, ANSWERS, sampling, ends, engine.lm.context, **limits)
    made = generation.generate(job, engine.starter(base=False), engine.lm.device, GenerationMonitor())
    spent: dict[str, list[float]] = {"": [], ", in turns": []}
    for _ in range(1 if options.quick else 3):
        for name, share in zip(spent, (generation.REFILL_SHARE, 2.0), strict=True):
            with mock.patch.object(generation, "REFILL_SHARE", share):
                spent[name].append(cpu_seconds(with_our_torch(engine, job)))
    return {name: sum(map(len, made.tokens)) / min(seconds) for name, seconds in spent.items()}


def shares_of_loop(ways: LlamaWays) -> dict[str, float]:
    """Shares of our llama.cpp loop's time: the library, drawing, and the rest, which is Python and numpy."""
    from sapo_desktop.engines.llama_cpp import generator as llama_cpp
    from sapo_desktop.engines.llama_cpp import streams as llama_cpp_streams

    spent: Spent = defaultdict(float)
    with timed(llama_cpp_streams.c, "llama_decode", spent), timed(llama_cpp, "draw_tokens", spent):
        total = whole(ways.ours, spent)
    shares = {"llama_decode": spent["llama_decode"] / total, "drawing": spent["draw_tokens"] / total}
    return shares | {"the rest": 1 - sum(shares.values())}


def whole(work: Callable[[], object], spent: Spent) -> float:
    """CPU seconds of a second run; `spent` has those of its parts."""
    work()
    spent.clear()
    return cpu_seconds(work)


@contextlib.contextmanager
def timed(module: Any, name: str, spent: Spent) -> Iterator[None]:
    """Note the CPU seconds that a function takes while it is called through that module."""
    function = getattr(module, name)

    def noted(*given: Any, **named: Any) -> Any:
        began = time.process_time()
        try:
            return function(*given, **named)
        finally:
            spent[name] += time.process_time() - began

    with mock.patch.object(module, name, noted):
        yield


def shares_of_decode(file: Path, job: GenerationJob) -> dict[str, float]:
    """Shares of llama_decode's time by operation."""
    import llama_cpp.llama_cpp as c

    spent: Spent = defaultdict(float)
    began = 0.0
    name_of = c._lib.ggml_op_desc
    name_of.argtypes, name_of.restype = [ctypes.c_void_p], ctypes.c_char_p

    @c.ggml_backend_sched_eval_callback  # type: ignore[untyped-decorator]
    def computed(tensor: int, asked: bool, _: Any) -> bool:
        nonlocal began
        if not asked:
            spent[name_of(tensor).decode()] += time.process_time() - began
        began = time.process_time()
        return True

    def begin(model: Any, settings: Any) -> Any:
        settings.cb_eval = computed
        return start(model, settings)

    start = c.llama_init_from_model
    with mock.patch.object(c, "llama_init_from_model", begin):
        ways = LlamaWays(file, job)
    ways.bare()
    spent.clear()
    ways.bare()
    total = sum(spent.values())
    return {name: seconds / total for name, seconds in spent.items()}


if __name__ == "__main__":
    main()

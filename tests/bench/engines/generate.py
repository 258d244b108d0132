"""How fast do the generators answer? Nine questions, eight answers each, on one thread.

    python -m tests.bench.engines.generate [--quick] [--json] [--seed N] [--models starter,50M,0.5B]

Random weights in the shapes of models.py; no answer ends early, so every way does the same work. Compared within the
run, in turns, by CPU time, because the machine may be busy with something else: our loops in torch and in llama.cpp (16
bits a weight, and the 8 and 4 that a node answers with), transformers' own generate() of the base in both,
a bare llama.cpp decode loop of the same batch that draws nothing, and llama-cpp-python one answer after the other. On
x86-64 also our torch loop in a process that is held to AVX2, as on a processor without AVX-512. At the end by wall time
what the number of threads, following the load, makes of a machine whose cores are all kept busy. Without
llama-cpp-python its lines are missing. generate_profile.py shows where the time goes.
"""

import contextlib
import copy
import functools
import importlib.util
import multiprocessing
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from sapo_desktop.core.records import TrainerSettings
from sapo_desktop.engines.answering import GenerationJob, GenerationMonitor
from sapo_desktop.engines.protocols import Load, WriteGguf
from sapo_desktop.engines.torch.service import TorchEngine, create
from tests.bench.engines.generate_job import (
    PROMPT_TOKENS,
    JobOptions,
    held_to_avx2,
    job_of,
    plain_model,
    with_our_torch,
    with_transformers,
)
from tests.bench.engines.models import model_for_both_engines
from tests.bench.figure import Figure, arguments, at_least, cpu_seconds, show, tell

TOKENS = {"starter": 150, "50M": 60, "0.5B": 12}
"""Answer tokens by model: the larger ones take minutes as it is."""
OURS, LLAMA = "our torch engine", "llama.cpp"
HELD = f"{OURS}, held to AVX2"
LARGE = {"0.5B"}
"""Not held to AVX2, as the model would lie in memory once more; and not in bfloat16 by transformers, which takes 20 GB
for these 72 prompts where the processor has no instructions for it, and was a sixth as fast as float32."""
BITS = ("q8_0", "q4_0")
Ways = dict[str, Callable[[], float]]
"""What each of them takes for the questions, in CPU seconds."""


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
    """Every way with one model."""
    tokens, turns = (20, 1) if options.quick else (TOKENS[shape], 3 if shape == "starter" else 2)
    service = create()
    model = str(model_for_both_engines(folder / "model", shape, options.seed))
    service.handle(Load(model=model, trainer=TrainerSettings(), threads=1, dtype="float32"), lambda _: None)
    engine = service._engine
    assert engine is not None
    wanted = JobOptions(tokens=tokens, seed=options.seed)
    job = job_of(wanted)
    with contextlib.ExitStack() as held:
        ways = torch_ways(engine, job, shape)
        if platform.machine().lower() in {"x86_64", "amd64"} and shape not in LARGE:
            ways[HELD] = held.enter_context(held_to_avx2(model, wanted))
        llama = None
        if importlib.util.find_spec("llama_cpp"):
            file = folder / "model.gguf"
            service.handle(WriteGguf(model=model, file=str(file), weights="F16"), lambda _: None)
            llama = LlamaWays(file, job)
            ways |= llama.ways() | quantised_ways(file, job)
        rates = {name: job.total * tokens / seconds for name, seconds in least(ways, turns, shape).items()}
    unit = "tokens per CPU-s"
    show((Figure(f"{unit} of {name}, {shape}", rate, unit) for name, rate in rates.items()), options)
    show(compare(shape, rates), options)
    if llama is not None:
        show(under_load(shape, llama, options.quick), options)


def least(ways: Ways, turns: int, shape: str) -> dict[str, float]:
    """The fewest CPU seconds of each way."""
    best = dict.fromkeys(ways, float("inf"))
    for turn in range(turns):
        for name, way in ways.items():
            tell(f"{shape}, turn {turn + 1} of {turns}: {name}")
            best[name] = min(best[name], way())
    return best


def torch_ways(engine: TorchEngine, job: GenerationJob, shape: str) -> Ways:
    """Our loop, and transformers' generate() in both precisions."""
    precisions = {"float32": plain_model(engine)}
    if shape not in LARGE:
        precisions["bfloat16"] = copy.deepcopy(precisions["float32"]).bfloat16()
    ways = {OURS: functools.partial(cpu_seconds, with_our_torch(engine, job))}
    for name, model in precisions.items():
        ways[f"transformers generate, {name}"] = functools.partial(cpu_seconds, with_transformers(model, job))
    return dict(ways)


def quantised_ways(file: Path, job: GenerationJob) -> Ways:
    """Our loop in llama.cpp over fewer bits a weight."""
    from sapo_desktop.engines.llama_cpp.service import quantise

    ways: Ways = {}
    for bits in BITS:
        smaller = file.with_name(f"model-{bits}.gguf")
        quantise(file, smaller, bits, threads=1)
        ways[f"{LLAMA} {bits}"] = functools.partial(cpu_seconds, LlamaWays(smaller, job).ours)
    return ways


class LlamaWays:
    """llama.cpp over one file: our loop, the least loop there can be, and the high-level interface."""

    def __init__(self, file: Path, job: GenerationJob) -> None:
        from sapo_desktop.engines.llama_cpp.generator import stream_length
        from sapo_desktop.engines.llama_cpp.model import GgufModel
        from sapo_desktop.engines.llama_cpp.streams import Streams

        self.file, self.job = file, job
        self.streams = Streams(GgufModel(file, gpu=False), job.total, stream_length(job), exact=False)

    def ways(self) -> Ways:
        ways = {LLAMA: self.ours, f"{LLAMA}, bare decode loop": self.bare, "llama-cpp-python, one by one": self.single}
        return {name: functools.partial(cpu_seconds, way) for name, way in ways.items()}

    def ours(self) -> object:
        from sapo_desktop.engines.llama_cpp.generator import generate as generate_with_llama

        return generate_with_llama(self.job, self.streams, GenerationMonitor())

    def bare(self) -> None:
        """The same tokens through llama_decode, prompts shared, nothing drawn and nothing noted."""
        import numpy as np

        job, streams = self.job, self.streams
        streams.clear()
        for number, prompt in enumerate(job.prompts):
            streams.read([prompt], [number * job.answers])
        for place in range(job.total):
            if place % job.answers:
                streams.copy(place - place % job.answers, place)
        tokens, every = np.full(job.total, 7, np.int32), np.arange(job.total)
        for step in range(job.sampling.max_tokens - 1):
            streams.decode(tokens, tokens * 0 + PROMPT_TOKENS + step, every, np.ones(job.total, bool))

    def single(self) -> None:
        """One answer after the other; the prompt of a question stays in its cache."""
        from llama_cpp import Llama

        llama = Llama(str(self.file), n_ctx=512, n_threads=1, n_threads_batch=1, verbose=False, seed=1)
        length = self.job.sampling.max_tokens
        for row in range(self.job.total):
            drawn = llama.generate(self.job.prompt(row), temp=1.0, top_k=0, top_p=1.0, min_p=0.0)
            for _ in range(length):
                next(drawn)
        llama.close()

    def wall_rate(self, threads: int, seconds: float) -> float:
        """Tokens a second by the clock, with the number of threads following the load."""
        from sapo_desktop.engines.llama_cpp.generator import generate as generate_with_llama
        from sapo_desktop.engines.llama_cpp.threads import ThreadPace, Used

        def used() -> Used:
            return Used(time.monotonic(), time.process_time())

        pace = ThreadPace(threads, used())
        self.streams.use_threads(pace.count)
        began, tokens = time.monotonic(), 0
        while time.monotonic() - began < seconds:
            watch = GenerationMonitor()
            generate_with_llama(self.job, self.streams, watch, lambda: self.streams.use_threads(pace.passed(used())))
            tokens += watch.tokens
        self.streams.use_threads(1)
        return tokens / (time.monotonic() - began)


def compare(shape: str, rates: dict[str, float]) -> Iterator[Figure]:
    """The ratios that have goals; those of the largest model are reported without."""
    goals = shape != "0.5B"
    slow = rates["transformers generate, float32"]
    half = rates.get("transformers generate, bfloat16", slow)
    yield ratio(shape, "torch engine against transformers float32", rates[OURS] / slow, 2 if goals else None)
    if LLAMA not in rates:
        return
    ours = rates[LLAMA]
    yield ratio(shape, "llama.cpp against its bare loop", ours / rates[f"{LLAMA}, bare decode loop"], 0.95)
    yield ratio(shape, "llama.cpp against transformers float32", ours / slow, 4 if goals else None)
    best = max(slow, half)
    yield ratio(shape, "llama.cpp against transformers' best", ours / best, 2.5 if goals else None)
    single = rates["llama-cpp-python, one by one"]
    yield ratio(shape, "llama.cpp against one by one", ours / single, 3)
    for name in (LLAMA, *(f"{LLAMA} {bits}" for bits in BITS)):
        yield ratio(shape, f"{name} against {OURS}", rates[name] / rates[OURS], None)
    if HELD in rates:
        yield ratio(shape, f"{LLAMA} against {HELD}", ours / rates[HELD], None)


def under_load(shape: str, llama: LlamaWays, quick: bool) -> Iterator[Figure]:
    """One thread on the machine as it is, against threads that follow the load while every core is kept busy."""
    seconds = 3.0 if quick else 20.0
    cores = os.cpu_count() or 1
    tell(f"{shape}: by the clock")
    idle = llama.wall_rate(1, seconds)
    context = multiprocessing.get_context("spawn")
    others = [context.Process(target=spin, daemon=True) for _ in range(cores)]
    for one in others:
        one.start()
    time.sleep(1.0)
    try:
        busy = llama.wall_rate(cores, seconds)
    finally:
        for one in others:
            one.terminate()
            one.join()
    yield Figure(f"one thread, {shape}", idle, "tokens per s")
    yield ratio(shape, "all cores busy against one thread before", busy / idle, 0.5)


def spin() -> None:
    """Keep a core busy."""
    while True:
        pass


def ratio(shape: str, name: str, value: float, goal: float | None) -> Figure:
    return at_least(f"{name}, {shape}", value, "times", goal)


if __name__ == "__main__":
    main()

"""Memory and time of a round on a graphics card, compared with the estimates of models/fit.

    python -m tests.bench.engines.card [--quick] [--json] [--seed N] [--only WORD] [--folder DIR]

Needs an NVIDIA card and a torch built for it. Uses random weights in the catalogue's real shapes, each case in its own
process (card_child.py). The loader plans for a card of so many GiB with 90% free, and tensors are limited to that, so a
large card shows whether a plan for a small one holds. A round of the default settings is played with answers of half
the longest length, as models/fit/pace.py assumes. Then the longest answers are written and learned from, for the peak.
A plan holds if nothing was halved. Recorded decoding steps are compared with computed ones, in time and results.
`--folder` keeps the weights for another run.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import torch

from sapo_desktop.core.fitting import Parts, Way
from sapo_desktop.core.settings import Settings
from sapo_desktop.models.catalogue import Entry, model_catalogue
from sapo_desktop.models.fit import pace, ways
from sapo_desktop.models.fit.memory import CUDA_CONTEXT, CUDA_RUNTIME, TorchModel, Work, answering, learning, tensors_of
from sapo_desktop.models.fit.room import described
from sapo_desktop.system.hardware import probe
from tests.bench.engines.card_child import Job, Spent
from tests.bench.engines.memory import OVER, UNDER, Models
from tests.bench.figure import Figure, arguments, at_most, exactly, show, tell


class Case(NamedTuple):
    """A model of the catalogue on a card."""

    model: str
    gibibytes: int


CASES = [
    Case("starter", 2),
    Case("smollm2-135m", 4),
    Case("qwen2.5-0.5b", 4),
    Case("qwen3-0.6b", 4),
    Case("qwen3-1.7b", 8),
    Case("qwen3-1.7b", 24),
    Case("smollm3-3b", 8),
    Case("qwen3-4b", 8),
    Case("qwen3-4b", 12),
    Case("qwen3-4b", 24),
    Case("qwen3-8b", 16),
    Case("qwen3-8b", 24),
]
SETTINGS = Settings(device="cuda")
OFF_FLOAT32, OFF_BFLOAT16 = 1e-4, 2e-3
"""What sums in another order may change of a token's log-probability."""


def main() -> None:
    """Measure and print."""
    parser = arguments(__doc__)
    parser.add_argument("--only", default="", metavar="WORD", help="cases whose model and size have it")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="where weights are made and kept")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("There is no card here that this torch computes on.")
    with tempfile.TemporaryDirectory(prefix="sapo-card-") as scratch:
        models = Models(options.folder or Path(scratch), options.seed)
        for case in CASES[:1] if options.quick else CASES:
            if options.only in f"{case.model} {case.gibibytes}":
                show(figures(case, models, options), options)


def figures(case: Case, models: Models, options: argparse.Namespace) -> Iterator[Figure]:
    """Everything about one case."""
    entry = model_catalogue().find(case.model)
    assert entry is not None
    hardware = described(None, case.gibibytes, probe(Path.cwd()))
    way = ways.plan(ways.Model.of(entry), hardware, SETTINGS)
    spent = played(entry, way, hardware.gpus[0].free, models.transformers(case.model), options.seed)
    how = way.precision + (" in 8 bits" if way.rounded else "") + (" twice" if way.recompute else "")
    name = f"card/{case.model} in {case.gibibytes} GiB, {how}, {way.batch} at once, micro-batch {way.micro_batch}"
    for phase, peak, estimate in zip(("answers", "learns"), spent.peaks, estimated(entry, way), strict=True):
        ratio = (estimate.total - CUDA_CONTEXT) / peak
        note = f"peak {peak / 1e6:,.0f} MB beside CUDA's own, {max(spent.reserved) / 1e6:,.0f} MB reserved"
        within = UNDER <= ratio <= OVER
        yield Figure(f"{name}: {phase}, estimate", ratio, "of the peak", f"{UNDER} to {OVER}", within, note)
    yield exactly(f"{name}: halved", spent.halved, "times", 0)
    expected = pace.round_seconds(way, entry.shape, hardware, SETTINGS.questions, 1)
    seconds = spent.answering + spent.learning
    note = f"answers {spent.answering:.2f} s, learns {spent.learning:.2f} s; estimated {expected:.2f} s"
    yield Figure(f"{name}: a round", seconds, "s", note=note)
    yield Figure(f"{name}: writes", spent.tokens / spent.answering, "tokens a second")
    yield Figure(f"{name}: writes, where answers end one by one", spent.mixed, "tokens a second")
    yield Figure(f"{name}: a token of each answer", spent.a_token * 1e3, "ms")
    yield Figure(f"{name}: the same, not recorded", spent.a_token_computed * 1e3, "ms")
    off = OFF_FLOAT32 if way.precision == "float32" else OFF_BFLOAT16
    yield at_most(f"{name}: what recording changes", spent.off, "of a log-probability", off)
    yield at_most(f"{name}: CUDA's own", spent.context / 1e6, "MB of the card", CUDA_CONTEXT / 1e6)
    own = (spent.host - spent.file) / 1e6
    yield at_most(
        f"{name}: the process", own, "MB of the computer's memory beside the model's file", CUDA_RUNTIME / 1e6
    )


def estimated(entry: Entry, way: Way) -> tuple[Parts, Parts]:
    """What answering takes of the card, and what learning does."""
    model = TorchModel(
        shape=entry.shape,
        architecture=entry.architecture,
        width=4 if way.precision == "float32" else 2,
        device="cuda",
        rounded=way.rounded,
    )
    work = Work(
        prompts=max(1, min(SETTINGS.questions, way.batch)),
        batch=way.batch,
        micro_batch=way.micro_batch,
        prompt_tokens=way.prompt_tokens,
        max_tokens=way.max_tokens,
        rank=way.lora_rank,
        recompute=way.recompute,
    )
    learn = learning(model, work)
    return answering(model, work) + Parts(adapter=learn.adapter, optimiser=learn.optimiser), learn


def played(entry: Entry, way: Way, free: int, folder: Path, seed: int) -> Spent:
    """One case in its own process."""
    job = Job(
        model=str(folder),
        way=way,
        questions=SETTINGS.questions,
        written=int(pace.counts(way, entry.exact_parameters, 1).written / way.answers),
        card_memory=tensors_of(free),
        vocabulary=min(250, entry.shape.vocabulary),
        seed=seed,
    )
    tell(f"{entry.id}: {way.device_memory.total / 1e9:.1f} GB planned of {free / 1e9:.1f} GB")
    command = [sys.executable, "-m", "tests.bench.engines.card_child", msgspec.json.encode(job).decode()]
    done = subprocess.run(command, env={**os.environ, "HF_HUB_OFFLINE": "1"}, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise SystemExit(f"{job} ended with {done.returncode}.")
    return msgspec.json.decode(done.stdout.splitlines()[-1], type=Spent)


if __name__ == "__main__":
    main()

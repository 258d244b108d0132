"""Compares the estimates of models/fit/memory.py with the memory that engines really take.

    python -m tests.bench.engines.memory [--quick] [--json] [--seed N] [--only WORD]

Random weights in the real shapes of the catalogue, and the starter; each case in its own process
(memory_child.py), whose memory is looked at every few milliseconds. What counts is RssAnon + RssShmem (RSS
less file pages that other processes may share), and, while the engine works, the pages of the model's own files where
those are used in place (torch, where file and computation have one number format): without them every token would be
read from disk. llama.cpp maps no file here (engines/llama_cpp/model.py). A case that the machine has no free memory for
is skipped, and said so.
"""

import contextlib
import ctypes
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import psutil
import torch

from sapo_desktop.core.fitting import Parts
from sapo_desktop.core.resources import resource
from sapo_desktop.engines.gguf.folder import write_folder
from sapo_desktop.models.catalogue import model_catalogue
from sapo_desktop.models.fit.memory import TorchModel, Work, answering, learning, llama_answering, torch_width
from tests.bench.engines.memory_child import Case, Job, Phase
from tests.bench.engines.models import random_model
from tests.bench.figure import Figure, arguments, show, tell

LOOK_SECONDS = 0.004
OVER, UNDER = 1.15, 0.95
SPARE = 1.5e9
"""Left to others on this machine."""


CASES = [
    Case(model="starter", prompts=8, answers=8, prompt_tokens=64, max_tokens=128, quick=True),
    Case(model="starter", work="train", micro_batch=16, prompt_tokens=64, max_tokens=192),
    Case(model="starter", engine="llama.cpp", quantisation="F16", prompts=4, answers=8, max_tokens=32, quick=True),
    Case(model="starter", work="train", method="full", micro_batch=8, prompt_tokens=64, max_tokens=192),
    Case(model="smollm2-135m", prompts=8, answers=8, prompt_tokens=192, max_tokens=16),
    Case(model="smollm2-135m", work="train", micro_batch=4, prompt_tokens=64, max_tokens=128),
    Case(model="smollm2-135m", engine="llama.cpp", quantisation="Q8_0", prompts=4, answers=8, max_tokens=8),
    Case(
        model="smollm2-135m",
        engine="llama.cpp",
        quantisation="F16",
        cache_type="f32",
        prompts=4,
        answers=4,
        max_tokens=8,
    ),
    Case(model="smollm2-360m", prompts=2, answers=8, prompt_tokens=192, max_tokens=12),
    Case(model="smollm2-360m", work="train", micro_batch=2, prompt_tokens=64, max_tokens=128),
    Case(model="qwen2.5-0.5b", prompts=2, answers=8, prompt_tokens=192, max_tokens=12),
    Case(model="qwen2.5-0.5b", work="train", micro_batch=2, prompt_tokens=64, max_tokens=128),
    Case(model="qwen2.5-0.5b", work="train", micro_batch=2, prompt_tokens=64, max_tokens=128, recompute=True),
    Case(model="qwen2.5-0.5b", engine="llama.cpp", quantisation="Q4_K_M", prompts=4, answers=8, max_tokens=8),
    Case(model="qwen3-0.6b", prompts=2, answers=8, prompt_tokens=192, max_tokens=12),
    Case(model="qwen3-0.6b", work="train", micro_batch=1, prompt_tokens=64, max_tokens=128),
    Case(model="qwen2.5-1.5b", prompts=1, answers=8, prompt_tokens=128, max_tokens=8),
    Case(model="qwen2.5-1.5b", work="train", micro_batch=1, prompt_tokens=32, max_tokens=96),
    Case(model="qwen2.5-1.5b", work="train", micro_batch=1, prompt_tokens=32, max_tokens=96, recompute=True),
    Case(model="qwen2.5-1.5b", dtype="bfloat16", prompts=1, answers=8, prompt_tokens=128, max_tokens=8),
    Case(model="qwen2.5-1.5b", dtype="bfloat16", work="train", prompt_tokens=32, max_tokens=96, recompute=True),
    Case(model="qwen2.5-1.5b", dtype="bfloat16", rounded=True, prompts=1, answers=8, prompt_tokens=128, max_tokens=8),
    Case(
        model="qwen2.5-1.5b",
        dtype="bfloat16",
        rounded=True,
        work="train",
        prompt_tokens=32,
        max_tokens=96,
        recompute=True,
    ),
    Case(model="qwen2.5-1.5b", engine="llama.cpp", quantisation="Q4_K_M", prompts=1, answers=8, max_tokens=4),
    Case(model="qwen2.5-1.5b", engine="llama.cpp", quantisation="Q4_0", prompts=1, answers=8, max_tokens=4),
]


def main() -> None:
    """Measure and print."""
    parser = arguments(__doc__)
    parser.add_argument("--only", default="", metavar="WORD", help="cases whose name has it")
    options = parser.parse_args()
    within = []
    with tempfile.TemporaryDirectory(prefix="sapo-memory-") as folder:
        models = Models(Path(folder), options.seed)
        for case in CASES:
            if options.only not in case.name or (options.quick and not case.quick):
                continue
            estimate = estimated(case, models)
            free = psutil.virtual_memory().available
            if estimate.total + SPARE > free:
                tell(f"{case.name}: skipped, needs {estimate.total / 1e9:.1f} GB and {free / 1e9:.1f} GB are free")
                continue
            figure = figure_of(case, measure(case, models, options.seed), estimate.total)
            within.append(figure.held)
            show([figure], options)
    good, name = sum(map(bool, within)), "estimates within the goal"
    show([Figure(name, good, "cases", f"all of {len(within)}", all(within))], options)


def figure_of(case: Case, peak: int, estimate: int) -> Figure:
    ratio, note = estimate / peak, f"peak {peak / 1e6:,.0f} MB, estimate {estimate / 1e6:,.0f} MB"
    return Figure(case.name, ratio, "of the peak", f"{UNDER} to {OVER}", UNDER <= ratio <= OVER, note)


class Models:
    """Builds models when they are first asked for."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder, self._seed = folder, seed

    def transformers(self, name: str) -> Path:
        """A folder in transformers' layout, weights in bfloat16."""
        if name == "starter":
            return resource("starter")
        folder = self._folder / name
        if not folder.exists():
            tell(f"making random weights of {name}")
            entry = model_catalogue().find(name)
            assert entry is not None
            shape = entry.shape
            random_model(
                folder,
                entry.architecture,
                self._seed,
                vocab_size=shape.vocabulary,
                hidden_size=shape.hidden,
                num_hidden_layers=shape.layers,
                num_attention_heads=shape.heads,
                num_key_value_heads=shape.kv_heads,
                head_dim=shape.head,
                intermediate_size=shape.ffn,
                max_position_embeddings=entry.context,
                tie_word_embeddings=shape.tied,
            )
        return folder

    def gguf(self, name: str, quantisation: str) -> Path:
        """A GGUF file, quantised by llama.cpp."""
        path = self._folder / f"{name}-{quantisation}.gguf"
        if path.exists():
            return path
        if quantisation == "F16":
            write_folder(self.transformers(name), path, "F16")
            return path
        source = self.gguf(name, "F16")
        import llama_cpp as c

        tell(f"quantising {name} to {quantisation}")
        options = c.llama_model_quantize_default_params()
        options.nthread = 1
        options.ftype = {
            "Q4_0": c.LLAMA_FTYPE_MOSTLY_Q4_0,
            "Q4_K_M": c.LLAMA_FTYPE_MOSTLY_Q4_K_M,
            "Q8_0": c.LLAMA_FTYPE_MOSTLY_Q8_0,
        }[quantisation]
        with quiet_stderr():
            assert c.llama_model_quantize(str(source).encode(), str(path).encode(), ctypes.byref(options)) == 0
        return path


@contextlib.contextmanager
def quiet_stderr() -> Iterator[None]:
    """llama.cpp tells of every tensor it quantises."""
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)


def estimated(case: Case, models: Models) -> Parts:
    """The product's own estimate of a case."""
    entry = model_catalogue().find(case.model)
    assert entry is not None
    work = Work(
        prompts=case.prompts,
        batch=case.prompts * case.answers,
        micro_batch=case.micro_batch,
        prompt_tokens=case.prompt_tokens,
        max_tokens=case.max_tokens,
        method="full" if case.method == "full" else "lora",
        recompute=case.recompute,
    )
    if case.engine == "llama.cpp":
        size = models.gguf(case.model, case.quantisation).stat().st_size
        return llama_answering(entry.shape, size, work, cache_width=4 if case.cache_type == "f32" else 2)
    width = torch_width(entry.exact_parameters, "cpu", fast_bfloat16=case.dtype == "bfloat16")
    model = TorchModel(shape=entry.shape, architecture=entry.architecture, width=width, rounded=case.rounded)
    return learning(model, work) if case.work == "train" else answering(model, work)


def measure(case: Case, models: Models, seed: int) -> int:
    """Run the case and look at its process until it is done; returns its peak in bytes."""
    path = models.gguf(case.model, case.quantisation) if case.quantisation else models.transformers(case.model)
    entry = model_catalogue().find(case.model)
    assert entry is not None
    job = Job(case=case, model=str(path), vocabulary=min(250, entry.shape.vocabulary), seed=seed)
    tell(case.name)
    return watch(job)


def watch(job: Job) -> int:
    """The highest memory of a job."""
    command = [sys.executable, "-m", "tests.bench.engines.memory_child", msgspec.json.encode(job).decode()]
    env = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    peak, phase = 0, None
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, env=env) as child,
    ):
        assert child.stdin is not None and child.stdout is not None
        highest = 0
        while True:
            highest = max(highest, private_bytes(child.pid))
            if not select.select([child.stdout], [], [], LOOK_SECONDS)[0]:
                continue
            # Blocks until the line is whole: a part of one may be there first.
            line = child.stdout.readline()
            if not line:
                break
            phase = msgspec.json.decode(line, type=Phase)
            # While a model is loaded its file is read once and let go; later, mapped pages are computed with.
            peak = max(peak, highest + (phase.mapped if phase.name == "done" else 0))
            highest = 0
            child.stdin.write(b"\n")
            child.stdin.flush()
        if child.wait() or phase is None or phase.name != "done":
            said.seek(0)
            words = said.read().decode(errors="replace")
            raise SystemExit(f"{words}\n{job} ended with {child.returncode} after {phase}.")
    return peak


def private_bytes(pid: int) -> int:
    """RssAnon + RssShmem of a process; 0 once it has ended."""
    with contextlib.suppress(OSError, KeyError):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        sizes = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith("Rss")}
        return 1024 * (int(sizes["RssAnon"]) + int(sizes["RssShmem"]))
    return 0


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()

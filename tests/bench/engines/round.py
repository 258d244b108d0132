"""A whole round compared with the alternative: ours and TRL's GRPOTrainer, in one run.

    python -m tests.bench.engines.round [--quick] [--json] [--seed N] [--models starter 50M 135M 0.5B] [--rounds N]

8 questions, 8 answers of at most 64 tokens, one step on a LoRA adapter of rank 8; one thread, random weights, a process
of its own for each. Both sample at temperature 1 and use a simple countable reward, so nearly every group
teaches. TRL gets its best options: no reference, no gradient checkpointing, all answers generated at once. It learns
from all at once or from one question at a time (gradients added up), each in float32 and in bfloat16. The best of these
counts (for the peak, the one of least CPU). Running out of memory is reported. Seconds are those of the median
round after the first; the peak is the process's. Needs TRL (`installers/bootstrap.py test --slow` installs it).
"""

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from tests.bench.figure import Figure, arguments, at_least, at_most, peak_memory, show, tell
from tests.builders import as_prompts

if TYPE_CHECKING:
    from sapo_desktop.core.records import TrainingSequence

QUESTIONS, ANSWERS, TOKENS, RANK = 8, 8, 64, 8
OURS = "ours"
TRL = {
    "TRL": (False, QUESTIONS * ANSWERS),
    "TRL, a question at a time": (False, ANSWERS),
    "TRL in bfloat16": (True, QUESTIONS * ANSWERS),
    "TRL in bfloat16, a question at a time": (True, ANSWERS),
}
"""Whether in bfloat16, and answers learned from at once."""
GOALS = {"starter": (3.0, 0.3), "50M": (3.0, 0.3), "135M": (3.0, 0.3)}
"""Times TRL's speed, share of its peak."""


class Spent(msgspec.Struct):
    """What the rounds of one way took."""

    cpu: list[float]
    """Seconds of each round."""
    wall: list[float]
    peak: int
    """Bytes."""


def main() -> None:
    """Measure and print."""
    parser = arguments(__doc__)
    parser.add_argument("--models", nargs="+", default=["starter", "50M"])
    parser.add_argument("--rounds", type=int, default=5, help="two at least: the first warms up")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    rounds = 2 if options.quick else options.rounds
    if options.child:
        way, folder = options.child
        if way == OURS:
            loop = ours(Path(folder), rounds, options.seed)
        else:
            loop = trl(Path(folder), rounds, options.seed, *TRL[way])
        print(msgspec.json.encode(measured(loop)).decode())
        return
    for model in ["starter"] if options.quick else options.models:
        with tempfile.TemporaryDirectory() as folder:
            from tests.bench.engines.models import model_for_both_engines

            show(compare(model, model_for_both_engines(Path(folder), model, options.seed), options), options)


def compare(model: str, folder: Path, options: argparse.Namespace) -> Iterator[Figure]:
    """One process a way, and the figures."""
    theirs = [*TRL][:1] if options.quick else [*TRL]
    found = {way: played(model, way, folder, options) for way in (OURS, *theirs)}
    spent = {way: each for way, each in found.items() if each is not None}
    for way, each in found.items():
        if each is None:
            yield Figure(f"{way}, killed, {model}", 1, "times", note="the memory ended")
            continue
        yield Figure(f"{way}, CPU, {model}", median(each.cpu), "s")
        yield Figure(f"{way}, wall, {model}", median(each.wall), "s")
        yield Figure(f"{way}, peak, {model}", each.peak / 1e6, "MB")
    best = sorted((spent[way] for way in theirs if way in spent), key=lambda each: median(each.cpu))
    if not best:
        return
    faster, share = GOALS.get(model, (None, None))
    for what in ("cpu", "wall"):
        times = min(median(getattr(each, what)) for each in best) / median(getattr(spent[OURS], what))
        yield at_least(f"times TRL's best speed by {what}, {model}", times, "times", faster)
    peak = spent[OURS].peak / best[0].peak
    yield at_most(f"peak, {model}", peak, "of TRL's", share)


def played(model: str, way: str, folder: Path, options: argparse.Namespace) -> Spent | None:
    """The rounds of one way; None where there is no memory for them."""
    tell(f"{model}: {way}")
    command = [sys.executable, "-m", "tests.bench.engines.round", "--child", way, str(folder)]
    command += ["--seed", str(options.seed), "--rounds", str(2 if options.quick else options.rounds)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=False)
    if way != OURS and done.returncode == -signal.SIGKILL:
        return None
    done.check_returncode()
    return msgspec.json.decode(done.stdout.splitlines()[-1], type=Spent)


def median(rounds: list[float]) -> float:
    """The median of the rounds after the first, which warms up."""
    return statistics.median(rounds[1:])


def measured(rounds: Iterator[None]) -> Spent:
    """Play all rounds: the first `next` sets up, each further one plays one."""
    spent = Spent([], [], 0)
    next(rounds)
    cpu, wall = time.process_time(), time.monotonic()
    for _ in rounds:
        spent.cpu.append(time.process_time() - cpu)
        spent.wall.append(time.monotonic() - wall)
        cpu, wall = time.process_time(), time.monotonic()
    spent.peak = peak_memory()
    return spent


def reward(tokens: list[int]) -> float:
    """What both are given."""
    return float(sum(tokens) % 2)


def questions(seed: int) -> list[str]:
    """Questions with the lengths of the catalogue's."""
    return [f"what is {seed + i} plus {i * 37} minus {i}? " + "and then? " * (i % 4) for i in range(QUESTIONS)]


def ours(folder: Path, rounds: int, seed: int, answers: int = ANSWERS, tokens: int = TOKENS) -> Iterator[None]:
    """Generate, reward, normalise, step."""
    phases = Phases(folder, seed, answers=answers, tokens=tokens)
    yield
    for number in range(rounds):
        phases.learn(phases.answer(number))
        yield


class Phases:
    """Our engine, and what it does in a round."""

    def __init__(
        self, folder: Path, seed: int, *, answers: int = ANSWERS, tokens: int = TOKENS, threads: int = 1
    ) -> None:
        from sapo_desktop.core.records import TrainerSettings
        from sapo_desktop.engines.protocols import Load
        from sapo_desktop.engines.torch.service import TorchEngine

        trainer = TrainerSettings(lora_rank=RANK, lora_alpha=2 * RANK, learning_rate=1e-5)
        self._engine = TorchEngine(Load(model=str(folder), trainer=trainer, threads=threads))
        self._seed, self._answers, self._tokens = seed, answers, tokens

    def answer(self, number: int) -> "list[TrainingSequence]":
        """Generate; what is learned from then."""
        from sapo_desktop.core.records import Sampling, TrainingSequence
        from sapo_desktop.engines.protocols import Generate
        from sapo_desktop.learning.advantage import group_advantages

        sampling = Sampling(max_tokens=self._tokens, seed=self._seed + number)
        request = Generate(prompts=as_prompts(questions(self._seed)), answers=self._answers, sampling=sampling)
        made = self._engine.generate(request, lambda _: None, threading.Event().is_set)
        batch = []
        for prompt, completions in zip(made.prompt_tokens, made.completions, strict=True):
            advantages = group_advantages([reward(each.tokens) for each in completions])
            batch += [
                TrainingSequence(prompt=prompt, tokens=each.tokens, advantage=advantage)
                for each, advantage in zip(completions, advantages, strict=True)
            ]
        return batch

    def learn(self, batch: "list[TrainingSequence]") -> None:
        """One step; none where every answer to each question is worth the same."""
        skipped = self._engine.trainer.step(batch).skipped
        assert skipped == (not any(each.advantage for each in batch))


def trl(folder: Path, rounds: int, seed: int, bfloat16: bool, batch: int) -> Iterator[None]:
    """TRL's own loop, in a thread that continues round by round; `batch` answers are learned from at once."""
    import torch
    from datasets import Dataset
    from peft import LoraConfig
    from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
    from trl import GRPOConfig, GRPOTrainer

    torch.set_num_threads(1)
    settings = GRPOConfig(
        output_dir=str(folder / "trl"),
        use_cpu=True,
        bf16=bfloat16,
        report_to=[],
        seed=seed,
        max_steps=rounds,
        per_device_train_batch_size=batch,
        gradient_accumulation_steps=QUESTIONS * ANSWERS // batch,
        num_generations=ANSWERS,
        max_completion_length=TOKENS,
        temperature=1.0,
        beta=0.0,
        loss_type="dapo",
        epsilon_high=0.28,
        learning_rate=1e-5,
        gradient_checkpointing=False,
        save_strategy="no",
        logging_strategy="no",
        disable_tqdm=True,
        dataloader_pin_memory=False,
    )
    turn, done = threading.Semaphore(0), threading.Semaphore(0)

    class OneByOne(TrainerCallback):  # type: ignore[misc]
        """Waits where a round is done."""

        def on_step_end(self, *_: Any, **__: Any) -> None:
            done.release()
            turn.acquire()

    trainer = GRPOTrainer(
        model=AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32),
        reward_funcs=lambda completion_ids, **_: [reward(list(ids)) for ids in completion_ids],
        args=settings,
        train_dataset=Dataset.from_dict({"prompt": questions(seed) * rounds}),
        processing_class=AutoTokenizer.from_pretrained(folder),
        peft_config=LoraConfig(r=RANK, lora_alpha=2 * RANK, target_modules="all-linear", task_type="CAUSAL_LM"),
        callbacks=[OneByOne()],
    )
    thread = threading.Thread(target=trainer.train, daemon=True)
    yield
    thread.start()
    for _ in range(rounds):
        done.acquire()
        yield
        turn.release()
    thread.join()


if __name__ == "__main__":
    main()

"""What tests/bench/generate.py, its child process and the profile beside it ask: nine questions, eight answers each."""

from collections.abc import Callable
from typing import Any

import msgspec
import torch

from sapo_desktop.core.records import Sampling
from sapo_desktop.engines.answering import GenerationJob, GenerationMonitor
from sapo_desktop.engines.torch.generation import generate
from sapo_desktop.engines.torch.lm import load_language_model
from sapo_desktop.engines.torch.service import TorchEngine

QUESTIONS, ANSWERS = 9, 8
PROMPT_TOKENS = 16


class JobOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What differs between models and runs."""

    tokens: int
    seed: int
    questions: int = QUESTIONS
    answers: int = ANSWERS


def job_of(options: JobOptions) -> GenerationJob:
    """The questions, as ids of plain bytes; no answer ends early."""
    words = torch.Generator().manual_seed(options.seed)
    prompts = torch.randint(0, 250, (options.questions, PROMPT_TOKENS), generator=words)
    sampling = Sampling(max_tokens=options.tokens, seed=options.seed)
    return GenerationJob(prompts.tolist(), options.answers, sampling, frozenset(), 512)


def with_our_torch(engine: TorchEngine, job: GenerationJob) -> Callable[[], object]:
    """Our own loop in torch."""

    def ours() -> object:
        engine._packed.clear()  # as in a round: the weights have changed
        return generate(job, engine.starter(base=False), engine.lm.device, GenerationMonitor())

    return ours


def in_modules(engine: TorchEngine) -> Any:
    """The engine's model with its adapter in transformers' modules, which the engine itself does without if it can."""
    if not engine.policy.bare:
        return engine.lm.model
    return engine.policy.in_modules(load_language_model(engine.lm.folder, bare=False).model)


def with_transformers(model: Any, job: GenerationJob) -> Callable[[], object]:
    """transformers' own generate()."""

    def theirs() -> object:
        repeated = torch.tensor(job.prompts).repeat_interleave(job.answers, 0)
        length = job.sampling.max_tokens
        mask = torch.ones_like(repeated)
        with torch.inference_mode():
            return model.generate(
                input_ids=repeated,
                attention_mask=mask,
                max_new_tokens=length,
                min_new_tokens=length,
                do_sample=True,
                top_k=0,
            )

    return theirs

"""The engine as its host process sees it: one request in, one reply out.

Generator and trainer are one object with one model. The host sets `cancelled` when a cancel arrives; generation checks
it at every step, training at every micro-batch, and HostCancelled is raised. At the same points a person's question can
be answered; afterwards the weights are the same, to the bit, and the work continues. Every problem with a request is
raised as an error of core/errors.py.
"""

from __future__ import annotations

import contextlib
import functools
import math
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from importlib.metadata import version
from pathlib import Path

import msgspec
import torch
from safetensors import SafetensorError

from sapo_desktop.core.errors import HostCancelled, OutOfMemory, TooBig, UsageError
from sapo_desktop.core.records import Sampling, TrainingSequence
from sapo_desktop.core.sentences import sentence
from sapo_desktop.engines import protocols as p
from sapo_desktop.engines.answering import (
    LOOKED_AT,
    Answers,
    GenerationJob,
    GenerationMonitor,
    Speaker,
    no_numbers,
)
from sapo_desktop.engines.service import Kind, Request, Service, ShouldStop, cannot
from sapo_desktop.engines.tokenizer import ModelTokenizer
from sapo_desktop.engines.torch import products
from sapo_desktop.engines.torch.generation import generate
from sapo_desktop.engines.torch.llama.decoding import Start, start
from sapo_desktop.engines.torch.llama.passes import WrittenOutModel, is_packed
from sapo_desktop.engines.torch.lm import LanguageModel, find_device, load_language_model
from sapo_desktop.engines.torch.lora import Policy
from sapo_desktop.engines.torch.memory import bound_card, is_out_of_memory, release_memory
from sapo_desktop.engines.torch.state import reset_trainer, restore_trainer, save_trainer
from sapo_desktop.engines.torch.trainer import GrpoTrainer

_MOST_ON_CPU = 64
"""Sequences at once: beyond that a CPU only waits for its memory."""

_LOOK_SECONDS = 0.05
"""Interval of the checks for other requests while waiting for answers."""

PROMPT_TOKENS_AT_ONCE = 4096
"""For packed models: fewer questions at once if they are long, since the cache grows with them."""


class TorchEngine:
    """A loaded model that answers and learns."""

    def __init__(self, request: p.Load) -> None:
        self.threads = max(1, request.threads)
        torch.set_num_threads(self.threads)
        where = find_device(request.device)
        if where.type == "cuda":
            bound_card(request.card_memory)
        self.lm: LanguageModel = load_language_model(
            Path(request.model), where.type, request.dtype, rounded=request.rounded
        )
        if request.trainer.method == "full" and (self.lm.dtype != torch.float32 or request.rounded):
            raise UsageError(
                sentence("Full training needs float32 weights. Set the number format to float32, or use LoRA.")
            )
        self.policy = Policy(self.lm.model, request.trainer)
        self.trainer = GrpoTrainer(self.policy, request.trainer, self.lm.device)
        self._packed: dict[bool, tuple[int, WrittenOutModel]] = {}
        most = _MOST_ON_CPU if self.lm.device.type == "cpu" else 0
        self._batch = min(request.batch, most or request.batch) if request.batch else most

    @property
    def words(self) -> ModelTokenizer:
        return self.lm.words

    def close(self) -> None:
        """Nothing to do: its memory is freed with the last reference to it."""

    def check_numbers(self) -> None:
        """Refuse weights or predictions that are not numbers, since it would keep answering with them.

        Raises:
            ModelError: there are some.
        """
        spoilt = (name for name, p in self.lm.model.named_parameters() if not bool(p.isfinite().all()))
        asked = self.lm.words.encode_external(LOOKED_AT, end=True)
        job = self.job([asked or [self.lm.words.end_token]], 1, Sampling(max_tokens=1, greedy=True))
        what = next(spoilt, "")
        if not what and not all(map(math.isfinite, self._answer(job, False, GenerationMonitor()).logprobs[0])):
            what = "logits"
        if what:
            raise no_numbers(str(self.lm.folder), what)

    def loaded(self) -> p.Loaded:
        """Describe the engine."""
        return p.Loaded(
            model=str(self.lm.folder),
            parameters=self.lm.parameters,
            trainable=sum(t.numel() for t in self.policy.trainable().values()),
            device=str(self.lm.device),
            dtype=str(self.lm.dtype).removeprefix("torch.") + ("/int8" if self.lm.rounded else ""),
            vocabulary=self.lm.vocabulary,
            context=self.lm.context,
            versions={name: version(name) for name in ("torch", "transformers", "peft")},
            learns_from_examples=self.lm.words.prompter.learns_from_examples,
        )

    def generate(self, request: p.Generate, progress: p.Progress, should_stop: Callable[[], bool]) -> p.Generated:
        """Answer questions."""
        began = time.monotonic()
        prompts = [self.lm.words.prompt_tokens(prompt) for prompt in request.prompts]
        job = self.job(prompts, request.answers, request.sampling)
        watch = GenerationMonitor(should_stop=should_stop, progress=progress, text=self.lm.words.text)
        if job.total == 1:
            watch.token = Speaker(self.lm.words.text, progress)
        with self.trainer.averaged() if request.averaged and not request.base else contextlib.nullcontext():
            answers = self._answer(job, request.base, watch)
        return self._generated(request, job, answers, began)

    @property
    def answers_during_steps(self) -> bool:
        """Whether it can answer with a snapshot while it learns. That needs packed weights, or an adapter next to
        fixed ones, and at least two threads."""
        return (is_packed(self.lm.model) or self.policy.method == "lora") and self.threads > 1

    def step(self, batch: Sequence[TrainingSequence], beside: p.Generate | None = None) -> p.Stepped:
        """Take a step; meanwhile, half of the threads answer with the adapter from before. If answering fails, for
        example for lack of memory, the step still counts and there are no answers; a later request for them gets the
        error. A cancel after the step only ends the answers."""
        if beside is None or not self.answers_during_steps:
            return p.Stepped(report=self.trainer.step(batch))
        began = time.monotonic()
        job = self.job([self.lm.words.prompt_tokens(one) for one in beside.prompts], beside.answers, beside.sampling)
        half, ended = self.threads // 2, threading.Event()
        torch.set_num_threads(half)
        try:
            with ThreadPoolExecutor(1) as other:
                answering = other.submit(self._answer_apart, job, self.starter(base=False), half, ended)
                try:
                    report = self.trainer.step(batch)
                    while not wait([answering], _LOOK_SECONDS).done:
                        if self.trainer.should_stop():
                            ended.set()
                except BaseException:
                    ended.set()
                    raise
        finally:
            torch.set_num_threads(self.threads)
        answers = answering.result()
        if answers is None:
            return p.Stepped(report=report)
        made = self._generated(beside, job, answers, began)
        return p.Stepped(report=report, beside=msgspec.structs.replace(made, off_policy=True))

    def _answer_apart(self, job: GenerationJob, start: Start, threads: int, ended: threading.Event) -> Answers | None:
        """Answer in a separate thread, with weights that do not change; None if that fails or is cancelled."""
        torch.set_num_threads(threads)
        try:
            return generate(job, start, self.lm.device, GenerationMonitor(should_stop=ended.is_set))
        except (OutOfMemory, HostCancelled):
            return None
        except Exception:  # noqa: BLE001 - as an error it would have the batch trained again, whose step was taken
            traceback.print_exc()
            return None

    def _generated(self, request: p.Generate, job: GenerationJob, answers: Answers, began: float) -> p.Generated:
        if job.total and answers.batch < min(self._batch or job.total, job.total):
            self._batch = answers.batch  # a size that did not fit is not tried again every round
        return p.Generated(
            prompt_tokens=[list(prompt) for prompt in job.prompts],
            completions=answers.completions(request.answers, self.lm.words.text, self.lm.words.end_token),
            seconds=time.monotonic() - began,
            batch=answers.batch,
            asked=self.lm.words.prompter.text(request.prompts[0]) if job.total == 1 else "",
        )

    def job(self, prompts: Sequence[list[int]], answers: int, sampling: Sampling) -> GenerationJob:
        """The generation job, with as much at once as this engine allows."""
        tokens = PROMPT_TOKENS_AT_ONCE if is_packed(self.lm.model) else 0
        return GenerationJob(
            prompts,
            answers,
            sampling,
            self.lm.words.stop_tokens,
            self.lm.context,
            self.lm.words.closes.or_at(sampling.stop, self.lm.vocabulary),
            self._batch,
            tokens,
        )

    def configure(self, request: p.Configure) -> None:
        """Change what needs no reload."""
        if request.threads is not None:
            self.threads = max(1, request.threads)
            torch.set_num_threads(self.threads)
        self.trainer.configure(request.learning_rate, request.micro_batch)

    def export(self, request: p.Export, should_stop: Callable[[], bool] = lambda: False) -> list[str]:
        """Export the weights for use elsewhere."""
        from sapo_desktop.engines.exporting.export import export

        with self.trainer.averaged():
            model = self.policy.model
            if self.policy.bare or self.lm.rounded:
                dtype = str(self.lm.dtype).removeprefix("torch.")
                plain = load_language_model(self.lm.folder, "cpu", dtype, bare=False)
                model = self.policy.in_modules(plain.model)
            return export(
                request.format,
                model,
                self.lm.tokenizer,
                self.lm.folder,
                Path(request.folder),
                self.trainer.steps,
                should_stop,
                self.lm.words.stop_tokens,
            )

    def _answer(self, job: GenerationJob, base: bool, watch: GenerationMonitor) -> Answers:
        if base:
            with self.policy.as_base():
                return generate(job, self.starter(base), self.lm.device, watch)
        return generate(job, self.starter(base), self.lm.device, watch)

    def starter(self, base: bool) -> Start:
        """Return the function that starts a batch of answers, with the current weights or the base's."""
        wanted = 0 if base else self.policy.version
        held = self._packed.get(base)
        if held is None or held[0] != wanted:
            with torch.no_grad():
                held = (wanted, WrittenOutModel(self.lm.model, adapted=not base))
            self._packed[base] = held
        return functools.partial(start, held[1])


Torch = Service[p.Load, TorchEngine]


def _unloaded(request: Request) -> msgspec.Struct | None:
    match request:
        case p.TimeProducts():
            return p.ProductsTimed(times=products.measure(request.hidden, request.widest))
        case p.WriteGguf():
            from sapo_desktop.engines.gguf.folder import write_base

            write_base(Path(request.model), Path(request.file), request.weights)
            return p.Done()
    return None


def _aside(engine: TorchEngine, request: p.Generate, progress: p.Progress, should_stop: ShouldStop) -> p.Generated:
    with torch.inference_mode(False), torch.no_grad():  # tensors made here outlive the step in between
        return engine.generate(request, progress, should_stop)


def _work(engine: TorchEngine, request: Request, progress: p.Progress, service: Torch) -> msgspec.Struct:
    match request:
        case p.Generate():
            # While the weights are temporarily the base's, nothing else can be answered.
            switched = request.base and engine.policy.method == "full"
            return engine.generate(request, progress, service.cancelled.is_set if switched else service.stopped)
        case p.Step():
            engine.trainer.should_stop = service.stopped
            return engine.step(request.batch, request.beside)
        case p.Save():
            return p.Done(files=save_trainer(engine.trainer, Path(request.folder), averaged=request.averaged))
        case p.Restore(folder=None):
            reset_trainer(engine.trainer)
            return p.Done(steps=engine.trainer.steps)
        case p.Restore():
            restore_trainer(engine.trainer, Path(str(request.folder)), request.weights_only)
            return p.Done(steps=engine.trainer.steps)
        case p.Configure():
            engine.configure(request)
            return p.Done()
        case p.WriteAdapter():
            from sapo_desktop.engines.gguf.folder import write_trained

            folder = None if request.folder is None else Path(request.folder)
            with engine.trainer.averaged() if request.averaged else contextlib.nullcontext():
                write_trained(engine.lm, engine.policy, Path(request.file), folder)
            return p.Done()
        case p.Export():
            # No answers in between: the weights are temporarily the average's.
            return p.Done(files=engine.export(request, service.cancelled.is_set))
    raise cannot(request)


def _load(request: p.Load, cancelled: threading.Event) -> TorchEngine:
    try:
        engine = TorchEngine(request)
        engine.check_numbers()
        return engine
    except (MemoryError, RuntimeError, OSError, SafetensorError) as error:
        if not is_out_of_memory(error):
            raise
        release_memory()
        name = Path(request.model).name
        raise TooBig(
            "There is not enough memory to load {name}. Close other programs or choose a smaller model.", name=name
        ) from error


def create() -> Torch:
    """Return the engine for a host process; nothing is loaded yet."""
    return Service(Kind(p.Load, _load, _work, _unloaded, _aside))

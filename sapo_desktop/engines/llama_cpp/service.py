"""llama.cpp as its host process sees it: one request in, one reply out. It only answers, and never imports torch.

The trainer is in another process. What it learned arrives as a GGUF adapter file, which is applied next to the
unchanged base weights. The host sets `cancelled` when a cancel arrives; it is checked between the operations of a pass.

This module also quantises our own GGUF files. It uses no importance matrices, so published 4-bit files are better if
they exist.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import sys
import threading
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import llama_cpp.llama_cpp as c
import msgspec

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.files.durable import replace_durably
from sapo_desktop.core.records import Sampling
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
from sapo_desktop.engines.llama_cpp.generator import generate, halved, stream_length
from sapo_desktop.engines.llama_cpp.model import Adapter, GgufModel, with_last_words
from sapo_desktop.engines.llama_cpp.streams import Streams, padded
from sapo_desktop.engines.llama_cpp.threads import ThreadPace, Used
from sapo_desktop.engines.llama_cpp.vocabulary import Vocabulary
from sapo_desktop.engines.service import Kind, Request, Service, cannot

_TYPES = {
    "q8_0": c.LLAMA_FTYPE_MOSTLY_Q8_0,
    "q4_0": c.LLAMA_FTYPE_MOSTLY_Q4_0,
    "q4_k_m": c.LLAMA_FTYPE_MOSTLY_Q4_K_M,
}


def quantise(source: Path, target: Path, weights: str, threads: int) -> None:
    """Write `target` from the F32 or F16 file `source`. Raises ModelError."""
    if weights not in _TYPES:
        raise ModelError(
            "Weights can be quantised to {known}, not to '{weights}'.", known=", ".join(_TYPES), weights=weights
        )
    settings = c.llama_model_quantize_default_params()
    settings.ftype, settings.nthread = _TYPES[weights], threads
    part = target.with_name(f"{target.name}.part")
    with _named_for_llama_cpp(part) as name:
        failed = c.llama_model_quantize(str(source.absolute()).encode(), name.encode(), ctypes.byref(settings))
    if failed:
        part.unlink(missing_ok=True)
        raise ModelError(
            with_last_words(
                sentence(
                    "{name} could not be quantised to {weights}. Set generator_weights to f16, or generator to torch.",
                    name=source.name,
                    weights=weights,
                )
            )
        )
    replace_durably(part, target)


@contextlib.contextmanager
def _named_for_llama_cpp(file: Path) -> Iterator[str]:
    """A name under which llama.cpp can write the file. On Windows it interprets paths in the system's code page,
    which may garble a user name. So it gets the bare name, from within the folder."""
    if sys.platform == "win32":
        with contextlib.chdir(file.parent):
            yield file.name
    else:
        yield str(file)


MOST_STREAMS = 128
"""Sequences at once: more do not help a CPU, and llama.cpp's limit is 256."""


class LlamaCppEngine:
    """A loaded GGUF model that answers."""

    def __init__(self, request: p.LoadGguf) -> None:
        self._exact = request.exact
        self._cache_bytes = request.cache_bytes
        self.model = GgufModel(Path(request.model), gpu=request.device != "cpu")
        try:
            self.words = Vocabulary(self.model)
        except BaseException:
            self.model.close()
            raise
        self._cell_bytes = self.model.cell_bytes(4 if request.exact else 2)
        self._adapter: Adapter | None = None
        self._streams: Streams | None = None
        self._most = MOST_STREAMS
        self._pace = ThreadPace(request.threads, _used())

    def close(self) -> None:
        """Free everything, in the order that llama.cpp requires."""
        self._drop_streams()
        if self._adapter is not None:
            self._adapter.free()
        self.model.close()

    def loaded(self) -> p.Loaded:
        """Describe the engine."""
        return p.Loaded(
            model=str(self.model.path),
            parameters=self.model.parameters,
            trainable=0,
            device="gpu" if self.model.on_gpu else "cpu",
            dtype=self.model.weights,
            vocabulary=self.model.vocabulary,
            context=self.model.context,
            versions={"llama-cpp-python": version("llama-cpp-python")},
            learns_from_examples=self.words.prompter.learns_from_examples,
        )

    def check_numbers(self) -> None:
        """Refuse a model whose predictions are not numbers. Raises ModelError."""
        words = self.words
        asked = words.encode_external(LOOKED_AT, end=True) or [words.end_token]
        greedy = Sampling(max_tokens=1, greedy=True)
        job = GenerationJob([asked], 1, greedy, words.stop_tokens, self.model.context, words.closes)
        if not all(map(math.isfinite, self._answer(job, None, GenerationMonitor()).logprobs[0])):
            raise no_numbers(str(self.model.path), "logits")

    def use_adapter(self, file: str | None) -> None:
        """Answer with the adapter in this GGUF file from now on, or with the base."""
        new = None if file is None else Adapter(self.model, Path(file))
        if self._streams is not None:
            self._streams.use(None)  # llama.cpp requires unsetting it before it is freed
        if self._adapter is not None:
            self._adapter.free()
        self._adapter = new

    def use_threads(self, most: int) -> None:
        """Limit the number of threads."""
        self._pace = ThreadPace(most, _used())

    def generate(self, request: p.Generate, progress: p.Progress, cancelled: threading.Event) -> p.Generated:
        """Answer questions."""
        began = time.monotonic()
        prompts = [self.words.prompt_tokens(prompt) for prompt in request.prompts]
        words = self.words
        closes = words.closes.or_at(request.sampling.stop, self.model.vocabulary)
        job = GenerationJob(prompts, request.answers, request.sampling, words.stop_tokens, self.model.context, closes)
        watch = GenerationMonitor(should_stop=cancelled.is_set, progress=progress, text=words.text)
        if job.total == 1:
            watch.token = Speaker(self.words.text, progress)
        answers = self._answer(job, None if request.base else self._adapter, watch)
        return p.Generated(
            prompt_tokens=prompts,
            completions=answers.completions(request.answers, words.text, words.end_token),
            seconds=time.monotonic() - began,
            batch=answers.batch,
            off_policy=True,
            asked=words.prompter.text(request.prompts[0]) if job.total == 1 else "",
        )

    def _answer(self, job: GenerationJob, adapter: Adapter | None, watch: GenerationMonitor) -> Answers:
        """Generate with ever fewer streams until they fit; a size that failed is not tried again."""
        while True:
            try:
                streams = self._streams_for(job)
                streams.use(adapter)
                return generate(job, streams, watch, self._passed)
            except MemoryError:
                tried = self._streams.count if self._streams is not None else self._wanted(job)
                self._drop_streams()
                self._most = halved(tried)

    def _streams_for(self, job: GenerationJob) -> Streams:
        """Streams for a job. Existing ones are reused if they fit, so that their memory is not allocated again."""
        count, length = self._wanted(job), padded(stream_length(job))
        held = self._streams
        if held is None or held.length < length or held.count < count:
            self._drop_streams()
            held = self._streams = Streams(self.model, count, length, self._exact)
        self._pace.begin(_used())
        held.use_threads(self._pace.count)
        return held

    def _wanted(self, job: GenerationJob) -> int:
        """Sequences at once for a job, as memory allows."""
        of_memory = self._cache_bytes // (padded(stream_length(job)) * self._cell_bytes)
        return max(1, min(job.total, self._most, of_memory if self._cache_bytes else self._most))

    def _drop_streams(self) -> None:
        if self._streams is not None:
            self._streams.use(None)
            self._streams.close()
            self._streams = None

    def _passed(self) -> None:
        before = self._pace.count
        if self._pace.passed(_used()) != before and self._streams is not None:
            self._streams.use_threads(self._pace.count)


LlamaCpp = Service[p.LoadGguf, LlamaCppEngine]


def _load(request: p.LoadGguf, cancelled: threading.Event) -> LlamaCppEngine:
    engine = LlamaCppEngine(request)
    try:
        engine.check_numbers()
    except BaseException:
        engine.close()
        raise
    return engine


def _unloaded(request: Request) -> msgspec.Struct | None:
    if not isinstance(request, p.Quantise):
        return None
    quantise(Path(request.source), Path(request.target), request.weights, request.threads)
    return p.Done()


def _work(engine: LlamaCppEngine, request: Request, progress: p.Progress, service: LlamaCpp) -> msgspec.Struct:
    match request:
        case p.Generate():
            return engine.generate(request, progress, service.cancelled)
        case p.UseAdapter():
            engine.use_adapter(request.file)
            return p.Done()
        case p.Configure():
            if request.threads is not None:
                engine.use_threads(request.threads)
            return p.Done()
    raise cannot(request)


def _used() -> Used:
    return Used(wall=time.monotonic(), cpu=time.process_time())


def create() -> LlamaCpp:
    """Return the generator for a host process; nothing is loaded yet."""
    return Service(Kind(p.LoadGguf, _load, _work, _unloaded))

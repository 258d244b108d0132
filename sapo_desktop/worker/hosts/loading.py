"""How much work to give a model at once: the free memory is read before each load, and models/fit/ways.py decides.

What did not fit once (a checkpoint's micro-batch, a killed engine's) remains an upper limit.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec

from sapo_desktop.core import fitting
from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.files.gguf import parts_of
from sapo_desktop.core.fitting import ProductTimes
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.engines.protocols import TimeProducts
from sapo_desktop.learning.plan import answer_tokens
from sapo_desktop.models.describe import describe
from sapo_desktop.models.fit import ways
from sapo_desktop.models.fit.formats import remember, with_measured
from sapo_desktop.system.hardware import Hardware, probe
from sapo_desktop.worker.hosts.choice import Look
from sapo_desktop.worker.hosts.engine import Measure
from sapo_desktop.worker.hosts.trainer import EnginePlan

Say = Callable[[Text], None]
_SHARE_OF_MEMORY, _LEAST_CACHE = 4, 256 * 2**20
"""If a GGUF file does not give the model's shape, keys and values may use a fourth of the free memory."""


class _Fitted(NamedTuple):
    """The result of a check of the free memory."""

    plan: EnginePlan
    max_tokens: int | None
    """Limit of tokens per answer; None: no limit."""
    said: list[Text]
    """What the user should know, in sentences."""


class Fitting:
    """Fits an engine's plan to the free memory. `shorten` is called with a lower limit of tokens, `say` with
    sentences."""

    def __init__(
        self,
        settings: Callable[[], Settings],
        shorten: Callable[[int], None],
        say: Say,
        cache: Path,
        look: Look = probe,
    ) -> None:
        """`cache`: the node's, which stores measurements of the processor."""
        self._settings, self._shorten, self._say, self._cache, self._look = settings, shorten, say, cache, look
        self._measured: list[ProductTimes] = []
        self._said: set[Text] = set()

    async def fit(self, asked: EnginePlan, held: int, measure: Measure) -> EnginePlan:
        """The plan with the largest batches that fit. `held`: bytes of the engine's running hosts. `measure`: measures
        with these hosts, if the processor's unknown speed decides the number format.

        Answers are shortened if necessary, and each remark is made once, not at every load.

        Raises:
            TooBig: the model does not fit.
        """
        if wanted := await asyncio.to_thread(self._to_be_measured, asked):
            await asyncio.to_thread(self._remember, await measure(wanted))
        fitted = await asyncio.to_thread(self._fitted, asked, held)
        if fitted.max_tokens is not None:
            self._shorten(fitted.max_tokens)
        for text in fitted.said:
            self._tell(text)
        return fitted.plan

    def check(self, asked: EnginePlan, held: int, on_card: int) -> None:
        """Refuse settings with which the model does not fit. `held`: as for `fit`; `on_card`: their bytes on the
        graphics card. Raises TooBig."""
        self._fitted(asked, held, on_card)

    def _to_be_measured(self, asked: EnginePlan) -> TimeProducts | None:
        """A resumed run keeps its format, however fast the others are."""
        if not asked.choice.trains or asked.dtype:
            return None
        model, here = describe(asked.model), self._hardware(asked)
        if not ways.to_be_measured(model, here, self._settings(), asked.choice.device):
            return None
        return TimeProducts(hidden=model.shape.hidden, widest=model.shape.ffn)

    def _remember(self, times: ProductTimes) -> None:
        self._measured.append(times)
        try:
            remember(self._cache, times)
        except OSError as error:
            self._tell(
                sentence(
                    "The processor's measured speed could not be saved ({reason}). The next start measures it again.",
                    reason=error.strerror or str(error),
                )
            )

    def _hardware(self, asked: EnginePlan) -> Hardware:
        return with_measured(self._look(asked.model.parent), self._cache, self._measured)

    def _fitted(self, asked: EnginePlan, held: int, on_card: int = 0) -> _Fitted:
        settings, here = self._settings(), self._hardware(asked)
        cards = [msgspec.structs.replace(card, free=min(card.memory, card.free + on_card)) for card in here.gpus]
        here = msgspec.structs.replace(here, gpus=cards)
        try:
            model = describe(asked.model)
        except ModelError:
            if asked.choice.trains:
                raise
            cache_bytes = max(_LEAST_CACHE, here.memory_free // _SHARE_OF_MEMORY)
            return _Fitted(dataclasses.replace(asked, cache_bytes=cache_bytes), None, [])
        way = ways.plan(
            _with_file(model, asked.gguf, settings),
            here,
            settings,
            running=held,
            generator=asked.choice.generator,
            trainer="torch" if asked.choice.trains else "none",
            device=asked.choice.device,
            precision=asked.dtype,
        )
        said: list[Text] = [way.why_not] if way.why_not else []
        if way.rounded:
            said.append(sentence("The whole model does not fit into memory, so its matrices are held in 8 bits."))
        cut = None
        if way.max_tokens < min(answer_tokens(settings, model.parameters), model.context - model.prompt_tokens):
            cut = way.max_tokens
            said.append(
                sentence("There is not enough memory for longer answers, so they are cut at {count} tokens.", count=cut)
            )
        return _Fitted(_cut(asked, way), cut, said)

    def _tell(self, text: Text) -> None:
        if text not in self._said:
            self._said.add(text)
            self._say(text)


def _cut(asked: EnginePlan, way: fitting.Way) -> EnginePlan:
    """No more at once than fits and was requested."""
    batch = min(asked.most_batch, way.batch) if asked.most_batch else way.batch
    trainer = asked.trainer
    most = asked.most_micro_batch or trainer.micro_batch
    if asked.choice.trains:
        trainer = msgspec.structs.replace(trainer, micro_batch=min(most, way.micro_batch), recompute=way.recompute)
    cache_bytes = way.memory.kv_cache * batch // way.batch if way.generator == "llama.cpp" else 0
    return dataclasses.replace(
        asked,
        trainer=trainer,
        batch=batch,
        most_micro_batch=most,
        cache_bytes=cache_bytes,
        dtype=way.precision or asked.dtype,
        rounded=way.rounded,
        overlap=way.overlap,
        estimate=way.estimate,
    )


def _with_file(model: ways.Model, file: Path | None, settings: Settings) -> ways.Model:
    """The model with the size of its GGUF file in all its parts, if there is one already."""
    if file is None or not file.exists() or ways.AS_IT_IS in model.gguf:
        return model
    size = sum(part.stat().st_size for part in parts_of(file) if part.exists())
    return msgspec.structs.replace(model, gguf={**model.gguf, ways.weights_of(model): size})

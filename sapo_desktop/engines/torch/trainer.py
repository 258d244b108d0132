"""One training step: from scored answers to changed weights.

Reads top to bottom: which answers can teach anything, their log-probabilities, the loss of `grpo.py`, gradients added
up over micro-batches, one clipped Adam step, repeated for `updates`. The log-probabilities before the step are those of
the first update's own forward pass (nothing has changed yet), so they cost nothing extra and the first ratio is exactly
1. Running out of memory halves the micro-batch and repeats the update from unchanged weights. Adam as in the paper: no
weight decay. Nothing here draws a random number: the adapter's initial values come from a seed.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import msgspec
import torch
from torch import Tensor

from sapo_desktop.core.errors import HostCancelled, OutOfMemory
from sapo_desktop.core.records import StepReport, TrainerSettings, TrainingSequence
from sapo_desktop.core.sentences import sentence
from sapo_desktop.engines.torch.adam import Adam
from sapo_desktop.engines.torch.batches import MicroBatch, packed_batches
from sapo_desktop.engines.torch.grpo import Clip, importance_weights, policy_loss, reach
from sapo_desktop.engines.torch.llama.passes import WrittenOutModel, is_packed
from sapo_desktop.engines.torch.logprobs import token_logprobs
from sapo_desktop.engines.torch.lora import Policy
from sapo_desktop.engines.torch.memory import is_out_of_memory, release_memory, return_freed_memory, without_holes

AVERAGED = 0.97
"""The average's decay per step, so that it covers about thirty steps. The gradients of a few groups are mostly
noise, which affects the weights more than their average."""
CPU_TOKENS = 512
"""Inputs of a micro-batch on a processor: more at once is no faster there, and the backward pass needs memory in
proportion."""


@dataclass
class Update:
    """The result of one optimiser step."""

    loss: float = 0.0
    clipped: int = 0
    left_out: list[int] = field(default_factory=list)
    """Indices in the batch of peers' answers with weight 0 (`reach`)."""
    grad_norm: float = 0.0
    """0: no step was taken."""


class GrpoTrainer:
    """Trains a policy's adapter (or all of its weights)."""

    def __init__(self, policy: Policy, settings: TrainerSettings, device: torch.device) -> None:
        self.policy = policy
        self.settings = settings
        self.device = device
        self.should_stop: Callable[[], bool] = lambda: False
        self.steps = 0
        """Optimiser steps behind the current weights, including those before a restored checkpoint."""
        self.optimiser = self.fresh_optimiser()
        self.average: dict[str, Tensor] = {}
        """Average of the trained weights, float32."""
        self.begin_average()

    def fresh_optimiser(self) -> Adam:
        """Return Adam without memory of earlier steps."""
        return Adam(list(self.policy.trainable().values()), self.settings.learning_rate)

    def begin_average(self) -> None:
        """Start the average from the current weights."""
        self.average = {name: p.detach().float().clone() for name, p in self.policy.trainable().items()}

    @contextlib.contextmanager
    def averaged(self) -> Iterator[None]:
        """Inside, the policy is the average of its recent weights, which is what is scored, asked, saved for others
        and exported."""
        live = {name: p.detach().clone() for name, p in self.policy.trainable().items()}
        self.policy.take(self.average)
        try:
            yield
        finally:
            self.policy.take(live)

    def configure(self, learning_rate: float | None, micro_batch: int | None) -> None:
        """Change what needs no new optimiser."""
        if learning_rate is not None:
            self.settings = msgspec.structs.replace(self.settings, learning_rate=learning_rate)
            self.optimiser.learning_rate = learning_rate
        if micro_batch is not None:
            self.settings = msgspec.structs.replace(self.settings, micro_batch=micro_batch)

    def step(self, batch: Sequence[TrainingSequence]) -> StepReport:
        """Learn from the batch. Raises HostCancelled (weights unchanged if before the first update's end) and
        OutOfMemory if not even a single sequence fits."""
        began = time.monotonic()
        tokens = sum(len(s.tokens) for s in batch)
        teaching = [i for i, s in enumerate(batch) if s.tokens and s.advantage]
        if not teaching:
            return self._report(batch, tokens, began, skipped=True)
        old: dict[int, Tensor] = {}
        update, left_out = Update(), 0
        with contextlib.nullcontext() if is_packed(self.policy.causal) else without_holes():
            for _ in range(self.settings.updates):
                latest = self._update(batch, teaching, tokens, old)
                left_out = len(latest.left_out)
                if not latest.grad_norm:
                    break  # and the next update would be the same
                update = latest
        return_freed_memory()
        if not update.grad_norm:
            return msgspec.structs.replace(self._report(batch, tokens, began, skipped=True), left_out=left_out)
        learned = sum(len(batch[i].tokens) for i in teaching)
        return msgspec.structs.replace(
            self._report(batch, tokens, began, skipped=False),
            loss=update.loss,
            grad_norm=update.grad_norm,
            clip_fraction=update.clipped / learned,
            left_out=left_out,
            seconds=time.monotonic() - began,
        )

    def logprobs(self, part: MicroBatch) -> Tensor:
        """Return log p of each answer token [N] at the training temperature."""
        model = WrittenOutModel(self.policy.causal, adapted=True, recompute=self.settings.recompute)
        hidden = model.hidden_states(part.tokens)
        return token_logprobs(hidden, self.policy.output_weight(), part.targets, self.settings.temperature)

    def _update(
        self, batch: Sequence[TrainingSequence], teaching: list[int], tokens: int, old: dict[int, Tensor]
    ) -> Update:
        """Take one optimiser step, in ever smaller micro-batches until one fits. None if there is no gradient, since
        Adam would then move by its memory alone."""
        while True:
            self.optimiser.zero_grad()
            try:
                update = self.accumulate(batch, teaching, tokens, old)
                break
            except (MemoryError, RuntimeError) as error:
                if not is_out_of_memory(error):
                    raise
                if not self._ask_for_less(len(teaching)):
                    raise OutOfMemory(
                        sentence(
                            "There is not enough memory to learn from a single answer. Shorten the answers or choose a "
                            "smaller model."
                        )
                    ) from error
            release_memory()
        parameters = list(self.policy.trainable().values())
        update.grad_norm = float(torch.nn.utils.clip_grad_norm_(parameters, self.settings.max_grad_norm))
        if not update.grad_norm:
            self.optimiser.zero_grad()
            return update
        self.optimiser.step()
        self.steps += 1
        self.optimiser.zero_grad()
        self.policy.changed()
        # Later steps count more (Shamir and Zhang, arXiv 1212.1824, with eta 2). The start fades with the third power
        # of the number of steps; a full average would lag behind by its own length.
        for name, parameter in self.policy.trainable().items():
            self.average[name].lerp_(parameter.detach().float(), max(1 - AVERAGED, 3 / (self.steps + 3)))
        return update

    def _ask_for_less(self, sequences: int) -> bool:
        """Halve the micro-batch, finally keep nothing between the passes; False if that is already so."""
        if self.settings.micro_batch > 1:
            self.configure(None, max(1, min(self.settings.micro_batch, sequences) // 2))
        elif not self.settings.recompute:
            self.settings = msgspec.structs.replace(self.settings, recompute=True)
        else:
            return False
        return True

    def accumulate(
        self, batch: Sequence[TrainingSequence], teaching: list[int], tokens: int, known: dict[int, Tensor]
    ) -> Update:
        """Add up the gradients of all micro-batches.

        `teaching` names the sequences that have any (an advantage of 0 only counts in the normaliser), `tokens` counts
        those of the whole batch, and `known` keeps each sequence's log-probabilities [answer tokens] from before the
        step, across updates.

        Answers that `reach` leaves out do not count in the normaliser, like external answers of advantage 0
        (learning/mixing.py). Otherwise a peer that sends long right answers with one odd word in each would dilute
        everything else. They are known only after all were read, so the sum is scaled at the end.
        """
        update = Update()
        clip = Clip(self.settings.clip_low, self.settings.clip_high)
        for part in self.parts(batch, teaching):
            if self.should_stop():
                self.optimiser.zero_grad()
                raise HostCancelled(sentence("Training was cancelled."))
            logprobs = self.logprobs(part)
            old = _recall(known, part, logprobs)
            weights = self._weights(batch, part, old)
            result = policy_loss(logprobs, old, part.advantages, tokens, clip, weights)
            result.loss.backward()  # type: ignore[no-untyped-call]
            update.loss += float(result.loss.detach())
            update.clipped += result.clipped
            if weights is not None:
                rows = zip(part.sequences, torch.split(weights, part.lengths), strict=True)
                update.left_out += [place for place, row in rows if batch[place].least and not row.any()]
        weightless = sum(len(batch[place].tokens) for place in update.left_out)
        if 0 < weightless < tokens:
            self._scale(update, tokens / (tokens - weightless))
        return update

    def _scale(self, update: Update, by: float) -> None:
        """The gradients and the loss as if the batch had fewer tokens."""
        for parameter in self.policy.trainable().values():
            if parameter.grad is not None:
                parameter.grad.mul_(by)
        update.loss *= by

    def _weights(self, batch: Sequence[TrainingSequence], part: MicroBatch, old: Tensor) -> Tensor | None:
        """Return the weight of each token [N]: truncated importance weights if the sampler was not the trainer's own
        model, `reach` if a peer wrote it, otherwise 1. None if all are 1."""
        sequences = [batch[place] for place in part.sequences]
        if not any(s.least or s.sampler_logprobs is not None for s in sequences):
            return None
        olds = torch.split(old, part.lengths)
        return torch.cat([self._weight(s, own) for s, own in zip(sequences, olds, strict=True)])

    def _weight(self, sequence: TrainingSequence, old: Tensor) -> Tensor:
        if sequence.least:
            return reach(old, sequence.least)
        if sequence.sampler_logprobs is None:
            return torch.ones_like(old)
        sampled = torch.tensor(sequence.sampler_logprobs, dtype=old.dtype, device=old.device)
        weights = torch.ones_like(old)  # no sampler drew an appended end
        weights[: len(sampled)] = importance_weights(old[: len(sampled)], sampled, self.settings.importance_cap)
        return weights

    def parts(self, batch: Sequence[TrainingSequence], teaching: Sequence[int]) -> list[MicroBatch]:
        """Split what `teaching` names into micro-batches."""
        tokens = CPU_TOKENS if self.device.type == "cpu" else 0
        return packed_batches(batch, teaching, self.settings.micro_batch, self.device, tokens)

    def _report(self, batch: Sequence[TrainingSequence], tokens: int, began: float, skipped: bool) -> StepReport:
        return StepReport(
            loss=0.0,
            grad_norm=0.0,
            clip_fraction=0.0,
            tokens=tokens,
            sequences=len(batch),
            micro_batch=self.settings.micro_batch,
            skipped=skipped,
            seconds=time.monotonic() - began,
            steps=self.steps,
        )


def _recall(known: dict[int, Tensor], part: MicroBatch, logprobs: Tensor) -> Tensor:
    """Return the log-probabilities [N] noted for these sequences; the first ones noted count.

    By sequence, not by micro-batch, so that halving after running out of memory finds them again.
    """
    for place, values in zip(part.sequences, torch.split(logprobs.detach(), part.lengths), strict=True):
        known.setdefault(place, values)
    return torch.cat([known[place] for place in part.sequences])

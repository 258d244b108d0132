"""One decoding step after the other: the part of generation that has to be fast.

`join` reads each distinct prompt once for all sequences that continue it; `step` feeds one token to each sequence;
`keep` drops sequences that are done. Any model, through transformers' own modules, is here; `llama/decoding.py` has
those of the catalogue written out, where new sequences may join others under way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

PREFILL_TOKENS = 2048
"""Prompt tokens read at once; more is no faster."""


@dataclass(frozen=True)
class PromptBatch:
    """Distinct prompts, padded left, and which of them each sequence continues."""

    ids: Tensor
    """[P, T] int64."""
    pads: Tensor
    """[P] int64, padding tokens at the left of each prompt."""
    rows: Tensor
    """[B] int64, the prompt of each sequence."""

    @staticmethod
    def of(prompts: list[list[int]], rows: list[int], device: torch.device) -> PromptBatch:
        """Pad prompts of different lengths left, with zeros that no position ever looks at."""
        longest = max(map(len, prompts))
        ids = torch.tensor([[0] * (longest - len(p)) + p for p in prompts], device=device)
        pads = torch.tensor([longest - len(p) for p in prompts], device=device)
        return PromptBatch(ids, pads, torch.tensor(rows, device=device))

    def blocks(self) -> list[PromptBatch]:
        """Return the prompts in blocks to be read at once, each to be continued once."""
        size = max(1, PREFILL_TOKENS // self.ids.shape[1])
        ids, pads = torch.split(self.ids, size), torch.split(self.pads, size)
        return [PromptBatch(i, p, torch.arange(len(i))) for i, p in zip(ids, pads, strict=True)]


class Decoding(Protocol):
    """A batch of sequences under way; none at first."""

    refills: bool
    """Whether sequences may join while others are under way."""

    def join(self, batch: PromptBatch, room: int) -> Tensor:
        """Begin sequences of at most `room` tokens, after those under way: logits [B', V] of their first tokens."""

    def step(self, tokens: Tensor) -> Tensor:
        """Append one token to each sequence: tokens [B] -> logits of the next one [B, V]."""

    def keep(self, rows: Tensor) -> None:
        """Go on with these sequences only: rows [B'] int64."""


Start = Callable[[], Decoding]
"""Begins a batch."""


class TransformersDecoding:
    """Any causal model through its own modules and transformers' cache, which grows by concatenation."""

    refills = False

    def __init__(self, model: Any) -> None:
        self._model = model

    def join(self, batch: PromptBatch, room: int) -> Tensor:
        del room  # the cache grows with the answers
        blocks = [_Read(self._model, block) for block in batch.blocks()]
        self._cache = _joined([block.cache for block in blocks])
        self._cache.batch_select_indices(batch.rows)
        self._seen = torch.cat([block.seen for block in blocks])[batch.rows]
        self._positions = torch.cat([block.positions for block in blocks])[batch.rows]
        return torch.cat([block.logits for block in blocks])[batch.rows]

    def step(self, tokens: Tensor) -> Tensor:
        self._seen = torch.cat([self._seen, self._seen.new_ones(len(tokens), 1)], 1)
        self._positions = self._positions + 1
        return _run(self._model, self._cache, tokens[:, None], self._seen, self._positions[:, None])

    def keep(self, rows: Tensor) -> None:
        self._cache.batch_select_indices(rows)
        self._seen, self._positions = self._seen[rows], self._positions[rows]


class _Read:
    """A block of prompts after the model has read it."""

    def __init__(self, model: Any, batch: PromptBatch) -> None:
        from transformers import DynamicCache

        self.cache = DynamicCache(config=model.config)
        self.seen = (torch.arange(batch.ids.shape[1], device=batch.ids.device)[None] >= batch.pads[:, None]).long()
        positions = (self.seen.cumsum(1) - 1).clamp(min=0)
        self.positions = positions[:, -1]
        self.logits = _run(model, self.cache, batch.ids, self.seen, positions)


def _run(model: Any, cache: Any, ids: Tensor, seen: Tensor, positions: Tensor) -> Tensor:
    """Return logits [B, V] after the last of ids [B, T]; the cache grows by them."""
    out = model(
        input_ids=ids,
        attention_mask=seen,
        position_ids=positions,
        past_key_values=cache,
        use_cache=True,
        logits_to_keep=1,
    )
    logits: Tensor = out.logits[:, -1]
    return logits


def _joined(caches: list[Any]) -> Any:
    """Put the sequences of several caches of equal length into the first of them, a layer at a time."""
    first, *others = caches
    if others:
        for number, layer in enumerate(first.layers):
            layer.keys = torch.cat([layer.keys, *(cache.layers[number].keys for cache in others)])
            layer.values = torch.cat([layer.values, *(cache.layers[number].values for cache in others)])
            for cache in others:
                cache.layers[number].keys = cache.layers[number].values = None
    return first


def start_with_transformers(model: Any) -> Start:
    """Decode through the model's own modules (with the adapter as it is switched)."""
    return lambda: TransformersDecoding(model)

"""Decoding with the explicit models of `passes.py`, one token per sequence and step.

This part of generation must be fast. `join` reads each distinct prompt once for all sequences that continue it, also
during a batch; `step` feeds one token to each sequence; `keep` drops finished sequences.

Linear layers process all sequences at once, attention those that started together: a *cohort*. Its sequences have equal
length, so their answers need no padding. A prompt's keys and values are stored once and read once for all its answers.

On a graphics card a step is recorded and replayed (`recording.py`). There a cohort allocates room for its longest
answers at once, and attention reads all of it under a mask: no tensor moves until sequences join or leave.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from sapo_desktop.engines.torch.llama.passes import WrittenOutModel
from sapo_desktop.engines.torch.llama.recording import Recorded, Recorder, card_recorder

ROOM = 32
"""Spare tokens of a cache if steps are not recorded. Most answers end long before the limit: allocating all of it
took three times the memory used, and copying the cache now and then is cheap."""

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
        """Pad prompts of different lengths on the left, with zeros that no position attends to."""
        longest = max(map(len, prompts))
        ids = torch.tensor([[0] * (longest - len(p)) + p for p in prompts], device=device)
        pads = torch.tensor([longest - len(p) for p in prompts], device=device)
        return PromptBatch(ids, pads, torch.tensor(rows, device=device))

    def blocks(self) -> list[PromptBatch]:
        """Return the prompts in blocks to be read at once."""
        size = max(1, PREFILL_TOKENS // self.ids.shape[1])
        ids, pads = torch.split(self.ids, size), torch.split(self.pads, size)
        return [PromptBatch(i, p, torch.arange(len(i))) for i, p in zip(ids, pads, strict=True)]


class Decoding:
    """A batch of sequences in progress, by cohort; empty at first. `recorder`: records its steps."""

    def __init__(self, model: WrittenOutModel, recorder: Recorder | None = None) -> None:
        self._model = model
        self.records = recorder is not None
        """Whether dropping sequences requires a new recording."""
        self._recorder = recorder
        self._recorded: Recorded | None = None
        self._cohorts: list[_Cohort] = []
        self._cos, self._sin = model.rotations(0)

    def join(self, batch: PromptBatch, room: int) -> Tensor:
        """Add sequences of at most `room` tokens to the batch; return the logits [B', V] of their first tokens."""
        limit = batch.ids.shape[1] + room
        if len(self._cos) < limit:
            self._cos, self._sin = self._model.rotations(limit)
        # In blocks: more at once is no faster, and a block's mask takes P * T * T.
        blocks = [_Prefill(self._model, block, self._cos, self._sin) for block in batch.blocks()]
        self._cohorts.append(_Cohort(self._model, batch, blocks, room, recorded=self.records))
        self._recorded = None
        return torch.cat([block.logits for block in blocks])[batch.rows]

    def step(self, tokens: Tensor) -> Tensor:
        """Append one token to each sequence: tokens [B] -> logits of the next one [B, V], valid until the next step."""
        moved = [cohort.make_room() for cohort in self._cohorts]
        if any(moved):
            self._recorded = None
        # Finished sequences may stay for a while, beyond the longest answer; their results are ignored.
        at = torch.cat([cohort.begin_step() for cohort in self._cohorts]).clamp(max=len(self._cos) - 1)
        if self._recorder is None:
            return self._compute(tokens, at)
        self._recorded = self._recorded or Recorded(self._recorder)
        return self._recorded(self._compute, tokens, at)

    def _compute(self, tokens: Tensor, at: Tensor) -> Tensor:
        """Logits [B, V] after these tokens [B] at these positions [B]."""
        model, size, cohorts = self._model, self._model.shape, self._cohorts
        cos, sin = self._cos[at][:, None], self._sin[at][:, None]  # [B, 1, head]: all heads share them
        counts, kinds = [cohort.count for cohort in cohorts], [size.heads, size.kv_heads]

        def attend(layer: int, qk: Tensor, v: Tensor) -> Tensor:
            qk = model.rotated(layer, qk, cos, sin)
            query, key = torch.split(qk, kinds, 1)
            # The scale is applied to the queries (B rows) instead of the scores (B rows per previous token).
            parts = (torch.split(part, counts) for part in (query * size.head**-0.5, key, v))
            mixed = [cohort.attend(layer, *part) for cohort, *part in zip(cohorts, *parts, strict=True)]
            return mixed[0] if len(mixed) == 1 else torch.cat(mixed)

        return model.logits(model.run(model.embedding[tokens], attend))

    def keep(self, rows: Tensor) -> None:
        """Continue only with these sequences: rows [B'] int64."""
        cohorts, self._cohorts = self._cohorts, []
        self._recorded = None
        first = 0
        for cohort in cohorts:
            end = first + cohort.count
            # Rows are counted over all cohorts; within a cohort they begin at 0.
            kept = rows[(rows >= first) & (rows < end)] - first
            if 0 < len(kept) < cohort.count:
                cohort.keep(kept)
            self._cohorts += [cohort] if len(kept) else []
            first = end


Start = Callable[[], Decoding]
"""A function that starts a batch."""


def start(model: WrittenOutModel) -> Decoding:
    """Start a batch in the way that suits the model's device."""
    return Decoding(model, card_recorder() if model.embedding.is_cuda else None)


class _Cohort:
    """Sequences that started together: B answers of equal length to G prompts, padded left to P tokens, at most K per
    prompt.

    A layer's cache of prompts is [G * kv_heads, P, head], that of answers [B, kv_heads, capacity, head], written in
    place. If steps are `recorded`, tensors hold the current length, and the whole capacity is read.
    """

    def __init__(
        self, model: WrittenOutModel, batch: PromptBatch, blocks: list[_Prefill], room: int, *, recorded: bool
    ) -> None:
        self._shape = model.shape
        self.count = len(batch.rows)
        self._age, self._room, self._recorded = 0, room, recorded
        self._capacity = room if recorded else min(room, ROOM)
        self._pads = batch.pads
        longest = batch.ids.shape[1]
        # Padding has no position: the first answer token follows its prompt's last real token.
        self._next = (longest - batch.pads)[batch.rows]
        # A layer's blocks are released as soon as they are joined.
        self._prompts = [
            (_joined([b.keys.pop(0) for b in blocks], longest), _joined([b.values.pop(0) for b in blocks], longest))
            for _ in model.layers
        ]
        empty = (self.count, self._shape.kv_heads, self._capacity, self._shape.head)
        self._answers = [(self._empty(keys, empty), self._empty(keys, empty)) for keys, _ in self._prompts]
        self._arrange(batch.rows)
        self._tell_age()

    def make_room(self) -> bool:
        """Ensure room for one more token; returns whether tensors were reallocated for that."""
        full = self._age == self._capacity
        if full:
            self._copy(torch.arange(self.count, device=self._next.device))
        return full

    def begin_step(self) -> Tensor:
        """Advance to the next token; return its positions [B]."""
        if self._recorded:
            self._last.fill_(self._age)
            # In place: a recorded step reads these tensors at their addresses and would not see new ones.
            self._later[:, :, self._age] = 0
        self._age += 1
        self._next = self._next + 1
        # For the token that is fed now; `_next` is the position after it.
        return self._next - 1

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """query [B, heads, head], scaled, key [B, kv_heads, head], value [B, kv] -> [B, q]."""
        size = self._shape
        prompt_keys, prompt_values = self._prompts[layer]
        keys, values = self._answers[layer]
        # Grouped-query attention: heads // kv_heads consecutive queries read the same keys.
        query = query.reshape(self.count * size.kv_heads, -1, size.head)
        if self._recorded:
            now = self._capacity
            keys.index_copy_(2, self._last, key[:, :, None])
            values.index_copy_(2, self._last, value.view(key.shape)[:, :, None])
            # The product itself adds the mask, over the whole capacity, so that shapes never change.
            own = torch.baddbmm(self._later, query, keys.view(len(query), -1, size.head).transpose(1, 2))
        else:
            now = self._age
            # `begin_step` already counted this token, so that it sees itself: places 0 to now - 1.
            keys[:, :, now - 1] = key
            values[:, :, now - 1] = value.view(key.shape)
            own = torch.bmm(query, keys.view(len(query), -1, size.head)[:, :now].transpose(1, 2))
        # Each prompt meets the queries of all its answers.
        asked = self._laid(query)
        if self._mask is None:
            before = torch.bmm(asked, prompt_keys.transpose(1, 2))
        else:
            before = torch.baddbmm(self._mask, asked, prompt_keys.transpose(1, 2))
        # One softmax over prompt and answer, each from its own cache.
        weights = torch.cat([self._picked(before, query.shape[1]), own], 2).softmax(-1)
        length = prompt_keys.shape[1]
        mixed = self._picked(torch.bmm(self._laid(weights[:, :, :length]), prompt_values), query.shape[1])
        past = values.view(len(query), -1, size.head)[:, :now]
        return torch.baddbmm(mixed, weights[:, :, length:], past).view(self.count, -1)

    def keep(self, rows: Tensor) -> None:
        """Continue only with these sequences, and with their prompts."""
        self.count = len(rows)
        self._next = self._next[rows]
        # `following` numbers the remaining prompts, in the order of `prompts`.
        prompts, following = torch.unique(self._rows[rows], return_inverse=True)
        if len(prompts) < len(self._pads):
            self._pads = self._pads[prompts]
            # Without the longest prompts, the rest share padding that is no longer needed.
            unused = int(self._pads.min())
            self._pads = self._pads - unused
            for layer, cache in enumerate(self._prompts):
                keys, values = (held.view(-1, self._shape.kv_heads, *held.shape[1:]) for held in cache)
                self._prompts[layer] = (
                    keys[prompts, :, unused:].flatten(0, 1),
                    values[prompts, :, unused:].flatten(0, 1),
                )
        self._copy(rows)
        self._arrange(following)

    def _copy(self, rows: Tensor) -> None:
        """Copy these sequences into a cache with spare room, one layer after the other, so that there are never two
        caches."""
        # Finished sequences may stay past the limit, so there is always room; before it, never more than the limit.
        self._capacity = self._age + ROOM
        if self._age < self._room:
            self._capacity = self._room if self._recorded else min(self._room, self._capacity)
        for layer, (keys, values) in enumerate(self._answers):
            self._answers[layer] = (self._spread(keys, rows), self._spread(values, rows))
        self._tell_age()

    def _tell_age(self) -> None:
        """If steps are recorded: set `_last` [1] int64, the place of the newest token, and `_later` [1, 1,
        capacity], which masks the places after it."""
        if self._recorded:
            keys = self._answers[0][0]
            self._last = torch.zeros(1, dtype=torch.int64, device=keys.device)
            self._later = keys.new_full((1, 1, self._capacity), float("-inf"))
            self._later[:, :, : self._age] = 0

    def _empty(self, like: Tensor, shape: tuple[int, ...]) -> Tensor:
        """Room for future tokens. Everything that is read must be numbers, even if masked."""
        return like.new_zeros(shape) if self._recorded else like.new_empty(shape)

    def _spread(self, held: Tensor, rows: Tensor) -> Tensor:
        buffer = self._empty(held, (len(rows), held.shape[1], self._capacity, held.shape[3]))
        torch.index_select(held[:, :, : self._age], 0, rows, out=buffer[:, :, : self._age])
        return buffer

    def _arrange(self, rows: Tensor) -> None:
        """Build the maps from sequences to prompts and back."""
        self._rows = rows
        heads = self._shape.kv_heads
        seen: dict[int, int] = {}
        places = []
        for prompt in rows.tolist():
            # For each sequence, its index among the answers to its prompt: 0 to K - 1.
            places.append(seen.get(prompt, 0))
            seen[prompt] = places[-1] + 1
        self._most = max(seen.values())
        head = torch.arange(heads, device=rows.device)
        place = torch.tensor(places, device=rows.device)
        # Row (prompt, head, place) of a [G, kv_heads, K] block for each (sequence, head) of [B, kv_heads].
        self._pick = ((rows[:, None] * heads + head) * self._most + place[:, None]).view(-1)
        # The inverse; for missing answers of a prompt row 0 stands in, and its result is not used.
        self._lay = rows.new_zeros(len(self._pads) * heads * self._most)
        self._lay[self._pick] = torch.arange(len(self._pick), device=rows.device)
        self._mask = self._pad_mask()

    def _laid(self, x: Tensor) -> Tensor:
        """[B * kv_heads, r, n] by sequence -> [G * kv_heads, K * r, n] by prompt; missing answers repeat any other."""
        return x.index_select(0, self._lay).view(-1, self._most * x.shape[1], x.shape[2])

    def _picked(self, x: Tensor, repeats: int) -> Tensor:
        """The inverse of `_laid`."""
        return x.view(-1, repeats, x.shape[2]).index_select(0, self._pick)

    def _pad_mask(self) -> Tensor | None:
        """The mask of the padding: [G * kv_heads, 1, P], 0 or -inf; None if nothing is padded."""
        if not bool(self._pads.any()):
            return None
        keys = self._prompts[0][0]
        # Padded left: the first `pads` places of a prompt are empty.
        hidden = torch.arange(keys.shape[1], device=keys.device)[None] < self._pads[:, None]
        mask = keys.new_zeros(hidden.shape).masked_fill_(hidden, float("-inf"))
        return mask.repeat_interleave(self._shape.kv_heads, 0)[:, None]


def _joined(parts: list[Tensor], length: int) -> Tensor:
    """Join blocks of prompts [P * kv_heads, T, head], padded left to `length`; the padding is masked."""
    parts = [F.pad(part, (0, 0, length - part.shape[1], 0)) if part.shape[1] < length else part for part in parts]
    return torch.cat(parts) if len(parts) > 1 else parts[0]


class _Prefill:
    """Reads prompts: logits [P, V] of the next token, keys and values [P * kv_heads, T, head] per layer."""

    def __init__(self, model: WrittenOutModel, batch: PromptBatch, cos: Tensor, sin: Tensor) -> None:
        unused = int(batch.pads.min())
        # Blocks come from a batch that was padded to its longest prompt, which may be in another block.
        ids, pads = batch.ids[:, unused:], batch.pads - unused
        length = ids.shape[1]
        # Positions begin at 0 after the padding, whose own position may be any valid one.
        at = (torch.arange(length, device=ids.device)[None] - pads[:, None]).clamp(min=0)
        self._cos, self._sin = cos[at][:, :, None], sin[at][:, :, None]
        order = torch.arange(length, device=ids.device)
        # [P, T, T], row sees column: causal, and nothing before the prompt's start.
        seen = (order[None, :, None] >= order[None, None]) & (order[None, None] >= pads[:, None, None])
        # A padding position sees itself: its output is never used, but no row may be all -inf.
        seen = seen | torch.eye(length, dtype=torch.bool, device=ids.device)
        self._seen = seen[:, None]
        self._model = model
        self.keys: list[Tensor] = []
        self.values: list[Tensor] = []
        hidden = model.run(model.embedding[ids], self._attend)
        self.logits = model.logits(hidden[:, -1])

    def _attend(self, layer: int, qk: Tensor, v: Tensor) -> Tensor:
        size = self._model.shape
        count, length, _ = v.shape
        qk = self._model.rotated(layer, qk, self._cos, self._sin)
        query = qk[:, :, : size.heads].transpose(1, 2)
        keys = qk[:, :, size.heads :].transpose(1, 2).contiguous()
        values = v.view(count, length, -1, size.head).transpose(1, 2).contiguous()
        self.keys.append(keys.view(-1, length, size.head))
        self.values.append(values.view(-1, length, size.head))
        mixed = F.scaled_dot_product_attention(
            query, keys, values, attn_mask=self._seen, enable_gqa=size.heads != size.kv_heads
        )
        return mixed.transpose(1, 2).reshape(count, length, -1)

"""Decoding with the written-out models of `llama.py`: a cache that is written in place and grows in steps, one
token a sequence and step."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from sapo_desktop.engines.torch.decoder import PromptBatch, Start, Started
from sapo_desktop.engines.torch.llama import WrittenOutModel

ROOM = 64
"""Tokens that a cache has room for beyond those in it. Most answers end long before the limit: room for it all took
three times what was used; to copy the cache every so many steps takes little."""


class WrittenOutDecoding:
    """Sequences under way; keys and values live in buffers [B * kv_heads, capacity, head] per layer."""

    def __init__(self, model: WrittenOutModel, batch: PromptBatch, room: int) -> None:
        self._model = model
        self._shape = model.shape
        self._length = batch.ids.shape[1]
        self._limit = self._length + room
        self._capacity = min(self._limit, self._length + ROOM)
        self._cos, self._sin = model.rotations(self._limit)
        blocks = [_Prefill(model, part, self._cos, self._sin) for part in batch.blocks()]
        self.first_logits = torch.cat([block.logits for block in blocks])[batch.rows]
        # What was read of a layer is let go as soon as it is spread.
        self._keys = [self._spread([b.keys.pop(0) for b in blocks], batch.rows) for _ in model.layers]
        self._values = [self._spread([b.values.pop(0) for b in blocks], batch.rows) for _ in model.layers]
        self._pads = batch.pads[batch.rows]
        self._mask = self._pad_mask()

    def step(self, tokens: Tensor) -> Tensor:
        model, size = self._model, self._shape
        if self._length == self._capacity:
            self._copy(torch.arange(len(tokens), device=tokens.device))
        at = self._length - self._pads
        cos, sin = self._cos[at][:, None], self._sin[at][:, None]
        count = len(tokens)
        self._length += 1
        now, scale = self._length, size.head**-0.5
        mask = None if self._mask is None else self._mask[:, :, :now]

        def attend(layer: int, qk: Tensor, v: Tensor) -> Tensor:
            qk = torch.addcmul(qk * cos, qk.roll(size.head // 2, -1), sin)
            keys, values = self._keys[layer], self._values[layer]
            keys.view(count, size.kv_heads, -1, size.head)[:, :, now - 1] = qk[:, size.heads :]
            values.view(count, size.kv_heads, -1, size.head)[:, :, now - 1] = v.view(count, size.kv_heads, size.head)
            query = qk[:, : size.heads].reshape(count * size.kv_heads, -1, size.head)
            past = keys[:, :now].transpose(1, 2)
            if mask is None:
                scores = torch.bmm(query, past).mul_(scale)
            else:
                scores = torch.baddbmm(mask, query, past, alpha=scale)
            return torch.bmm(scores.softmax(-1), values[:, :now]).view(count, -1)

        return model.logits(model.run(model.embedding[tokens], attend))

    def keep(self, rows: Tensor) -> None:
        self._copy(rows)
        self._pads = self._pads[rows]
        self._mask = self._pad_mask()

    def _copy(self, rows: Tensor) -> None:
        """Take the given sequences into a cache with room again, a layer after the other: never are there two."""
        self._capacity = min(self._limit, self._length + ROOM)
        for cache in (self._keys, self._values):
            for layer, held in enumerate(cache):
                cache[layer] = self._spread([held], rows, self._length)

    def _spread(self, parts: list[Tensor], rows: Tensor, used: int | None = None) -> Tensor:
        """Take the given sequences of a cache into a buffer with room."""
        size = self._shape
        held = torch.cat(parts) if len(parts) > 1 else parts[0]
        held = held.view(-1, size.kv_heads, held.shape[1], size.head)[:, :, :used]
        buffer = held.new_empty(len(rows), size.kv_heads, self._capacity, size.head)
        torch.index_select(held, 0, rows, out=buffer[:, :, : held.shape[2]])
        return buffer.view(-1, self._capacity, size.head)

    def _pad_mask(self) -> Tensor | None:
        """Return what hides the padding: [B * kv_heads, 1, limit], 0 or -inf; None where nothing is
        padded."""
        if not bool(self._pads.any()):
            return None
        hidden = torch.arange(self._limit, device=self._pads.device)[None] < self._pads[:, None]
        mask = torch.zeros(hidden.shape, dtype=self._cos.dtype, device=self._pads.device)
        mask.masked_fill_(hidden, float("-inf"))
        return mask.repeat_interleave(self._shape.kv_heads, 0)[:, None]


class _Prefill:
    """Reads prompts: logits [P, V] of the next token, keys and values [P * kv_heads, T, head] per layer."""

    def __init__(self, model: WrittenOutModel, batch: PromptBatch, cos: Tensor, sin: Tensor) -> None:
        size = model.shape
        length = batch.ids.shape[1]
        at = (torch.arange(length, device=batch.ids.device)[None] - batch.pads[:, None]).clamp(min=0)
        self._cos, self._sin = cos[at][:, :, None], sin[at][:, :, None]
        order = torch.arange(length, device=batch.ids.device)
        seen = (order[None, :, None] >= order[None, None]) & (order[None, None] >= batch.pads[:, None, None])
        # A padding position sees itself: its output is never used, but no row may be all -inf.
        seen = seen | torch.eye(length, dtype=torch.bool, device=batch.ids.device)
        self._seen = seen[:, None]
        self._size = size
        self.keys: list[Tensor] = []
        self.values: list[Tensor] = []
        hidden = model.run(model.embedding[batch.ids], self._attend)
        self.logits = model.logits(hidden[:, -1])

    def _attend(self, layer: int, qk: Tensor, v: Tensor) -> Tensor:
        del layer  # layers come in order
        size = self._size
        count, length, _ = v.shape
        qk = torch.addcmul(qk * self._cos, qk.roll(size.head // 2, -1), self._sin)
        query = qk[:, :, : size.heads].transpose(1, 2)
        keys = qk[:, :, size.heads :].transpose(1, 2).contiguous()
        values = v.view(count, length, -1, size.head).transpose(1, 2).contiguous()
        self.keys.append(keys.view(-1, length, size.head))
        self.values.append(values.view(-1, length, size.head))
        mixed = F.scaled_dot_product_attention(
            query, keys, values, attn_mask=self._seen, enable_gqa=size.heads != size.kv_heads
        )
        return mixed.transpose(1, 2).reshape(count, length, -1)


def start_written_out(model: WrittenOutModel) -> Start:
    """Return a starter that decodes with these packed weights."""

    def start(batch: PromptBatch, room: int) -> Started:
        decoding = WrittenOutDecoding(model, batch, room)
        return Started(decoding.first_logits, decoding)

    return start

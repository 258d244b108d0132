"""Many parallel sequences in llama.cpp, each with its own part of the cache.

A stream is one sequence's part of the key and value cache. Separate streams (`kv_unified=False`) are two to four times
as fast as one shared cache at 72 sequences. They have three rules: a copy covers a whole stream, the cache is divided
evenly, and the streams of a batch run together only if their numbers are consecutive.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import llama_cpp.llama_cpp as c
import numpy as np
from numpy.typing import NDArray

from sapo_desktop.core.errors import HostCancelled, HostError
from sapo_desktop.core.sentences import sentence
from sapo_desktop.engines.drawing import Floats
from sapo_desktop.engines.llama_cpp.model import Adapter, GgufModel, last_words, with_last_words

Ints = NDArray[np.signedinteger]

CELLS = 256
"""llama.cpp rounds the length of a stream up to a multiple of this."""
_BATCH = 2048
"""Tokens per call."""
_ABORTED, _NO_ROOM, _NO_MEMORY = 2, 1, -2


class Streams:
    """Sequences 0 to `count` - 1 of at most `length` positions each."""

    def __init__(self, model: GgufModel, count: int, length: int, exact: bool) -> None:
        """`exact`: float32 cache and plain attention, as in transformers; otherwise float16 and flash attention.

        Raises:
            MemoryError: there is not enough for so many.
        """
        self.count, self.length = count, padded(length)
        self.should_stop: Callable[[], bool] = lambda: False
        self._words = model.vocabulary
        settings = c.llama_context_default_params()
        settings.n_ctx, settings.n_seq_max, settings.kv_unified = self.count * self.length, count, False
        settings.n_batch = max(_BATCH, count)
        settings.n_threads = settings.n_threads_batch = 1
        settings.type_k = settings.type_v = c.GGML_TYPE_F32 if exact else c.GGML_TYPE_F16
        settings.flash_attn_type = c.LLAMA_FLASH_ATTN_TYPE_DISABLED if exact else c.LLAMA_FLASH_ATTN_TYPE_AUTO
        settings.offload_kqv = model.on_gpu
        settings.no_perf = True
        # Kept alive: llama.cpp calls it between the operations of a pass as long as the context lives.
        self._aborts = c.ggml_abort_callback(lambda _: self.should_stop())
        settings.abort_callback = self._aborts
        self._context: Any = c.llama_init_from_model(model.handle, settings)
        if not self._context:
            raise MemoryError(f"No room for {count} sequences of {self.length} tokens. {last_words()}")
        self._memory = c.llama_get_memory(self._context)
        self._batch = _Batch(int(settings.n_batch))

    def close(self) -> None:
        """Free the memory."""
        c.llama_free(self._context)
        self._context = None

    def use_threads(self, threads: int) -> None:
        c.llama_set_n_threads(self._context, threads, threads)

    def use(self, adapter: Adapter | None) -> None:
        """Use an adapter from now on, or none. What the cache holds was made with the previous one."""
        if adapter is None:
            failed = c.llama_set_adapters_lora(self._context, None, 0, None)
        else:
            handles = (c.llama_adapter_lora_p_ctypes * 1)(adapter.handle)
            failed = c.llama_set_adapters_lora(self._context, handles, 1, (ctypes.c_float * 1)(1.0))
        if failed:
            raise HostError(with_last_words(sentence("llama.cpp did not accept the adapter. Set generator to torch.")))

    def clear(self) -> None:
        """Forget every sequence."""
        c.llama_memory_clear(self._memory, False)

    def cut(self, stream: int, length: int) -> None:
        """Keep only the first `length` positions of a stream."""
        if not c.llama_memory_seq_rm(self._memory, stream, length, -1):
            raise HostError(sentence("llama.cpp cannot shorten this kind of model's memory. Choose another model."))

    def copy(self, source: int, target: int) -> None:
        """Copy one stream's content to another."""
        c.llama_memory_seq_rm(self._memory, target, -1, -1)
        c.llama_memory_seq_cp(self._memory, source, target, -1, -1)

    def read(self, prompts: list[list[int]], streams: list[int]) -> Floats:
        """Read each prompt into its (empty) stream; return the logits after its last token [N, V]."""
        tokens = np.concatenate([np.array(prompt, np.int32) for prompt in prompts])
        lengths = np.array([len(prompt) for prompt in prompts])
        ends = lengths.cumsum()
        wanted = np.zeros(len(tokens), bool)
        wanted[ends - 1] = True
        positions = np.arange(len(tokens)) - np.repeat(ends - lengths, lengths)
        return self.decode(tokens, positions, np.repeat(streams, lengths), wanted)

    def decode(self, tokens: Ints, positions: Ints, streams: Ints, wanted: NDArray[np.bool_]) -> Floats:
        """Feed tokens [T] to their streams; return the logits after the wanted ones [N, V], in their order.

        If all tokens fitted into one batch, the array is valid only until the next call.

        Raises:
            HostCancelled: `should_stop` returned True; the streams' content is useless.
            MemoryError: llama.cpp had too little.
        """
        parts = []
        for at in range(0, len(tokens), self._batch.size):
            cut = slice(at, at + self._batch.size)
            wanted_here = int(wanted[cut].sum())
            self._batch.fill(tokens[cut], positions[cut], streams[cut], wanted[cut])
            self._check(c.llama_decode(self._context, self._batch.handle))
            if wanted_here:
                address = c.llama_get_logits(self._context)
                parts.append(np.ctypeslib.as_array(address, (wanted_here, self._words)))
                if len(tokens) > self._batch.size:
                    parts[-1] = parts[-1].copy()
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _check(self, result: int) -> None:
        if result == _ABORTED:
            raise HostCancelled(sentence("Answering was cancelled."))
        if result == _NO_MEMORY:
            raise MemoryError(f"Not enough memory to answer. {last_words()}")
        if result == _NO_ROOM:
            raise HostError(
                sentence(
                    "llama.cpp found no room for a token in a stream that should be long enough. If this happens "
                    "again, set generator to torch."
                )
            )
        if result:
            raise HostError(
                with_last_words(
                    sentence(
                        "llama.cpp failed to compute (error {number}). If this happens again, set generator to torch.",
                        number=str(result),
                    )
                )
            )


class _Batch:
    """llama.cpp's batch, backed by numpy arrays. A Python loop over its pointers would cost as much as a step of a
    tiny model."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._token, self._position, self._stream = (np.zeros(size, np.int32) for _ in range(3))
        self._streams_of_token = np.ones(size, np.int32)
        self._wanted = np.zeros(size, np.int8)
        self._addresses = self._stream.ctypes.data + self._stream.itemsize * np.arange(size, dtype=np.uintp)
        self.handle = c.llama_batch()
        self.handle.embd = None
        for field, values in (
            ("token", self._token),
            ("pos", self._position),
            ("n_seq_id", self._streams_of_token),
            ("seq_id", self._addresses),
            ("logits", self._wanted),
        ):
            kind = dict(c.llama_batch._fields_)[field]
            setattr(self.handle, field, ctypes.cast(values.ctypes.data, kind))

    def fill(self, tokens: Ints, positions: Ints, streams: Ints, wanted: NDArray[np.bool_]) -> None:
        count = len(tokens)
        self._token[:count], self._position[:count], self._stream[:count] = tokens, positions, streams
        self._wanted[:count] = wanted
        self.handle.n_tokens = count


def padded(length: int) -> int:
    """Positions that a stream of that length occupies."""
    return -(-length // CELLS) * CELLS

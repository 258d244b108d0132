"""A GGUF file, loaded briefly to see its predictions, for the check of an export."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sapo_desktop.engines.drawing import Floats
from sapo_desktop.engines.llama_cpp.model import Adapter, GgufModel
from sapo_desktop.engines.llama_cpp.streams import Streams
from sapo_desktop.engines.llama_cpp.vocabulary import Vocabulary

_LENGTH = 128
"""Maximum tokens of a prompt."""


class Asked:
    """A model, with or without an adapter, open inside `with`."""

    def __init__(self, file: Path, adapter: Path | None = None) -> None:
        """Raises ModelError if it cannot be loaded."""
        self._file, self._adapter_file = file, adapter

    def __enter__(self) -> Asked:
        self._model = GgufModel(self._file, gpu=False)
        self._adapter: Adapter | None = None
        self._streams: Streams | None = None
        try:
            self._vocabulary = Vocabulary(self._model)
            self._streams = Streams(self._model, 1, _LENGTH, exact=True)
            if self._adapter_file is not None:
                self._adapter = Adapter(self._model, self._adapter_file)
                self._streams.use(self._adapter)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._streams is not None:
            self._streams.close()
        if self._adapter is not None:
            self._adapter.free()
        self._model.close()

    @property
    def stop_tokens(self) -> frozenset[int]:
        return self._vocabulary.stop_tokens

    def tokens(self, text: str) -> list[int]:
        """The text as tokens, without special ones."""
        return self._vocabulary.encode_external(text, end=False) or []

    def logits(self, prompts: Sequence[list[int]], places: int) -> Floats:
        """Logits [N, V] after each of the last positions of each prompt."""
        assert self._streams is not None
        found = []
        for ids in prompts:
            self._streams.clear()
            positions = np.arange(len(ids))
            wanted = positions >= len(ids) - places
            found.append(self._streams.decode(np.array(ids), positions, np.zeros(len(ids), np.int64), wanted).copy())
        return np.concatenate(found)

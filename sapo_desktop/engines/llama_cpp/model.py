"""A GGUF file and its adapters in llama.cpp: loading, the file's metadata, and error messages.

llama.cpp explains failures only in its log, so its last lines are kept for our messages. `streams.py` decodes and
`vocabulary.py` tokenizes. Left out: models with an encoder, and recurrent models, whose state cannot be cut back:
answers share their prompts.
"""

from __future__ import annotations

import ctypes
import re
import sys
from collections import deque
from pathlib import Path
from typing import Any

import llama_cpp.llama_cpp as c

from sapo_desktop.core.errors import ModelError, TooBig
from sapo_desktop.core.sentences import Text, joined, sentence

_ERROR, _CONTINUED = 4, 5
"""ggml's log levels: none, debug, information, warning, error, continued."""
_MAGIC = b"GGUF"
_NO_MEMORY = re.compile(r"to allocate|bad_alloc|Cannot allocate memory|Resource temporarily unavailable")
"""What llama.cpp logs when memory is missing for weights, or for the threads that check them."""

_said: deque[str] = deque(maxlen=3)
_level = 0


@c.llama_log_callback  # type: ignore[untyped-decorator]
def _log(level: int, text: bytes | None, _: Any) -> None:
    """Keep errors, and write them to this process's log, too. Warnings come by the dozen with every adapter."""
    global _level
    _level = _level if level == _CONTINUED else level
    if text and _level == _ERROR:
        line = text.decode(errors="replace")
        sys.stderr.write(line)
        if line.strip():
            _said.append(line.strip())


def last_words() -> str:
    """llama.cpp's last log lines; empty if there are none."""
    said = "; ".join(_said)
    _said.clear()
    return said


def with_last_words(text: Text) -> Text:
    """The sentence, followed by llama.cpp's last log lines."""
    said = last_words()
    return joined([text, sentence("llama.cpp says: {words}", words=said)]) if said else text


class Adapter:
    """A LoRA adapter for a model; the base weights are not changed."""

    def __init__(self, model: GgufModel, path: Path) -> None:
        _said.clear()
        self.handle: Any = c.llama_adapter_lora_init(model.handle, str(path).encode())
        if not self.handle:
            raise ModelError(
                with_last_words(
                    sentence(
                        "The adapter {name} does not fit the model {model}. Choose the model that it was "
                        "learned with, or go back to base.",
                        name=path.name,
                        model=model.path.name,
                    )
                )
            )

    def free(self) -> None:
        """Free its memory; no context may use it any more."""
        c.llama_adapter_lora_free(self.handle)
        self.handle = None


class GgufModel:
    """A model's weights and vocabulary."""

    def __init__(self, path: Path, gpu: bool) -> None:
        """Load the file. `gpu`: onto the graphics card, if this build of llama.cpp supports one.

        Raises:
            ModelError: it is not a GGUF file, is damaged, or is of an unsupported kind.
            TooBig: there is not enough memory for its weights.
        """
        c.llama_log_set(_log, None)
        c.llama_backend_init()
        _check_start(path)
        settings = c.llama_model_default_params()
        self.on_gpu = gpu and bool(c.llama_supports_gpu_offload())
        settings.n_gpu_layers = -1 if self.on_gpu else 0
        # Read, not mapped. Weights that llama.cpp repacks for the processor (4-bit ones on x86) are copies, and the
        # mapped pages would stay in memory as well. Mapped pages also look free to the system, although every token
        # needs them. A card's weights are always copies.
        settings.load_mode = c.LLAMA_LOAD_MODE_AUTO if self.on_gpu else c.LLAMA_LOAD_MODE_NONE
        settings.check_tensors = True
        _said.clear()
        self.path = path
        self.handle: Any = c.llama_model_load_from_file(str(path).encode(), settings)
        if not self.handle:
            raise _not_loaded(path)
        self.vocab: Any = c.llama_model_get_vocab(self.handle)
        try:
            self._check_kind()
        except ModelError:
            self.close()
            raise

    def close(self) -> None:
        """Free its memory; contexts and adapters must be gone."""
        c.llama_model_free(self.handle)
        self.handle = None

    @property
    def parameters(self) -> int:
        return int(c.llama_model_n_params(self.handle))

    @property
    def vocabulary(self) -> int:
        """Rows of the output matrix."""
        return int(c.llama_vocab_n_tokens(self.vocab))

    @property
    def context(self) -> int:
        """Positions that the model was trained for."""
        return int(c.llama_model_n_ctx_train(self.handle))

    @property
    def weights(self) -> str:
        """llama.cpp's name of the weights' number format, such as `F16` or `Q4_K - Medium`."""
        name = c.llama_ftype_name(c.llama_model_ftype(self.handle))
        return name.decode() if name else "unknown"

    @property
    def chat_template(self) -> str | None:
        """The jinja template in the file."""
        found = c.llama_model_chat_template(self.handle, None)
        return found.decode(errors="replace") if found else None

    def cell_bytes(self, bytes_a_number: int) -> int:
        """Bytes of keys and values per position."""
        heads = int(c.llama_model_n_head_kv(self.handle))
        plain = int(c.llama_model_n_embd(self.handle)) // max(1, int(c.llama_model_n_head(self.handle)))
        sizes = [int(self._said_in_file(f"attention.{part}_length") or plain) for part in ("key", "value")]
        return int(c.llama_model_n_layer(self.handle)) * heads * sum(sizes) * bytes_a_number

    def _said_in_file(self, key: str) -> str | None:
        """The value of a key under the architecture's name."""
        name = self.metadata("general.architecture") or ""
        return self.metadata(f"{name}.{key}")

    def metadata(self, key: str) -> str | None:
        """A short value of the file's header as text."""
        room = ctypes.create_string_buffer(256)
        size = c.llama_model_meta_val_str(self.handle, key.encode(), room, len(room))
        return room.value.decode(errors="replace") if size >= 0 else None

    def _check_kind(self) -> None:
        kind = self.metadata("general.architecture")
        if not self.vocabulary:
            raise ModelError("{name} contains no vocabulary. Choose a complete model.", name=self.path.name)
        if c.llama_model_has_encoder(self.handle) or not c.llama_model_has_decoder(self.handle):
            raise ModelError(
                "{name} ({kind}) is not a model that continues a text. Choose another one.",
                name=self.path.name,
                kind=str(kind),
            )
        if c.llama_model_is_recurrent(self.handle) or c.llama_model_is_hybrid(self.handle):
            raise ModelError(
                "Recurrent models such as {name} ({kind}) are not supported. Choose another model.",
                name=self.path.name,
                kind=str(kind),
            )


def _not_loaded(path: Path) -> ModelError | TooBig:
    if any(_NO_MEMORY.search(line) for line in _said):
        return TooBig(
            with_last_words(
                sentence(
                    "{name} does not fit into the free memory. Close other programs, or choose a smaller model "
                    "or fewer bits per weight (`generator_weights`).",
                    name=path.name,
                )
            )
        )
    return ModelError(
        with_last_words(sentence("The model in {path} cannot be loaded. Download the file again.", path=str(path)))
    )


def _check_start(path: Path) -> None:
    try:
        with path.open("rb") as file:
            start = file.read(len(_MAGIC))
    except OSError as error:
        raise ModelError(
            "The model {path} cannot be read: {reason}. Download the file again.",
            path=str(path),
            reason=str(error),
        ) from error
    if start != _MAGIC:
        raise ModelError("{path} is not a GGUF file. Choose one, or download it again.", path=str(path))

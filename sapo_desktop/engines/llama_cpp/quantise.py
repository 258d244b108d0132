"""A GGUF file with fewer bits a weight, made by llama.cpp from one of ours.

Written beside its name and renamed at the end, so that a killed process leaves no half file under it. Left out:
importance matrices, which the published 4-bit files are made with: those are better where there are any.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

import llama_cpp.llama_cpp as c

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.sentences import sentence
from sapo_desktop.engines.llama_cpp.model import with_last_words

_TYPES = {
    "q8_0": c.LLAMA_FTYPE_MOSTLY_Q8_0,
    "q4_0": c.LLAMA_FTYPE_MOSTLY_Q4_0,
    "q4_k_m": c.LLAMA_FTYPE_MOSTLY_Q4_K_M,
}


def quantise(source: Path, target: Path, weights: str, threads: int) -> None:
    """Write `target` from the F32 or F16 file `source`; raises ModelError."""
    if weights not in _TYPES:
        raise ModelError(
            sentence("Weights are quantised to {known}, not to '{weights}'.", known=", ".join(_TYPES), weights=weights)
        )
    settings = c.llama_model_quantize_default_params()
    settings.ftype, settings.nthread = _TYPES[weights], threads
    part = target.with_name(f"{target.name}.part")
    if c.llama_model_quantize(str(source).encode(), str(part).encode(), ctypes.byref(settings)):
        part.unlink(missing_ok=True)
        raise ModelError(
            with_last_words(sentence("{name} could not be quantised to {weights}.", name=source.name, weights=weights))
        )
    part.replace(target)

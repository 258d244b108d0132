"""What SAPO Desktop can do with a GGUF file according to its header, and which files form one model.

If the trainer supports the architecture, the model learns from the file itself. Any other can still answer through
llama.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from sapo_desktop.core.files.reading import open_regular
from sapo_desktop.core.sentences import Text, sentence

SUFFIX = ".gguf"
ARCHITECTURES = {
    "llama": "LlamaForCausalLM",
    "qwen2": "Qwen2ForCausalLM",
    "qwen3": "Qwen3ForCausalLM",
    "smollm3": "SmolLM3ForCausalLM",
}
"""llama.cpp's name of an architecture that can learn -> the class of transformers that computes it."""
DIFFERENT = (
    "attention.sliding_window",
    "attention.scale",
    "logit_scale",
    "residual_scale",
    "embedding_scale",
)
"""Header entries that make a known architecture compute something else than its class."""
SENTENCEPIECE, BYTE_LEVEL = "llama", "gpt2"
"""The two kinds of vocabulary that can be read, as in `tokenizer.ggml.model`."""
WORD_RULES = {
    "gpt-2": "gpt-2",
    "smollm": "smollm",
    "qwen2": "qwen2",
    "deepseek-r1-qwen": "qwen2",
    "llama-bpe": "llama-bpe",
    "llama3": "llama-bpe",
    "llama-v3": "llama-bpe",
    "falcon3": "llama-bpe",
    "smaug-bpe": "smaug-bpe",
}
"""`tokenizer.ggml.pre` -> the rule that splits a text into words (engines/gguf/words.py), grouped as in llama.cpp."""
_VISION = re.compile(r"clip|vl\b|vl(?=moe)|llava|mllama|vision|paligemma|idefics")
_MOST_PARTS = 1000
_PART = re.compile(r"(.+)-(\d{5})-of-(\d{5})\.gguf")


def is_gguf(path: Path) -> bool:
    """Whether the path is a GGUF file, by its name or its first bytes. (Ollama and hub caches name files by their
    hash.)"""
    if path.suffix.lower() == SUFFIX:
        return True
    try:
        with open_regular(path) as file:
            return file.read(4) == b"GGUF"
    except OSError:
        return False


def parts_of(path: Path) -> list[Path]:
    """The files of the model that `path` belongs to, by their names.

    At most a thousand are listed; the check of a file (models/files/gguf_file.py) then reports that parts are missing.
    """
    match = _PART.fullmatch(path.name)
    if match is None or not 1 <= int(match[2]) <= int(match[3]):
        return [path]
    last = min(int(match[3]), _MOST_PARTS)
    return [path.with_name(f"{match[1]}-{number:05d}-of-{match[3]}.gguf") for number in range(1, last + 1)]


def only_answers(name: str, architecture: str, numbers: Mapping[str, float], tokenizer: str, rule: str) -> Text:
    """Why the model of a file cannot learn here, as one sentence that names its kind; empty if it can.

    Args:
        name: the file, for the sentence.
        architecture: as in `general.architecture`.
        numbers: header entries under the architecture's name, without that prefix.
        tokenizer: as in `tokenizer.ggml.model`.
        rule: as in `tokenizer.ggml.pre`; empty if the file names none.
    """
    if _VISION.search(architecture):
        what = sentence("a model that sees images ({kind})", kind=architecture)
    elif "moe" in architecture or numbers.get("expert_count"):
        what = sentence("a mixture of experts ({kind})", kind=architecture)
    elif architecture not in ARCHITECTURES:
        what = sentence("a model of the kind '{kind}'", kind=architecture)
    elif differs := next((key for key in DIFFERENT if numbers.get(key)), ""):
        what = sentence("a {kind} model with its own {option}", kind=architecture, option=differs)
    elif tokenizer not in (SENTENCEPIECE, BYTE_LEVEL):
        what = sentence(
            "a {kind} model with a tokenizer of the kind '{tokenizer}'", kind=architecture, tokenizer=tokenizer
        )
    elif tokenizer == BYTE_LEVEL and rule not in WORD_RULES:
        what = sentence(
            "a {kind} model whose tokenizer splits words like '{rule}'", kind=architecture, rule=rule or "default"
        )
    else:
        return ""
    return sentence(
        "{name} is {what}, so it can answer but not learn. To learn, choose a Llama, Qwen2 or Qwen3 model.",
        name=name,
        what=what,
    )

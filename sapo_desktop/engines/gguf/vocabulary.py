"""A Hugging Face tokenizer as the `tokenizer.ggml.*` keys of a GGUF file.

llama.cpp has its own tokenizer, which the file configures: the name of the pre-tokenizer, each token's text and type,
the merges, the special ids, the chat template. Only byte-level BPE is written, and only if llama.cpp has a name for its
word rule. Anything else is refused, because it would load and answer differently.

One difference remains. If two added tokens of different length overlap in a text (`What is` + ` is the`), the
tokenizers library takes the one that starts first, and llama.cpp the longer one.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

import gguf
from tokenizers.pre_tokenizers import ByteLevel

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.sentences import sentence

_GPT2_WORDS = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_WORDS_AFTER_DIGITS = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_LETTERS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"
_BY_REGEX = {
    _LETTERS + r"\p{N}" + _WORDS_AFTER_DIGITS: "qwen2",
    _LETTERS + r"\p{N}{1,3}" + _WORDS_AFTER_DIGITS: "llama-bpe",
    _GPT2_WORDS: "gpt-2",
}
REGEXES = {name: regex for regex, name in _BY_REGEX.items() if name != "gpt-2"}
"""The same by name, for reading files; `gpt-2` is the rule of the ByteLevel step itself."""
# Llama 3's words, each merged from its parts; under `llama-bpe`, a word that is a token is taken whole.
_LLAMA3_BY_MERGES = "smaug-bpe"
REGEXES[_LLAMA3_BY_MERGES] = REGEXES["llama-bpe"]
KNOWN_ENDS = frozenset(
    (
        *("<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<|flush|>", "<|calls|>"),
        *("<end_of_turn>", "<|endoftext|>", "</s>", "<|eom_id|>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]"),
        *("<|end_of_text|>", "<end_of_utterance>"),
    )
)
"""Tokens that end an answer in llama.cpp if a vocabulary has them, whatever a file's header says."""
# llama.cpp refuses a vocabulary without merges. Its search starts from single characters, so a merge of two longer
# pieces is never applied.
NEVER_MERGED = "<no> <merges>"


def write_vocabulary(writer: gguf.GGUFWriter, tokenizer: Any, rows: int, ends: Collection[int] = ()) -> None:
    """Add `tokenizer` to the file. `rows`: height of the embedding, which may be padded. `ends`: tokens that end an
    answer.

    Raises:
        ModelError: llama.cpp would tokenize text differently.
    """
    layout = json.loads(tokenizer.backend_tokenizer.to_str())
    model = layout["model"]
    if model["type"] != "BPE" or not _decodes_bytes(layout):
        raise ModelError(
            "Only byte-level BPE tokenizers can be written as GGUF, not {kind}. Export as `merged`.",
            kind=str(model["type"]),
        )
    texts, types = _tokens(layout, rows)
    pre = _pre_tokenizer(layout, merged=bool(model["merges"]))
    if pre == "llama-bpe" and not model.get("ignore_merges"):
        pre = _LLAMA3_BY_MERGES
    _refuse_options(model, pre)
    merges = [_merge_text(pair) for pair in model["merges"]]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(texts)
    writer.add_token_types(types)
    writer.add_token_merges(merges or [NEVER_MERGED])
    _special_ids(writer, tokenizer)
    _ends(writer, texts, set(ends) - {tokenizer.eos_token_id})
    if tokenizer.chat_template:
        writer.add_chat_template(tokenizer.chat_template)


def _decodes_bytes(layout: dict[str, Any]) -> bool:
    """Whether tokens become text byte by byte. Earlier steps may only spell out added tokens, which llama.cpp prints
    as they are."""
    decoder = layout.get("decoder") or {}
    *before, last = decoder["decoders"] if decoder.get("type") == "Sequence" else [decoder]
    spelt = {_spelt(token["content"]) for token in layout["added_tokens"]}
    return last.get("type") == "ByteLevel" and all(
        step["type"] == "Replace" and step["content"] in spelt for step in before
    )


def _spelt(text: str) -> str:
    """Text with a letter for each byte, as in a byte-level vocabulary."""
    pieces = ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(text)
    return "".join(piece for piece, _ in pieces)


def _tokens(layout: dict[str, Any], rows: int) -> tuple[list[str], list[gguf.TokenType]]:
    """Text and type of every row of the embedding, in order of id."""
    texts = [f"[PAD{i}]" for i in range(rows)]
    types = [gguf.TokenType.UNUSED] * rows
    highest = max([*layout["model"]["vocab"].values(), *(token["id"] for token in layout["added_tokens"])])
    if highest >= rows:
        raise ModelError(
            "The tokenizer has token {token}, but the model's embedding ends at {last}. Export as `merged`.",
            token=str(highest),
            last=str(rows - 1),
        )
    for text, index in layout["model"]["vocab"].items():
        texts[index], types[index] = text, gguf.TokenType.NORMAL
    for token in layout["added_tokens"]:
        if token["single_word"] or token["lstrip"] or token["rstrip"]:
            raise ModelError(
                "The added token '{token}' depends on spaces or word borders (single_word, lstrip or "
                "rstrip), which llama.cpp cannot do. Export as `merged`.",
                token=str(token["content"]),
            )
        control = gguf.TokenType.CONTROL if token["special"] else gguf.TokenType.USER_DEFINED
        texts[token["id"]], types[token["id"]] = token["content"], control
    return texts, types


def _refuse_options(model: dict[str, Any], pre: str) -> None:
    """Raise ModelError if the BPE uses options that llama.cpp has only for Llama 3, or not at all."""
    for option in (
        "dropout",
        "continuing_subword_prefix",
        "end_of_word_suffix",
        "byte_fallback",
        "ignore_merges",
    ):
        if model.get(option) and not (option == "ignore_merges" and pre == "llama-bpe"):
            raise ModelError(
                "The tokenizer uses {option}, which llama.cpp does not support. Export as `merged`.", option=option
            )


def _merge_text(pair: str | list[str]) -> str:
    return pair if isinstance(pair, str) else " ".join(pair)


def _pre_tokenizer(layout: dict[str, Any], merged: bool) -> str:
    """llama.cpp's name of the rule that splits a text into words."""
    steps = layout.get("pre_tokenizer") or {}
    parts = steps["pretokenizers"] if steps.get("type") == "Sequence" else [steps]
    if parts[-1].get("type") != "ByteLevel" or parts[-1]["add_prefix_space"]:
        raise ModelError(
            sentence(
                "Only tokenizers whose last step is ByteLevel without a prefix space can be written as GGUF. "
                "Export as `merged`."
            )
        )
    name = _word_rule(parts)
    # As the official converter does: llama.cpp does not compose characters, so Qwen2's NFC is dropped.
    normalizer = layout.get("normalizer")
    normalised = normalizer is not None and not (name == "qwen2" and _is_nfc(normalizer))
    if normalised or (name is None and merged):
        raise ModelError(
            sentence(
                "llama.cpp has no name for how this tokenizer splits text (its normalizer or pre_tokenizer). "
                "Export as `merged` instead."
            )
        )
    # Without merges every byte is a token, whatever the word rule.
    return name if name is not None and merged else "gpt-2"


def _word_rule(parts: list[dict[str, Any]]) -> str | None:
    """The name of a known list of pre-tokenizer steps; None if unknown."""
    *before, last = parts
    if not before:
        return "gpt-2" if last["use_regex"] else None
    if len(before) > 1:
        return None
    first = before[0]
    if first["type"] == "Digits" and first["individual_digits"] and last["use_regex"]:
        return "smollm"
    isolated = first["type"] == "Split" and first["behavior"] == "Isolated" and not first["invert"]
    if isolated and not last["use_regex"]:
        return _BY_REGEX.get(first["pattern"].get("Regex", ""))
    return None


def _is_nfc(normalizer: dict[str, Any]) -> bool:
    parts = normalizer["normalizers"] if normalizer["type"] == "Sequence" else [normalizer]
    return all(part["type"] == "NFC" for part in parts)


def _special_ids(writer: gguf.GGUFWriter, tokenizer: Any) -> None:
    end = tokenizer.eos_token_id
    if end is None:
        raise ModelError(
            sentence("The tokenizer has no end-of-sequence token, so llama.cpp would never stop. Export as `merged`.")
        )
    writer.add_eos_token_id(end)
    if tokenizer.pad_token_id is not None:
        writer.add_pad_token_id(tokenizer.pad_token_id)
    # Without a beginning token llama.cpp assumes id 11; it is not prepended in either case.
    writer.add_bos_token_id(end if tokenizer.bos_token_id is None else tokenizer.bos_token_id)
    writer.add_add_bos_token(_adds_beginning(tokenizer))
    writer.add_add_eos_token(False)


def _ends(writer: gguf.GGUFWriter, texts: list[str], ends: set[int]) -> None:
    """End tokens besides the end of the sequence: llama.cpp knows some by their text, and accepts two more by their
    ids."""
    unknown = sorted(end for end in ends if texts[end] not in KNOWN_ENDS)
    if len(unknown) > 2:
        raise ModelError(
            "The model stops at {count} tokens, but llama.cpp cannot stop at {name}. Export as `merged`.",
            count=len(ends) + 1,
            name=texts[unknown[2]],
        )
    for add, end in zip((writer.add_eot_token_id, writer.add_eom_token_id), unknown, strict=False):
        add(end)


def _adds_beginning(tokenizer: Any) -> bool:
    """True if the tokenizer itself prepends its beginning token."""
    ids = tokenizer("a")["input_ids"]
    return tokenizer.bos_token_id is not None and bool(ids) and ids[0] == tokenizer.bos_token_id

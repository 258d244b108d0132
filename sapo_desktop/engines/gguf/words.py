"""The tokenizer of a GGUF file for the tokenizers library, with the file's chat template and end tokens.

Two kinds are supported: byte-level BPE with a word rule that llama.cpp names, and sentencepiece, whose scores become
merges. Ids equal llama.cpp's, so each can continue the other's prompts. Left out: WordPiece, UGM and RWKV vocabularies,
and unknown word rules (core/files/gguf.py).
"""

from __future__ import annotations

from typing import Any

import gguf
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.files.gguf import SENTENCEPIECE, WORD_RULES
from sapo_desktop.engines.gguf.fields import Fields
from sapo_desktop.engines.gguf.vocabulary import KNOWN_ENDS, NEVER_MERGED, REGEXES
from sapo_desktop.engines.tokenizer import ModelTokenizer, make_tokenizer

_CONTROL, _OWN, _UNUSED = gguf.TokenType.CONTROL, gguf.TokenType.USER_DEFINED, gguf.TokenType.UNUSED
_UNKNOWN = gguf.TokenType.UNKNOWN
_LLAMA3 = ("llama-bpe",)
"""Rules under which a word that is a token is taken whole, and a text begins with the beginning token."""


def read_tokenizer(fields: Fields) -> ModelTokenizer:
    """The file's tokenizer, as transformers' PreTrainedTokenizerFast would have it.

    Raises:
        ModelError: the file has no tokenizer, or a damaged or unsupported one.
    """
    from transformers import PreTrainedTokenizerFast

    texts, types = _tokens(fields)
    rule = WORD_RULES.get(fields.text("tokenizer.ggml.pre", ""), "")
    spm = fields.text("tokenizer.ggml.model") == SENTENCEPIECE
    try:
        tokenizer = _sentencepiece(fields, texts, types) if spm else _byte_level(fields, texts, types, rule)
        _add(tokenizer, texts, types)
    except Exception as error:
        # The tokenizers library raises a bare Exception if merges and tokens do not match.
        raise ModelError(
            "The tokenizer in {folder} cannot be read: {reason}. Download the file again.",
            folder=str(fields.path),
            reason=str(error),
        ) from error
    names = _special(fields, texts, spm or rule in _LLAMA3)
    if "bos_token" in names and _adds_beginning(fields, spm or rule in _LLAMA3):
        beginning = (names["bos_token"], fields.token("bos"))
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{beginning[0]} $A", pair=f"{beginning[0]} $A $B", special_tokens=[beginning]
        )
    made = PreTrainedTokenizerFast(tokenizer_object=tokenizer, clean_up_tokenization_spaces=False, **names)
    made.chat_template = fields.text("tokenizer.chat_template", "") or None
    return make_tokenizer(made, _ends(fields, texts, types))


def _tokens(fields: Fields) -> tuple[list[str], list[int]]:
    texts = fields.list("tokenizer.ggml.tokens")
    types = fields.get("tokenizer.ggml.token_type") or [int(gguf.TokenType.NORMAL)] * len(texts)
    if len(types) != len(texts):
        raise ModelError("The tokenizer in {path} is damaged. Download the file again.", path=str(fields.path))
    return texts, types


def _byte_level(fields: Fields, texts: list[str], types: list[int], rule: str) -> Tokenizer:
    merges = [merge for merge in fields.list("tokenizer.ggml.merges") if merge != NEVER_MERGED]
    pairs = [(left, right) for left, _, right in (merge.partition(" ") for merge in merges)]
    tokenizer = Tokenizer(models.BPE(vocab=_vocabulary(texts, types), merges=pairs, ignore_merges=rule in _LLAMA3))
    if rule == "qwen2":
        tokenizer.normalizer = normalizers.NFC()  # as the model was trained; llama.cpp does not compose characters
    tokenizer.pre_tokenizer = _cutter(rule)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def _cutter(rule: str) -> Any:
    """The step that splits a text into words."""
    cut: Any
    if rule in REGEXES:
        cut = pre_tokenizers.Split(Regex(REGEXES[rule]), "isolated")
    elif rule == "smollm":
        cut = pre_tokenizers.Digits(individual_digits=True)
    else:
        return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    return pre_tokenizers.Sequence([cut, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=rule == "smollm")])


def _sentencepiece(fields: Fields, texts: list[str], types: list[int]) -> Tokenizer:
    from transformers.tokenization_utils_base import generate_merges

    scores = fields.list("tokenizer.ggml.scores")
    vocabulary = _vocabulary(texts, types)
    normal = int(gguf.TokenType.NORMAL)
    skipped = {text for text, kind in zip(texts, types, strict=True) if kind != normal}
    merges = generate_merges(vocabulary, dict(zip(texts, scores, strict=True)), skipped)
    unknown = fields.token("unknown")
    tokenizer = Tokenizer(
        models.BPE(
            vocab=vocabulary,
            merges=merges,
            unk_token=None if unknown is None else texts[unknown],
            fuse_unk=True,
            byte_fallback=True,
        )
    )
    prefixed = fields.flag("tokenizer.ggml.add_space_prefix", True)
    spaces: list[Any] = [normalizers.Replace(" ", "▁")]
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), *spaces] if prefixed else spaces)
    plain: list[Any] = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    tokenizer.decoder = decoders.Sequence([*plain, decoders.Strip(" ", 1, 0)] if prefixed else plain)
    return tokenizer


def _vocabulary(texts: list[str], types: list[int]) -> dict[str, int]:
    """Ids by text, without the rows that pad the embedding."""
    return {text: index for index, (text, kind) in enumerate(zip(texts, types, strict=True)) if kind != _UNUSED}


def _add(tokenizer: Tokenizer, texts: list[str], types: list[int]) -> None:
    """Tokens that are found in a text before it is split."""
    for text, kind in zip(texts, types, strict=True):
        if kind in (_CONTROL, _UNKNOWN, _OWN):
            special = kind != _OWN
            tokenizer.add_tokens([AddedToken(text, normalized=False, special=special)])


def _special(fields: Fields, texts: list[str], adds: bool) -> dict[str, str]:
    """Special tokens by their names in templates. If a model has no beginning token, files name its end token
    instead."""
    ids = {"eos_token": fields.token("eos"), "pad_token": fields.token("padding"), "unk_token": fields.token("unknown")}
    if ids["eos_token"] is None:
        raise ModelError(
            "The tokenizer in {folder} has no end-of-sequence token. Choose another model.", folder=str(fields.path)
        )
    if fields.token("bos") != ids["eos_token"] or _adds_beginning(fields, adds):
        ids["bos_token"] = fields.token("bos")
    return {name: texts[index] for name, index in ids.items() if index is not None and index < len(texts)}


def _adds_beginning(fields: Fields, otherwise: bool) -> bool:
    return fields.flag("tokenizer.ggml.add_bos_token", otherwise)


def _ends(fields: Fields, texts: list[str], types: list[int]) -> frozenset[int]:
    named = {index for name in ("eos", "eot", "eom") if (index := fields.token(name)) is not None}
    by_text = {index for index, text in enumerate(texts) if text in KNOWN_ENDS and types[index] in (_CONTROL, _OWN)}
    return frozenset(named | by_text)

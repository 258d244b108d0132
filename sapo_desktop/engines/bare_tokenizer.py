"""A tokenizer made with the tokenizers library alone, for cases where transformers would add nothing.

transformers loads some 250 modules for it, which take more memory than the starter and its training. This has the part
of PreTrainedTokenizerFast that engines/tokenizer.py uses, and gives the same ids and texts. For every other kind of
folder, `load_bare_tokenizer` returns None, and transformers reads it or explains what is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from sapo_desktop.core.files.reading import read_json, read_text

TEMPLATE = "chat_template.jinja"
_MORE = ("special_tokens_map.json", "added_tokens.json", "additional_chat_templates")
"""Files that transformers would read as well."""
_LARGEST_VOCABULARY = 100_000
"""Larger vocabularies may get fixes from transformers."""


class _Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The supported contents of tokenizer_config.json."""

    tokenizer_class: Literal["TokenizersBackend"]
    eos_token: str
    pad_token: str | None = None
    extra_special_tokens: list[str] = []
    backend: Literal["tokenizers"] = "tokenizers"
    clean_up_tokenization_spaces: bool = False
    """Ignored: every caller here says what it wants."""
    model_max_length: float = 0
    is_local: bool = True
    local_files_only: bool = True

    @property
    def named(self) -> dict[str, str]:
        """Tokens that a template can refer to by name."""
        names = {"eos_token": self.eos_token, "pad_token": self.pad_token}
        return {name: token for name, token in names.items() if token is not None}


class BareTokenizer:
    """tokenizer.json as it is."""

    def __init__(self, tokenizer: Any, config: _Config, chat_template: str | None) -> None:
        """`tokenizer`: from the tokenizers library."""
        self._tokenizer = tokenizer
        self.chat_template = chat_template
        self.special_tokens_map = config.named
        self.eos_token_id = int(tokenizer.token_to_id(config.eos_token))

    @property
    def added_tokens_decoder(self) -> dict[int, Any]:
        """AddedToken by id."""
        found: dict[int, Any] = self._tokenizer.get_added_tokens_decoder()
        return found

    def get_vocab(self) -> dict[str, int]:
        """Id by token."""
        return dict(self._tokenizer.get_vocab())

    def get_chat_template(self) -> str | None:
        return self.chat_template

    def __call__(
        self, text: str, add_special_tokens: bool = True, split_special_tokens: bool = False
    ) -> dict[str, list[int]]:
        self._tokenizer.encode_special_tokens = split_special_tokens
        return {"input_ids": self._tokenizer.encode(text, add_special_tokens=add_special_tokens).ids}

    def decode(
        self, ids: Sequence[int], *, skip_special_tokens: bool, clean_up_tokenization_spaces: Literal[False]
    ) -> str:
        del clean_up_tokenization_spaces  # it never does
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=skip_special_tokens))


def load_bare_tokenizer(folder: Path) -> BareTokenizer | None:
    """The tokenizer of a folder in transformers' layout; None if transformers would change it, or if it is
    incomplete."""
    from tokenizers import Tokenizer

    if any((folder / name).exists() for name in _MORE):
        return None
    try:
        config = read_json(folder / "tokenizer_config.json", _Config)
        template = read_text(folder / TEMPLATE) if (folder / TEMPLATE).exists() else None
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception:  # noqa: BLE001 - the tokenizers library raises a bare one where its file is not whole
        return None  # transformers finds out what is wrong, and its error is explained elsewhere
    special = {token.content for token in tokenizer.get_added_tokens_decoder().values() if _is_plain(token)}
    as_it_stands = (
        special.issuperset([*config.named.values(), *config.extra_special_tokens])
        and tokenizer.truncation is None
        and tokenizer.padding is None
        and tokenizer.get_vocab_size() <= _LARGEST_VOCABULARY
    )
    return BareTokenizer(tokenizer, config, template) if as_it_stands else None


def _is_plain(token: Any) -> bool:
    """Whether the token is special exactly as transformers would make it."""
    return bool(token.special) and not (token.normalized or token.lstrip or token.rstrip or token.single_word)

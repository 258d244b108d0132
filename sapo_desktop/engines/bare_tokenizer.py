"""A tokenizer by the tokenizers library alone, where transformers would add nothing to it.

transformers loads some 250 modules around it, which take more memory than the starter and all that it learns. This
has the part of PreTrainedTokenizerFast that engines/tokenizer.py asks for, and gives the same ids and texts. Left
out: every folder of another kind, which transformers reads or says what is wrong with: `load_bare_tokenizer` returns
None for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from sapo_desktop.core.files.reading import read_json, read_text

TEMPLATE = "chat_template.jinja"
_MORE = ("special_tokens_map.json", "added_tokens.json", "additional_chat_templates")
"""What transformers would read as well."""
_LARGEST_VOCABULARY = 100_000
"""Larger ones transformers may mend."""


class _Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What tokenizer_config.json may say."""

    tokenizer_class: Literal["TokenizersBackend"]
    eos_token: str
    pad_token: str | None = None
    extra_special_tokens: list[str] = []
    backend: Literal["tokenizers"] = "tokenizers"
    clean_up_tokenization_spaces: bool = False
    """Nobody who decodes here leaves it open."""
    model_max_length: float = 0
    is_local: bool = True
    local_files_only: bool = True

    @property
    def named(self) -> dict[str, str]:
        """Tokens that a template can ask for by name."""
        names = {"eos_token": self.eos_token, "pad_token": self.pad_token}
        return {name: token for name, token in names.items() if token is not None}


class BareTokenizer:
    """tokenizer.json as it stands."""

    def __init__(self, tokenizer: Any, config: _Config, chat_template: str | None) -> None:
        """`tokenizer`: of the tokenizers library."""
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
        del clean_up_tokenization_spaces  # it never is
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=skip_special_tokens))


def load_bare_tokenizer(folder: Path) -> BareTokenizer | None:
    """The tokenizer of a folder in transformers' layout; None where transformers would make another one of it, or it
    is not whole."""
    from tokenizers import Tokenizer

    if any((folder / name).exists() for name in _MORE):
        return None
    try:
        config = read_json(folder / "tokenizer_config.json", _Config)
        template = read_text(folder / TEMPLATE) if (folder / TEMPLATE).exists() else None
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception:  # noqa: BLE001 - the tokenizers library raises a bare one where its file is not whole
        return None  # transformers finds out what is wrong, and there are words for that
    special = {token.content for token in tokenizer.get_added_tokens_decoder().values() if _is_plain(token)}
    as_it_stands = (
        special.issuperset([*config.named.values(), *config.extra_special_tokens])
        and tokenizer.truncation is None
        and tokenizer.padding is None
        and tokenizer.get_vocab_size() <= _LARGEST_VOCABULARY
    )
    return BareTokenizer(tokenizer, config, template) if as_it_stands else None


def _is_plain(token: Any) -> bool:
    """Whether it is special as transformers would make it."""
    return bool(token.special) and not (token.normalized or token.lstrip or token.rstrip or token.single_word)

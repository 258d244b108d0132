"""Which files of a repository a model needs if the user listed none: those of one layout, and nothing that can
contain programs."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from pathlib import Path

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.files.gguf import parts_of
from sapo_desktop.core.models import ModelKind
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.models.files.names import PROGRAMS, check, is_plain, kind_of

_NEEDED_JSON = re.compile(
    r"config\.json|generation_config\.json|tokenizer\.json|tokenizer_config\.json|special_tokens_map\.json|"
    r"added_tokens\.json|vocab\.json|chat_template\.json|.*\.safetensors\.index\.json"
)
_PART = re.compile(r"(.*)-\d{5}-of-\d{5}\.gguf")


def kind_of_files(names: Sequence[str]) -> ModelKind:
    """The layout of these files.

    Raises:
        ModelError: no layout, or two.
    """
    kinds = {check(name) for name in names}
    if {"weights", "gguf"} <= kinds:
        raise ModelError(sentence("These files have weights in safetensors and in GGUF. Download them as two models."))
    if "gguf" in kinds:
        return "gguf"
    if "weights" in kinds:
        return "transformers"
    raise ModelError(sentence("These files contain no weights in safetensors or GGUF. Choose files that do."))


def choose(repository: str, listed: Sequence[str], named: Sequence[str] = (), quantisation: str = "") -> list[str]:
    """The names of the files to download: the listed ones, or those of the repository's only model, or of its only GGUF
    model of that quantisation.

    Raises:
        ModelError: there is no such model, or there are several and none was named.
    """
    files = {name for name in listed if is_plain(name) and kind_of(name)}
    if named:
        wanted = [part for name in named for part in _all_parts(repository, files, name)]
        return [_named(repository, files, name) for name in dict.fromkeys(wanted)]
    plain = {name for name in files if kind_of(name) == "weights" and not quantisation}
    quantised = {name for name in files if kind_of(name) == "gguf" and _is_of(name, quantisation)}
    texts = {name for name in files if kind_of(name) == "text"}
    if plain:
        needed = {name for name in files if kind_of(name) == "tokenizer" or _NEEDED_JSON.fullmatch(name)}
        return sorted(plain | needed | texts)
    if not quantised:
        raise ModelError(_nothing(repository, listed))
    if len({_PART.sub(r"\1", name) for name in quantised}) > 1:
        raise ModelError(
            "{repository} has several GGUF models. Choose one of them: {names}.",
            in_terminal="sapo-desktop models download {repository} --file NAME",
            repository=repository,
            names=", ".join(sorted(quantised)),
        )
    whole = {part for name in quantised for part in _all_parts(repository, files, name)}
    return sorted(whole | texts)


def _is_of(name: str, quantisation: str) -> bool:
    """Whether the name has that quantisation: `Q4_K` does not match `model-q4_k_m.gguf`."""
    word = re.escape(quantisation.lower())
    return not quantisation or re.search(rf"(?<![a-z0-9_]){word}(?![a-z0-9_])", name.lower()) is not None


def _all_parts(repository: str, files: Set[str], name: str) -> list[str]:
    """All parts of the model that the file belongs to; most models are a single file."""
    check(name)
    parts = [part.name for part in parts_of(Path(name))]
    missing = [part for part in parts if part not in files]
    if missing and name in files:
        raise ModelError(
            "{name} is one of {count} files of a model, and {repository} has no {missing}. Choose "
            "another file or repository.",
            name=name,
            count=len(parts),
            repository=repository,
            missing=missing[0],
        )
    return parts


def _named(repository: str, files: Set[str], name: str) -> str:
    if name not in files:
        raise ModelError(
            "{repository} has no file {name} in its top folder. See its page.", repository=repository, name=name
        )
    return name


def _nothing(repository: str, listed: Sequence[str]) -> Text:
    programs = sorted(name for name in listed if name.endswith(tuple(PROGRAMS - {".py"})))
    if programs:
        return sentence(
            "{repository} has its weights only as {name}. Files of that kind can contain programs and "
            "are always refused. Look for a safetensors or GGUF version.",
            repository=repository,
            name=programs[0],
        )
    return sentence(
        "{repository} has no weights in safetensors or GGUF in its top folder. Choose another one.",
        repository=repository,
    )

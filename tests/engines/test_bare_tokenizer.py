"""Without transformers a tokenizer gives the ids and the texts that it gives with it, or it is left to transformers."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.resources import resource
from sapo_desktop.engines.bare_tokenizer import BareTokenizer, load_bare_tokenizer
from sapo_desktop.engines.tokenizer import load_tokenizer
from tests.builders import as_prompt

STARTER = resource("starter")
TEXTS = [
    "",
    " ",
    "What is 2 + 2?",
    "How many times does 'a' appear in \"banana\"?\n",
    "gcd of 12, 18 × ¬p ∨ q .0° é ü 漢字 \U0001f438 \ud7ff \x00\x7f",
    "<answer>8</answer><eos><pad><q>x<a>",
    "<q>What is 1?<a>",
    "  two  blanks\t\r\nand lines",
]


@pytest.fixture(scope="module", params=["starter", "tiny"])
def folder(request: pytest.FixtureRequest, llama: Path) -> Path:
    return STARTER if request.param == "starter" else llama


def test_ids_and_texts_are_those_of_transformers(folder: Path) -> None:
    bare, plain = load_tokenizer(folder, bare=True), load_tokenizer(folder)
    assert isinstance(bare.backend, BareTokenizer) and not isinstance(plain.backend, BareTokenizer)
    assert (bare.stop_tokens, bare.end_token) == (plain.stop_tokens, plain.end_token)
    assert bare.special_texts() == plain.special_texts()
    assert bare.backend.special_tokens_map == plain.backend.special_tokens_map
    assert bare.backend.get_chat_template() == plain.backend.get_chat_template()
    for text in TEXTS:
        assert bare.prompt_tokens(as_prompt(text)) == plain.prompt_tokens(as_prompt(text))
        for end in (True, False):
            assert bare.encode_external(text, end) == plain.encode_external(text, end)
        for split in (True, False):
            ids = plain.backend(text, split_special_tokens=split)["input_ids"]
            assert bare.backend(text, split_special_tokens=split)["input_ids"] == ids
            assert bare.prompt_text(ids) == plain.prompt_text(ids)
            assert bare.text(ids) == plain.text(ids)
    for index in range(len(plain.backend)):
        assert bare.text([index, 5, index]) == plain.text([index, 5, index])


def _changed(name: str, change: Callable[[dict[str, Any]], None]) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        values = json.loads((folder / name).read_text())
        change(values)
        (folder / name).write_text(json.dumps(values))

    return spoil


CONFIG, TOKENIZER = "tokenizer_config.json", "tokenizer.json"
OTHERS: dict[str, Callable[[Path], object]] = {
    "another class": _changed(CONFIG, lambda config: config.update(tokenizer_class="GPT2Tokenizer")),
    "a beginning before every text": _changed(CONFIG, lambda config: config.update(add_bos_token=True)),
    "a special token that is none yet": _changed(CONFIG, lambda config: config.update(pad_token="<new>")),
    "cut off": _changed(
        TOKENIZER,
        lambda made: made.update(
            truncation={"max_length": 4, "strategy": "LongestFirst", "stride": 0, "direction": "Right"}
        ),
    ),
    "special tokens of another kind": _changed(TOKENIZER, lambda made: made["added_tokens"][0].update(rstrip=True)),
    "files next to it": lambda folder: (folder / "special_tokens_map.json").write_text("{}"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_transformers_would_change_is_left_to_it(name: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(STARTER, tmp_path / "model"))
    assert load_bare_tokenizer(folder) is not None
    OTHERS[name](folder)
    assert load_bare_tokenizer(folder) is None
    assert not isinstance(load_tokenizer(folder, bare=True).backend, BareTokenizer)


@pytest.mark.parametrize("name", [CONFIG, TOKENIZER])
def test_what_is_damaged_is_reported_in_the_same_words(name: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(STARTER, tmp_path / "model"))
    (folder / name).write_bytes((folder / name).read_bytes()[:-9])
    with pytest.raises(ModelError, match="again"):
        load_tokenizer(folder, bare=True)

"""Loading models and turning text into tokens."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from sapo_desktop.core.errors import CardUnusable, ModelError
from sapo_desktop.engines.torch.lm import LanguageModel, load_language_model
from tests.builders import as_prompt


@pytest.fixture(scope="module")
def lm(llama: Path) -> LanguageModel:
    return load_language_model(llama)


@pytest.fixture
def copied(llama: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(llama, tmp_path / "model"))


def test_what_is_loaded(lm: LanguageModel) -> None:
    assert lm.device == torch.device("cpu") or torch.cuda.is_available()
    assert lm.dtype == torch.float32
    assert lm.context == 128
    assert lm.vocabulary == 62
    assert lm.words.stop_tokens == {lm.words.end_token}
    assert lm.parameters == sum(p.numel() for p in lm.model.parameters())


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a card that can be used")
def test_a_card_that_cannot_be_used_is_kept_apart(llama: Path) -> None:
    with pytest.raises(CardUnusable, match=r"The graphics card cannot be used \(.+\)\.$"):
        load_language_model(llama, "cuda")
    with pytest.raises(ModelError, match="set device to auto") as refused:
        load_language_model(llama, "mps" if not torch.backends.mps.is_available() else "xpu")
    assert not isinstance(refused.value, CardUnusable)


def test_a_model_without_a_template_gets_the_bare_text(copied: Path) -> None:
    (copied / "chat_template.jinja").unlink()
    bare = load_language_model(copied)
    assert bare.tokenizer.convert_ids_to_tokens(bare.words.prompt_tokens(as_prompt("1+1"))) == ["1", "+", "1"]


def test_text_leaves_special_tokens_out_and_answer_tags_in(lm: LanguageModel) -> None:
    ids = lm.tokenizer.convert_tokens_to_ids(["4", "<answer>", "8", "</answer>", "<eos>"])
    assert lm.words.text(ids) == "4<answer>8</answer>"


def test_external_text_gets_the_ids_that_an_own_answer_has(lm: LanguageModel) -> None:
    ids = lm.words.encode_external("4 <answer>8</answer>", end=True)
    assert ids == lm.tokenizer.convert_tokens_to_ids(["4", " ", "<answer>", "8", "</answer>", "<eos>"])
    assert lm.words.encode_external("4", end=False) == lm.tokenizer.convert_tokens_to_ids(["4"])


@pytest.mark.parametrize("text", ["8<eos>", "<q>8", "x<pad>y<a>"])
def test_external_text_with_a_special_token_is_skipped(lm: LanguageModel, text: str) -> None:
    assert lm.words.encode_external(text, end=True) is None


@pytest.mark.parametrize("lacking", ["model.safetensors", "config.json", ""])
def test_what_is_not_there_is_reported(copied: Path, lacking: str) -> None:
    shutil.rmtree(copied) if not lacking else (copied / lacking).unlink()
    with pytest.raises(ModelError, match="cannot be read"):
        load_language_model(copied)


def test_pickled_weights_are_not_read(copied: Path) -> None:
    (copied / "model.safetensors").rename(copied / "pytorch_model.bin")
    with pytest.raises(ModelError, match="cannot be read"):
        load_language_model(copied)


@pytest.mark.parametrize("file", ["model.safetensors", "config.json", "tokenizer.json"])
def test_damaged_files_are_reported(copied: Path, file: str) -> None:
    content = (copied / file).read_bytes()
    (copied / file).write_bytes(content[: len(content) // 2])
    with pytest.raises(ModelError, match="Download the folder again"):
        load_language_model(copied)


def test_missing_layers_are_reported(copied: Path) -> None:
    config = json.loads((copied / "config.json").read_text())
    (copied / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 3}))
    with pytest.raises(ModelError, match="incomplete"):
        load_language_model(copied)


@pytest.mark.parametrize("change", [{"model_type": "gpt_neox"}, {"hidden_act": "gelu"}])
def test_layers_that_are_not_written_out_are_refused(copied: Path, change: dict[str, object]) -> None:
    config = json.loads((copied / "config.json").read_text())
    (copied / "config.json").write_text(json.dumps({**config, **change}))
    with pytest.raises(ModelError, match="unusual layers"):
        load_language_model(copied)


@pytest.mark.parametrize(("device", "dtype"), [("toaster", "auto"), ("cpu", "int3")])
def test_unknown_devices_and_formats_are_reported(llama: Path, device: str, dtype: str) -> None:
    with pytest.raises(ModelError):
        load_language_model(llama, device, dtype)

"""Exports compute the same as the live model, leave it unchanged, and leave no partial files."""

import errno
import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from peft import PeftModel
from safetensors import SafetensorError
from transformers import AutoModelForCausalLM, AutoTokenizer

from sapo_desktop.core.errors import HostCancelled, ModelError, SapoError, UsageError
from sapo_desktop.engines.exporting import export as exporting
from sapo_desktop.engines.exporting.export import MergedWeights, export, lora_factors
from sapo_desktop.engines.gguf.architectures import Layout
from sapo_desktop.engines.gguf.folder import write_base
from sapo_desktop.engines.gguf.write import write_model
from sapo_desktop.engines.prompts import INSTRUCTIONS
from sapo_desktop.engines.torch.lm import load_language_model
from tests.engines.export_models import (
    ARCHITECTURES,
    CORPUS,
    adapted,
    llama,
    save_base,
    snapshot,
    starter_like_tokenizer,
    tiny_model,
    torch_greedy,
    torch_logits,
)

ROWS = 272


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return starter_like_tokenizer()


@pytest.fixture
def base(tmp_path: Path, tokenizer: Any) -> Path:
    return save_base(tiny_model("llama", ROWS), tokenizer, tmp_path / "tiny")


def tokens_of(tokenizer: Any) -> list[int]:
    return list(tokenizer(CORPUS[2], add_special_tokens=False)["input_ids"])


def load(folder: Path) -> Any:
    return AutoModelForCausalLM.from_pretrained(folder, local_files_only=True).eval()


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("tied", [True, False])
def test_merged_computes_as_the_adapted_model(tmp_path: Path, tokenizer: Any, architecture: str, tied: bool) -> None:
    folder = save_base(tiny_model(architecture, ROWS, tied), tokenizer, tmp_path / "tiny")
    model = adapted(tiny_model(architecture, ROWS, tied))
    before = snapshot(model)
    export("merged", model, tokenizer, folder, tmp_path / "out")
    tokens = tokens_of(tokenizer)
    expected = torch_logits(model, tokens)
    assert np.abs(torch_logits(load(tmp_path / "out"), tokens) - expected).max() < 1e-5
    with model.disable_adapter():
        assert np.abs(torch_logits(model, tokens) - expected).max() > 0.1
    after = snapshot(model)
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_merged_folder_has_all_that_transformers_needs(tmp_path: Path, tokenizer: Any, base: Path) -> None:
    (base / "LICENSE").write_text("terms", encoding="utf-8")
    files = export("merged", adapted(tiny_model("llama", ROWS)), tokenizer, base, tmp_path / "out", steps=42)
    needed = {"config.json", "model.safetensors", "tokenizer.json", "chat_template.jinja", "README.md", "LICENSE"}
    assert needed <= set(files)
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert card.startswith("---\nlicense: apache-2.0\nbase_model: tiny\n---\n")
    assert "42 steps" in card
    assert str(tmp_path) not in card
    again = AutoTokenizer.from_pretrained(tmp_path / "out", local_files_only=True)
    assert again.chat_template == tokenizer.chat_template
    assert [again(text)["input_ids"] for text in CORPUS] == [tokenizer(text)["input_ids"] for text in CORPUS]


def test_merged_keeps_the_number_format_of_the_base(tmp_path: Path, tokenizer: Any) -> None:
    folder = save_base(tiny_model("llama", ROWS).to(torch.bfloat16), tokenizer, tmp_path / "tiny")
    export("merged", adapted(load(folder).float()), tokenizer, folder, tmp_path / "out")
    assert json.loads((tmp_path / "out" / "config.json").read_text(encoding="utf-8"))["dtype"] == "bfloat16"
    assert load(tmp_path / "out").dtype == torch.bfloat16


def test_adapter_loads_onto_the_base(tmp_path: Path, tokenizer: Any, base: Path) -> None:
    model = adapted(tiny_model("llama", ROWS))
    files = export("peft", model, tokenizer, base, tmp_path / "out")
    assert {"adapter_model.safetensors", "adapter_config.json", "README.md", "tokenizer.json"} <= set(files)
    settings = json.loads((tmp_path / "out" / "adapter_config.json").read_text(encoding="utf-8"))
    assert settings["base_model_name_or_path"] == str(base)
    loaded = PeftModel.from_pretrained(load(base), tmp_path / "out").eval()
    tokens = tokens_of(tokenizer)
    assert np.abs(torch_logits(loaded, tokens) - torch_logits(model, tokens)).max() < 1e-5


@pytest.mark.allowed_skip("llama-cpp-python is built from source and may be missing at a desk")
def test_gguf_answers_as_the_live_model(tmp_path: Path, tokenizer: Any, base: Path) -> None:
    model = adapted(tiny_model("llama", ROWS))
    before = snapshot(model)
    files = export("gguf", model, tokenizer, base, tmp_path / "out")
    assert files == ["README.md", "tiny-F16.gguf"]
    tokens = tokens_of(tokenizer)
    with llama(tmp_path / "out" / "tiny-F16.gguf") as cpp:
        assert cpp.greedy(tokens, 8) == torch_greedy(model, tokens, 8)
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())


def test_without_the_adapter_the_base_is_exported(tokenizer: Any) -> None:
    """`--checkpoint base`: the engine switches the adapter off around the export."""
    plain, model = tiny_model("llama", ROWS), adapted(tiny_model("llama", ROWS))
    with model.disable_adapter():
        weights = MergedWeights(model)
        assert set(weights) == set(plain.state_dict())
        assert all(torch.equal(weights[name], tensor) for name, tensor in plain.state_dict().items())


def test_a_model_trained_whole_is_exported_as_it_is(tmp_path: Path, tokenizer: Any, base: Path) -> None:
    model = tiny_model("llama", ROWS)
    with torch.no_grad():
        model.model.norm.weight.mul_(1.5)
    export("merged", model, tokenizer, base, tmp_path / "out")
    tokens = tokens_of(tokenizer)
    assert np.abs(torch_logits(load(tmp_path / "out"), tokens) - torch_logits(model, tokens)).max() < 1e-5
    with pytest.raises(ModelError, match="no adapter"):
        export("peft", model, tokenizer, base, tmp_path / "adapter")


def test_a_used_target_is_left_alone(tmp_path: Path, tokenizer: Any, base: Path) -> None:
    model = tiny_model("llama", ROWS)
    used = tmp_path / "used"
    used.mkdir()
    (used / "mine.txt").write_text("mine", encoding="utf-8")
    for target in (used, used / "mine.txt"):
        with pytest.raises(UsageError, match="empty folder"):
            export("merged", model, tokenizer, base, target)
    assert [file.name for file in used.iterdir()] == ["mine.txt"]
    with pytest.raises(UsageError, match="onnx"):
        export("onnx", model, tokenizer, base, tmp_path / "out")


def test_an_empty_target_is_filled(tmp_path: Path, tokenizer: Any, base: Path) -> None:
    (tmp_path / "out").mkdir()
    assert "config.json" in export("merged", tiny_model("llama", ROWS), tokenizer, base, tmp_path / "out")


@pytest.mark.parametrize("format", ["peft", "merged", "gguf"])
def test_every_file_is_as_readable_as_the_card(tmp_path: Path, tokenizer: Any, base: Path, format: str) -> None:
    model = adapted(tiny_model("llama", ROWS)) if format == "peft" else tiny_model("llama", ROWS)
    export(format, model, tokenizer, base, tmp_path / "out")
    assert len({file.stat().st_mode for file in (tmp_path / "out").iterdir()}) == 1


@pytest.mark.parametrize("format", ["merged", "gguf"])
def test_an_export_is_given_up_between_two_weights_and_leaves_nothing(
    tmp_path: Path, tokenizer: Any, base: Path, format: str
) -> None:
    asked = iter([False, False, True])
    model = adapted(tiny_model("llama", ROWS))
    with pytest.raises(HostCancelled):
        export(format, model, tokenizer, base, tmp_path / "out", should_stop=lambda: next(asked))
    assert list(tmp_path.iterdir()) == [base]


@pytest.mark.parametrize("format", ["peft", "merged", "gguf"])
def test_a_full_disk_leaves_nothing(
    tmp_path: Path, tokenizer: Any, base: Path, format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> str:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(exporting, "card", full)  # the last thing written: all else is there by then
    with pytest.raises(SapoError, match="disk is full"):
        export(format, adapted(tiny_model("llama", ROWS)), tokenizer, base, tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tiny"]


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EDQUOT, "Disk quota exceeded"),
        OSError("3840 requested and 1648 written"),
        SafetensorError("I/O error: No space left on device (os error 28)"),
        Exception("No space left on device (os error 28)"),
    ],
    ids=["quota", "numpy", "safetensors", "tokenizers"],
)
def test_each_word_for_a_full_disk(
    tmp_path: Path, base: Path, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer = starter_like_tokenizer()

    def full(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(tokenizer, "save_pretrained", full)
    with pytest.raises(SapoError, match="disk is full"):
        export("merged", tiny_model("llama", ROWS), tokenizer, base, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_leftover_of_a_killed_export_is_replaced(tmp_path: Path, tokenizer: Any, base: Path) -> None:
    (tmp_path / ".out.part").mkdir()
    (tmp_path / ".out.part" / "half.safetensors").write_bytes(b"half")
    files = export("merged", tiny_model("llama", ROWS), tokenizer, base, tmp_path / "out")
    assert "half.safetensors" not in files
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "tiny"]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, tokenizer: Any, base: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(SapoError, match="Nothing was written"):
        export("merged", tiny_model("llama", ROWS), tokenizer, base, tmp_path / "file" / "out")


@pytest.mark.parametrize("name", ["LICENSE", "generation_config.json"])
def test_what_a_link_leads_to_is_not_exported(tmp_path: Path, tokenizer: Any, base: Path, name: str) -> None:
    secret = tmp_path / "id_ed25519"
    secret.write_text("PRIVATE KEY")
    (base / name).unlink(missing_ok=True)
    (base / name).symlink_to(secret)
    with pytest.raises(ModelError, match=rf"{name} is a link to .*id_ed25519, which is not part of the model"):
        export("merged", adapted(tiny_model("llama", ROWS)), tokenizer, base, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_licence_is_exported_for_nobody_who_could_not_read_it(tmp_path: Path, tokenizer: Any, base: Path) -> None:
    (base / "LICENSE").write_text("mine")
    (base / "LICENSE").chmod(0o600)
    export("peft", adapted(tiny_model("llama", ROWS)), tokenizer, base, tmp_path / "out")
    assert (tmp_path / "out" / "LICENSE").stat().st_mode & 0o777 == 0o600


def test_a_pipe_or_a_book_next_to_the_model_holds_no_export_up(tmp_path: Path, tokenizer: Any, base: Path) -> None:
    os.mkfifo(base / "LICENSE")
    with (base / "README.md").open("wb") as card:
        card.truncate(10**9)
    with pytest.raises(SapoError, match="more than 4,000,000 bytes"):
        export("peft", adapted(tiny_model("llama", ROWS)), tokenizer, base, tmp_path / "out")
    (base / "README.md").unlink()
    assert "LICENSE" not in export("peft", adapted(tiny_model("llama", ROWS)), tokenizer, base, tmp_path / "out")


@pytest.fixture
def own_head(tmp_path: Path, tokenizer: Any) -> Path:
    """A folder whose configuration says that the head is the embedding, while its file has another one."""
    folder = save_base(tiny_model("llama", ROWS, tied=False), tokenizer, tmp_path / "tiny")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"tie_word_embeddings": True}), encoding="utf-8")
    return folder


def test_a_head_of_its_own_is_exported_whatever_the_configuration_says(
    tmp_path: Path, tokenizer: Any, own_head: Path
) -> None:
    lm = load_language_model(own_head, "cpu", "float32")
    tokens = tokens_of(tokenizer)
    expected = torch_logits(lm.model, tokens)
    assert np.abs(expected - torch_logits(tiny_model("llama", ROWS, tied=False), tokens)).max() < 1e-5
    export("merged", lm.model, tokenizer, own_head, tmp_path / "out")
    assert np.abs(torch_logits(load(tmp_path / "out"), tokens) - expected).max() < 1e-5
    export("gguf", lm.model, tokenizer, own_head, tmp_path / "file")
    write_base(own_head, tmp_path / "base.gguf", "F32")
    for file in (tmp_path / "file" / "tiny-F16.gguf", tmp_path / "base.gguf"):
        found = load_language_model(file, "cpu", "float32")
        assert np.abs(torch_logits(found.model, tokens) - expected).max() < 0.05


@pytest.mark.parametrize("format", ["merged", "gguf", "peft"])
def test_what_answers_otherwise_than_the_model_is_not_kept(
    tmp_path: Path, tokenizer: Any, base: Path, format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer that loses something: here every weight, or the adapter's scale."""
    monkeypatch.setattr(MergedWeights, "__getitem__", lambda self, name: self._plain[name].detach() * 0.5)
    monkeypatch.setattr(exporting, "lora_factors", lambda model: (lora_factors(model)[0], 99.0))
    with pytest.raises(ModelError, match="gives other answers than"):
        export(format, adapted(tiny_model("llama", ROWS)), tokenizer, base, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_every_token_that_ends_an_answer_ends_it_in_the_export(tmp_path: Path, tokenizer: Any, base: Path) -> None:
    ends = frozenset(tokenizer.convert_tokens_to_ids(["<eos>", "<q>", "<a>"]))
    (base / "generation_config.json").write_text(json.dumps({"eos_token_id": sorted(ends)}), encoding="utf-8")
    model = tiny_model("llama", ROWS)
    for format, file in (("gguf", "tiny-F16.gguf"), ("merged", "")):
        export(format, model, tokenizer, base, tmp_path / format, ends=ends)
        assert load_language_model(tmp_path / format / file, "cpu", "float32").words.stop_tokens == ends
    write_base(base, tmp_path / "base.gguf", "F32")
    assert load_language_model(tmp_path / "base.gguf", "cpu", "float32").words.stop_tokens == ends
    more = ends | set(tokenizer.convert_tokens_to_ids(["<pad>"]))
    with pytest.raises(ModelError, match=r"stops at 4 tokens"):
        export("gguf", model, tokenizer, base, tmp_path / "more", ends=more)


@pytest.fixture
def file(tmp_path: Path, tokenizer: Any) -> Path:
    """A GGUF file of four bits, as people have it."""
    model = tiny_model("llama", ROWS, hidden_size=96, intermediate_size=96)
    path = tmp_path / "people.Q4_1.gguf"
    write_model(path, model.config, tokenizer, MergedWeights(model), "F16")
    return path


@pytest.mark.allowed_skip("llama-cpp-python is built from source and may be missing at a desk")
def test_what_a_gguf_file_learned_is_an_adapter_for_that_file(tmp_path: Path, file: Path) -> None:
    lm = load_language_model(file, "cpu", "float32")
    model = adapted(lm.model)
    files = export("gguf", model, lm.tokenizer, file, tmp_path / "out", ends=lm.words.stop_tokens)
    assert files == ["README.md", "people.Q4_1-adapter.gguf"]
    tokens = tokens_of(lm.tokenizer)
    with llama(file, tmp_path / "out" / files[1]) as cpp:
        assert np.abs(cpp.logits(tokens) - torch_logits(model, tokens)).max() < 0.02
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "people.Q4_1.gguf (SHA-256" in card and "ADAPTER ./ADAPTER.gguf" in card and INSTRUCTIONS in card


@pytest.mark.parametrize("has_llama_cpp", [False, True])
@pytest.mark.allowed_skip("llama-cpp-python is built from source and may be missing at a desk")
def test_an_adapter_that_answers_otherwise_is_not_kept(
    tmp_path: Path, file: Path, has_llama_cpp: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its scale is lost, or the order of its rows."""
    if has_llama_cpp:
        pytest.importorskip("llama_cpp")
    else:
        found = importlib.util.find_spec
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "llama_cpp" else found(name))
    lm = load_language_model(file, "cpu", "float32")
    model = adapted(lm.model)
    export("gguf", model, lm.tokenizer, file, tmp_path / "right", ends=lm.words.stop_tokens)
    with monkeypatch.context() as broken:
        broken.setattr(exporting, "lora_factors", lambda model: (lora_factors(model)[0], 99.0))
        with pytest.raises(ModelError, match="gives other answers than"):
            export("gguf", model, lm.tokenizer, file, tmp_path / "out")
    monkeypatch.setattr(Layout, "rows", lambda self, name, tensor: tensor)
    with pytest.raises(ModelError, match="gives other answers than"):
        export("gguf", model, lm.tokenizer, file, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_gguf_file_is_exported_for_transformers_too(tmp_path: Path, file: Path) -> None:
    lm = load_language_model(file, "cpu", "float32")
    model = adapted(lm.model)
    tokens = tokens_of(lm.tokenizer)
    export("merged", model, lm.tokenizer, file, tmp_path / "out", ends=lm.words.stop_tokens)
    assert np.abs(torch_logits(load(tmp_path / "out"), tokens) - torch_logits(model, tokens)).max() < 1e-5
    export("peft", model, lm.tokenizer, file, tmp_path / "adapter")
    settings = json.loads((tmp_path / "adapter" / "adapter_config.json").read_text(encoding="utf-8"))
    assert settings["base_model_name_or_path"] == str(file)

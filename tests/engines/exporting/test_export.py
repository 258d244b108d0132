"""Exports compute what the live model computes, it stays as it was, and nothing half is left behind."""

import errno
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
from sapo_desktop.engines.exporting.export import MergedWeights, export
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
    with pytest.raises(ModelError, match=rf"{name} is a link to .*id_ed25519, which is no part of the model"):
        export("merged", adapted(tiny_model("llama", ROWS)), tokenizer, base, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_licence_is_exported_for_nobody_who_could_not_read_it(tmp_path: Path, tokenizer: Any, base: Path) -> None:
    (base / "LICENSE").write_text("mine")
    (base / "LICENSE").chmod(0o600)
    export("peft", adapted(tiny_model("llama", ROWS)), tokenizer, base, tmp_path / "out")
    assert (tmp_path / "out" / "LICENSE").stat().st_mode & 0o777 == 0o600


def test_a_pipe_or_a_book_beside_the_model_holds_no_export_up(tmp_path: Path, tokenizer: Any, base: Path) -> None:
    os.mkfifo(base / "LICENSE")
    with (base / "README.md").open("wb") as card:
        card.truncate(10**9)
    with pytest.raises(SapoError, match="more than 4,000,000 bytes"):
        export("peft", adapted(tiny_model("llama", ROWS)), tokenizer, base, tmp_path / "out")
    (base / "README.md").unlink()
    assert "LICENSE" not in export("peft", adapted(tiny_model("llama", ROWS)), tokenizer, base, tmp_path / "out")

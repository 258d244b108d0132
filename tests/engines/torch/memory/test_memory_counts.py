"""The estimate of models/fit/memory.py counts what the engine really keeps: autograd's own books are compared."""

from pathlib import Path

import msgspec
import pytest
import torch

from sapo_desktop.core.records import TrainingSequence
from sapo_desktop.engines.torch import generation, logprobs, service, trainer
from sapo_desktop.engines.torch import lm as torch_lm
from sapo_desktop.engines.torch.llama import decoding, passes
from sapo_desktop.models.fit import memory, ways
from sapo_desktop.models.fit.memory import TorchModel, Work, saved_for_backward, torch_width
from sapo_desktop.models.fit.shape import ModelShape
from tests.bench.engines.models import random_model
from tests.engines.tiny import TorchEngine, loaded_engine

SHAPE = ModelShape(layers=3, hidden=64, heads=4, kv_heads=2, head=32, ffn=160, vocabulary=512, tied=True)
SEQUENCES, PROMPT, ANSWER = 2, 16, 48


def engine_of(folder: Path, architecture: str, dtype: torch.dtype = torch.float32, method: str = "lora") -> TorchEngine:
    s = SHAPE
    random_model(
        folder,
        architecture,
        1,
        dtype=dtype,
        vocab_size=s.vocabulary,
        hidden_size=s.hidden,
        num_hidden_layers=s.layers,
        num_attention_heads=s.heads,
        num_key_value_heads=s.kv_heads,
        head_dim=s.head,
        intermediate_size=s.ffn,
        max_position_embeddings=128,
        tie_word_embeddings=True,
    )
    return loaded_engine(folder, method=method)


def kept_by_autograd(engine: TorchEngine) -> int:
    """Bytes of the different storages, weights aside, that a forward pass saves for the backward pass."""
    batch = [TrainingSequence(prompt=[i] * PROMPT, tokens=[7] * ANSWER, advantage=1.0) for i in range(SEQUENCES)]
    (part,) = engine.trainer.parts(batch, range(SEQUENCES))
    weights = {parameter.untyped_storage().data_ptr() for parameter in engine.policy.model.parameters()}
    held: dict[int, torch.Tensor] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.untyped_storage().data_ptr() not in weights:
            held[tensor.untyped_storage().data_ptr()] = tensor  # alive, so that no address comes twice
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        engine.trainer.logprobs(part)
    return sum(tensor.untyped_storage().nbytes() for tensor in held.values())


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat every model as large."""
    monkeypatch.setattr(passes, "SMALL", 0)
    monkeypatch.setattr(memory, "PACKED_PARAMETERS", 0)
    monkeypatch.setattr(torch_lm, "SMALL_MODEL", 0)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("recompute", [False, True])
@pytest.mark.parametrize(
    "architecture", ["LlamaForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM", "SmolLM3ForCausalLM"]
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_where_the_weights_lie(
    architecture: str, dtype: torch.dtype, recompute: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch_lm, "_pays", lambda widths: dtype == torch.bfloat16)
    engine = engine_of(tmp_path, architecture, dtype)
    engine.trainer.settings = msgspec.structs.replace(engine.trainer.settings, recompute=recompute)
    assert engine.lm.dtype == dtype
    model = TorchModel(shape=SHAPE, architecture=architecture, width=4 if dtype == torch.float32 else 2)
    estimate = saved_for_backward(model, msgspec.structs.replace(work(), recompute=recompute))
    held = kept_by_autograd(engine)
    if recompute:  # one layer's tensors come while its turn lasts
        held += saved_for_backward(model, work()) // SHAPE.layers
    assert estimate == pytest.approx(held, rel=0.05)


@pytest.mark.parametrize("method", ["lora", "full"])
def test_written_out(method: str, tmp_path: Path) -> None:
    engine = engine_of(tmp_path, "LlamaForCausalLM", method=method)
    model = TorchModel(shape=SHAPE, architecture="LlamaForCausalLM", width=4)
    # The packed weights and the fused factors of the adapter are saved as well; they are counted elsewhere.
    packed = 4 * SHAPE.linear_weights + (8 * SHAPE.adapter_parameters(8) if method == "lora" else 0)
    assert saved_for_backward(model, work(method)) == pytest.approx(kept_by_autograd(engine) - packed, rel=0.08)


def test_the_estimates_constants_are_the_engines() -> None:
    assert memory.PACKED_PARAMETERS == passes.SMALL
    assert memory.FLOAT32_PARAMETERS == torch_lm.SMALL_MODEL
    assert memory.CHUNK == logprobs.CHUNK_BYTES
    assert memory.DRAW_BLOCK == generation.BLOCK_BYTES
    assert memory.PREFILL_TOKENS == decoding.PREFILL_TOKENS
    assert memory.CPU_TOKENS == trainer.CPU_TOKENS
    assert memory.PROMPT_TOKENS_AT_ONCE == service.PROMPT_TOKENS_AT_ONCE
    assert ways.MOST_AT_ONCE == service._MOST_ON_CPU


def test_the_number_format_is_the_engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.json").write_text('{"hidden_size": 896, "intermediate_size": 4864}')
    for fast in (False, True):
        monkeypatch.setattr(torch_lm, "_pays", lambda widths, fast=fast: fast)
        for parameters in (1_000_000, 500_000_000):
            with (tmp_path / "model.safetensors").open("wb") as file:
                file.truncate(2 * parameters)  # a file of zeros that takes no disk
            for device in ("cpu", "cuda"):
                chosen = torch_lm._dtype("auto", torch.device(device), tmp_path)
                assert chosen.itemsize == torch_width(parameters, "cuda" if device == "cuda" else "cpu", fast)


def work(method: str = "lora") -> Work:
    return Work(
        prompts=1,
        batch=1,
        micro_batch=SEQUENCES,
        prompt_tokens=PROMPT,
        max_tokens=ANSWER,
        method="full" if method == "full" else "lora",
    )

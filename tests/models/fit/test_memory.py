"""The memory estimate, part by part, against numbers worked out by hand."""

import msgspec
import pytest

from sapo_desktop.core.fitting import Parts
from sapo_desktop.models.fit import memory
from sapo_desktop.models.fit.memory import TorchModel, Work, answering, both, learning, llama_answering, torch_width
from sapo_desktop.models.fit.shape import ModelShape

# 2 layers, d 8, 2 heads of 4 (one key head), ffn 16, V 100: q 8, k 4.
SHAPE = ModelShape(layers=2, hidden=8, heads=2, kv_heads=1, head=4, ffn=16, vocabulary=100, tied=True)
WORK = Work(prompts=2, batch=6, micro_batch=3, prompt_tokens=10, max_tokens=20, rank=4)
LARGE = TorchModel(
    shape=msgspec.structs.replace(
        SHAPE, layers=24, hidden=896, ffn=4864, vocabulary=151936, heads=14, kv_heads=2, head=64
    ),
    architecture="Qwen2ForCausalLM",
    width=4,
)


def test_what_cuda_takes_for_itself_is_within_the_cap_of_a_cards_memory() -> None:
    assert memory.tensors_of(4 * 10**9) == 4 * 10**9 - memory.CUDA_CONTEXT
    assert (memory.tensors_of(0), memory.tensors_of(5)) == (0, 1), "0 would be no limit"


def test_counting_a_shape() -> None:
    # q 64, k 32, v 32, o 64, gate, up, down 3 * 128
    assert SHAPE.linear_weights == 2 * (64 + 32 + 32 + 64 + 384)
    assert SHAPE.parameters("LlamaForCausalLM") == 100 * 8 + 1152 + 2 * 16 + 8
    assert SHAPE.parameters("Qwen2ForCausalLM") - SHAPE.parameters("LlamaForCausalLM") == 2 * (8 + 4 + 4)
    assert SHAPE.parameters("Qwen3ForCausalLM") - SHAPE.parameters("LlamaForCausalLM") == 2 * 2 * 4
    # (8+8) + (8+4) + (8+4) + (8+8) + 3 (8+16) a layer
    assert SHAPE.adapter_parameters(4) == 2 * 4 * (16 + 12 + 12 + 16 + 72)
    assert SHAPE.kv_numbers() == 2 * 2 * 4


def test_what_the_backward_pass_needs() -> None:
    """In float32: 16 d + 12 q + 12 k + 16 f + 4 H a token and layer, and the last norm's 4 d."""
    model = TorchModel(shape=SHAPE, architecture="LlamaForCausalLM", width=4)
    token = 16 * 8 + 12 * 8 + 12 * 4 + 16 * 16 + 4 * 2
    assert memory.saved_for_backward(model, WORK) == 3 * 30 * (2 * token + 4 * 8)
    again = msgspec.structs.replace(WORK, recompute=True)
    assert memory.saved_for_backward(model, again) == 3 * 30 * (2 * 4 * 8 + token + 4 * 8)
    half = msgspec.structs.replace(model, width=2)
    token = 12 * 8 + 10 * 8 + 12 * 4 + 8 * 16 + 4 * 2  # attention in float32
    assert memory.saved_for_backward(half, WORK) == 3 * 30 * (2 * token + 4 * 8)
    on_card = msgspec.structs.replace(half, device="cuda")
    token = 12 * 8 + 6 * 8 + 6 * 4 + 8 * 16 + 4 * 2
    assert memory.saved_for_backward(on_card, WORK) == 3 * 30 * (2 * token + 4 * 8)


def test_a_base_in_8_bits_holds_a_byte_a_weight_of_its_blocks_and_one_matrix_whole() -> None:
    plain = TorchModel(shape=LARGE.shape, architecture="LlamaForCausalLM", width=2)
    rounded = msgspec.structs.replace(plain, rounded=True)
    whole = 2 * LARGE.shape.hidden * LARGE.shape.ffn
    for work in (learning, answering):
        before, after = work(plain, WORK), work(rounded, WORK)
        assert before.weights - after.weights == LARGE.shape.linear_weights
        assert after.activations - before.activations == whole


def test_a_step_on_an_adapter() -> None:
    parts = learning(LARGE, WORK)
    adapter = LARGE.shape.adapter_parameters(4)
    assert parts.weights == 4 * LARGE.parameters  # too large to be packed: no second copy
    assert (parts.adapter, parts.optimiser, parts.gradients) == (12 * adapter, 8 * adapter, 4 * adapter)
    assert parts.logits == 32 * 1024 * 1024 and parts.kv_cache == 0
    assert parts.total == sum(msgspec.structs.astuple(parts))


def test_full_training_takes_28_bytes_a_parameter_of_a_small_model() -> None:
    model = TorchModel(shape=SHAPE, architecture="LlamaForCausalLM", width=4)
    parts = learning(model, msgspec.structs.replace(WORK, method="full"))
    packed = 4 * SHAPE.linear_weights
    taken = parts.weights - packed + parts.adapter + parts.optimiser + parts.gradients
    assert taken == 28 * model.parameters  # weights, base, start, average, two of Adam's, gradient


def test_answers_take_their_cache_and_one_step_of_logits() -> None:
    more = msgspec.structs.replace(WORK, batch=12)
    few, many = answering(LARGE, WORK), answering(LARGE, more)
    prompts, answers = WORK.prompts * WORK.prompt_tokens, WORK.batch * WORK.max_tokens
    assert many.kv_cache * (prompts + answers) == pytest.approx(few.kv_cache * (prompts + 2 * answers), rel=1e-6)
    assert many.weights == few.weights and many.runtime == few.runtime
    assert few.kv_cache == pytest.approx(memory.HEAP_HOLES * (prompts + answers) * LARGE.shape.kv_numbers() * 4, abs=1)


def test_one_process_for_both_takes_the_greater_of_the_two() -> None:
    learn = learning(LARGE, WORK)
    assert both(LARGE, WORK).total == learn.total
    crowded = msgspec.structs.replace(WORK, batch=512, micro_batch=1)
    parts = both(LARGE, crowded)
    assert parts.kv_cache > 0 and parts.optimiser == learn.optimiser and parts.gradients == 0


@pytest.mark.parametrize("model", [LARGE, TorchModel(shape=SHAPE, architecture="LlamaForCausalLM", width=4)])
def test_where_answers_overlap_the_step_what_both_hold_counts(model: TorchModel) -> None:
    learn, answer = learning(model, WORK), answering(model, WORK)
    parts = both(model, msgspec.structs.replace(WORK, overlap=True))
    moving = answer.activations + answer.logits + answer.kv_cache
    packed = 4 * SHAPE.linear_weights if model.packed else 0  # a copy for each of the two
    assert parts.total == learn.total + moving + packed


def test_llama_cpp_rounds_its_streams_up() -> None:
    short, longer, next_step = (
        llama_answering(SHAPE, 1000, msgspec.structs.replace(WORK, max_tokens=tokens)) for tokens in (20, 246, 247)
    )
    assert short.kv_cache == longer.kv_cache == 6 * 256 * SHAPE.kv_numbers() * 2
    assert next_step.kv_cache == 2 * short.kv_cache and short.weights == 1000


@pytest.mark.parametrize("field", ["batch", "max_tokens", "prompt_tokens"])
def test_more_is_never_estimated_as_less(field: str) -> None:
    more = msgspec.structs.replace(WORK, **{field: 4 * getattr(WORK, field)})
    for estimate in (answering, learning, both):
        assert estimate(LARGE, more).total >= estimate(LARGE, WORK).total


def test_number_formats() -> None:
    assert torch_width(2_000_000, "cuda", fast_bfloat16=True) == 4
    assert torch_width(500_000_000, "cpu", fast_bfloat16=False) == 4
    assert torch_width(500_000_000, "cpu", fast_bfloat16=True) == 2
    assert torch_width(500_000_000, "cuda", fast_bfloat16=False) == 2


def test_parts_add_up() -> None:
    assert (Parts(weights=3, reserve=1) + Parts(weights=4, runtime=2)) == Parts(weights=7, runtime=2, reserve=1)

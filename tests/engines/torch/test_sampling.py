"""Drawing tokens."""

import math
from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from sapo_desktop.core.records import Sampling
from sapo_desktop.engines.torch import generation as sampling_module
from sapo_desktop.engines.torch.generation import draw, uniforms

LOGITS = torch.tensor([[0.5, 0.3, 0.15, 0.05]]).log()


def shares(sampling: Sampling, draws: int = 4000) -> list[float]:
    """How often each of the four tokens comes, over evenly spaced uniform numbers."""
    uniform = (torch.arange(draws, dtype=torch.float64) + 0.5) / draws
    tokens = draw(LOGITS.expand(draws, -1), sampling, uniform).tokens
    return [float(n) / draws for n in torch.bincount(tokens, minlength=4)]


def test_tokens_come_as_often_as_they_should() -> None:
    assert shares(Sampling()) == pytest.approx([0.5, 0.3, 0.15, 0.05], abs=1e-3)


def test_temperature_sharpens() -> None:
    # T = .5 squares: .25, .09, .0225, .0025 over their sum .365
    assert shares(Sampling(temperature=0.5)) == pytest.approx([0.685, 0.2466, 0.0616, 0.0068], abs=1e-3)


@pytest.mark.parametrize("sampling", [Sampling(greedy=True), Sampling(temperature=0.0)])
def test_the_likeliest_token_comes_where_nothing_is_drawn(sampling: Sampling) -> None:
    assert shares(sampling) == [1.0, 0.0, 0.0, 0.0]


def test_logprobs_are_those_at_the_temperature() -> None:
    drawn = draw(LOGITS, Sampling(temperature=0.5), torch.tensor([0.1], dtype=torch.float64))
    assert drawn.tokens.tolist() == [0]
    assert drawn.logprobs.item() == pytest.approx(math.log(0.25 / 0.365), abs=1e-6)


def test_a_token_of_no_probability_never_comes() -> None:
    logits = torch.tensor([[float("-inf"), 0.0, float("-inf")]]).expand(2, -1)
    uniform = torch.tensor([0.0, 1 - 2**-53], dtype=torch.float64)
    assert draw(logits, Sampling(), uniform).tokens.tolist() == [1, 1]


def test_a_sequences_stream_depends_on_seed_and_row_only() -> None:
    together = uniforms(7, [0, 1, 2], 5)
    assert torch.equal(uniforms(7, [2], 5)[0], together[2])
    assert not torch.equal(together[0], together[1])
    assert not torch.equal(uniforms(8, [0], 5)[0], together[0])
    assert torch.equal(uniforms(7, [0], 3)[0], together[0, :3])


@pytest.mark.parametrize("sampling", [Sampling(), Sampling(greedy=True)])
def test_drawing_in_blocks_of_rows_changes_nothing(sampling: Sampling, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(1)
    logits, uniform = torch.randn(7, 40), torch.rand(7, dtype=torch.float64)
    whole = draw(logits, sampling, uniform)
    monkeypatch.setattr(sampling_module, "BLOCK_BYTES", 3 * 28 * 40)
    blocks = draw(logits, sampling, uniform)
    assert torch.equal(blocks.tokens, whole.tokens) and torch.equal(blocks.logprobs, whole.logprobs)


class NoDoubles(TorchDispatchMode):
    """Refuses float64 on Apple's graphics, as torch does there."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        if isinstance(made, torch.Tensor) and made.device.type == "mps":
            assert made.dtype != torch.float64, func
        return made


@pytest.mark.parametrize("sampling", [Sampling(), Sampling(greedy=True)])
def test_apples_graphics_draw_without_float64(sampling: Sampling) -> None:
    """Devices and types alone, on tensors without numbers: no such graphics is needed."""
    with FakeTensorMode():
        logits = torch.empty(2, 5, device="mps")
        with NoDoubles():
            drawn = draw(logits, sampling, torch.empty(2, dtype=torch.float64))
    assert {part.device.type for part in (drawn.tokens, drawn.logprobs)} == {"mps"}

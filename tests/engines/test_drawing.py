"""Drawing in numpy: the same tokens and log-probabilities as in torch."""

import numpy as np
import pytest
import torch

from sapo_desktop.core.records import Sampling
from sapo_desktop.engines.drawing import draw_tokens
from sapo_desktop.engines.torch.generation import draw

CASES = [
    Sampling(),
    Sampling(temperature=0.6),
    Sampling(temperature=1.7),
    Sampling(greedy=True, temperature=0.8),
    Sampling(temperature=0.0),
]


@pytest.mark.parametrize("sampling", CASES)
@pytest.mark.parametrize("width", [3, 256, 257, 1000])
def test_tokens_and_logprobs_are_those_of_the_torch_engine(sampling: Sampling, width: int) -> None:
    random = np.random.default_rng(5)
    logits = (random.standard_normal((64, width)) * 4).astype(np.float32)
    uniform = random.random(64)
    theirs = draw(torch.from_numpy(logits.copy()), sampling, torch.from_numpy(uniform))
    ours = draw_tokens(logits.copy(), sampling, uniform)
    assert ours.tokens.tolist() == theirs.tokens.tolist()
    assert np.abs(ours.logprobs - theirs.logprobs.numpy()).max() < 1e-5


def test_the_ends_of_the_unit_interval_give_the_first_and_the_last_token() -> None:
    logits = np.zeros((2, 600), np.float32)
    drawn = draw_tokens(logits, Sampling(), np.array([0.0, 1 - 1e-16]))
    assert drawn.tokens.tolist() == [0, 599]


def test_a_token_without_weight_is_never_drawn() -> None:
    logits = np.array([[-np.inf, 0.0, -np.inf]] * 3, np.float32)
    assert draw_tokens(logits, Sampling(), np.array([0.0, 0.5, 0.999999])).tokens.tolist() == [1, 1, 1]

"""The lean forward pass equals transformers' own, and Muon's update is close to orthogonal."""

import model
import muon
import prime
import pytest
import torch


def noisy() -> torch.nn.Module:
    """A two-layer model whose zeroed projections are noise, so that every part counts."""
    network = model.build(vocabulary=90, pad=0, eos=1, layers=2)
    for weight in network.parameters():
        torch.nn.init.normal_(weight, std=0.05)
    return network


def test_lean_forward_equals_the_library() -> None:
    network, ids = noisy(), torch.randint(2, 90, (3, 17))
    with torch.no_grad():
        lean = torch.nn.functional.linear(model.hidden(network, ids), network.model.embed_tokens.weight)
        assert torch.allclose(lean, network(ids).logits, atol=1e-4)


def test_padding_does_not_change_the_loss() -> None:
    network = noisy()
    examples = [([2, 5, 6, 7], 2), ([2, 8, 9, 10, 11, 12], 3)]
    together = model.loss(network, *prime.tensors(examples, torch.device("cpu")))
    each = [model.loss(network, *prime.tensors([example], torch.device("cpu"))) for example in examples]
    assert torch.isclose(together, (2 * each[0] + 3 * each[1]) / 5, atol=1e-5)  # 2 and 3 predicted tokens


def test_muon_flattens_the_singular_values() -> None:
    stack = torch.randn(2, 24, 40, generator=torch.Generator().manual_seed(1))
    values = torch.linalg.svdvals(muon.orthogonalised(stack))
    assert values.min() > 0.5 and values.max() < 1.3


def test_schedule_rises_stays_and_falls_to_nothing() -> None:
    shares = (0.0, prime.WARM_UP / 2, prime.DECAY_FROM, (1 + prime.DECAY_FROM) / 2, 1.0)
    assert [prime.rate(share) for share in shares] == pytest.approx([0, 0.5, 1, 0.5, 0])

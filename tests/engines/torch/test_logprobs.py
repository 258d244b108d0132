"""Chunked log-probabilities: the same numbers as a plain log-softmax, in far less memory."""

import subprocess
import sys

import pytest
import torch

from sapo_desktop.engines.torch.logprobs import chunk_rows, token_logprobs


@pytest.mark.parametrize("temperature", [1.0, 0.7])
@pytest.mark.parametrize("rows", [1, 5, 64])
def test_value_and_gradient_equal_plain_log_softmax(temperature: float, rows: int) -> None:
    torch.manual_seed(0)
    hidden = torch.randn(23, 16, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(50, 16, dtype=torch.float64, requires_grad=True)
    targets, slopes = torch.randint(50, (23,)), torch.randn(23)
    plain = torch.log_softmax(hidden @ weight.T / temperature, -1).gather(1, targets[:, None]).squeeze(1)
    wanted = torch.autograd.grad((plain * slopes).sum(), [hidden, weight])
    chunked = token_logprobs(hidden, weight, targets, temperature, rows)
    found = torch.autograd.grad((chunked * slopes).sum(), [hidden, weight])
    torch.testing.assert_close(chunked, plain, atol=1e-6, rtol=1e-6)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-5)


def test_a_frozen_output_matrix_gets_no_gradient() -> None:
    hidden = torch.randn(4, 8, requires_grad=True)
    weight = torch.randn(9, 8)
    token_logprobs(hidden, weight, torch.tensor([0, 1, 2, 8])).sum().backward()
    assert hidden.grad is not None
    assert weight.grad is None


def test_no_rows_give_no_numbers() -> None:
    assert token_logprobs(torch.zeros(0, 8), torch.zeros(9, 8), torch.zeros(0, dtype=torch.int64)).shape == (0,)


def test_a_chunk_has_a_bounded_size() -> None:
    assert chunk_rows(151_936) == 55
    assert chunk_rows(10**9) == 1


PEAK = """
import re, sys, torch
from sapo_desktop.engines.torch.logprobs import token_logprobs
torch.set_num_threads(1)
hidden = torch.randn(2000, 8, requires_grad=True)
weight = torch.randn(20000, 8)
targets = torch.randint(20000, (2000,))
def peak():  # not ru_maxrss: a child's starts at what its parent held when it forked
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
before = peak()
if sys.argv[1] == "chunked":
    token_logprobs(hidden, weight, targets).sum().backward()
else:
    torch.log_softmax(hidden @ weight.T, -1).gather(1, targets[:, None]).sum().backward()
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
@pytest.mark.allowed_skip("peak memory is read from /proc, which only Linux has")
def test_peak_memory_is_that_of_a_few_chunks() -> None:
    def peak(how: str) -> int:
        run = subprocess.run([sys.executable, "-c", PEAK, how], capture_output=True, text=True, check=True)
        return int(run.stdout) * 1024

    # All logits: 2,000 x 20,000 x 4 bytes = 153 MiB a copy, and backward needs at least two of them.
    assert peak("plain") > 300_000_000
    # A chunk is 32 MiB; the rest is what libraries take at first use.
    assert peak("chunked") < 100_000_000

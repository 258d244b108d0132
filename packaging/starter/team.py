"""Several processes that prime one model: each takes its share of the batches, and gradients are averaged.

prime.py starts them for `--cores N`: rank 0 is the command itself, the others are copies that end with it. They talk
over loopback (torch.distributed, gloo). All ranks hold the same weights and take the same steps.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Sequence

import torch
from torch import Tensor, distributed

RANK, PORT = "SAPO_PRIME_RANK", "SAPO_PRIME_PORT"


class Team:
    """This process's rank among `size` of them; alone if size is 1."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.rank = int(os.environ.get(RANK, "0"))
        self._others: list[subprocess.Popen[bytes]] = []
        if size == 1:
            return
        port = int(os.environ.get(PORT) or _free_port())
        if self.rank == 0:
            for rank in range(1, size):
                environment = os.environ | {RANK: str(rank), PORT: str(port)}
                self._others.append(subprocess.Popen([sys.executable, *sys.argv], env=environment))
        distributed.init_process_group("gloo", f"tcp://127.0.0.1:{port}", rank=self.rank, world_size=size)

    @property
    def leads(self) -> bool:
        """Whether this process keeps the log and the checkpoints."""
        return self.rank == 0

    def average(self, parameters: Sequence[Tensor], numbers: Sequence[float]) -> list[float]:
        """Average all gradients over the team, in place; returns the team's sums of `numbers`."""
        if self.size == 1:
            return list(numbers)
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        flat = torch.cat([*(gradient.reshape(-1) for gradient in gradients), torch.tensor(numbers)])
        distributed.all_reduce(flat)
        at = 0
        for gradient in gradients:
            gradient.copy_(flat[at : at + gradient.numel()].view_as(gradient)).div_(self.size)
            at += gradient.numel()
        return [float(value) for value in flat[at:]]

    def disband(self) -> None:
        """Wait for the others to end."""
        for other in self._others:
            other.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

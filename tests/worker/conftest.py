"""Two members of a swarm, for tests of one."""

import time
from pathlib import Path

import pytest

from sapo_desktop.swarm.clock import Now
from tests.swarm.mesh import Mesh
from tests.worker.membership.test_member import Seat, Seats


@pytest.fixture
def seats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Seats:
    mesh = Mesh(now=Now(time.monotonic(), time.time()))
    first, second = (Seat(tmp_path, name, monkeypatch) for name in (1, 2))
    mesh.join(first.peer, second.peer)
    return mesh, first, second


@pytest.fixture
def seat(seats: Seats) -> Seat:
    return seats[1]

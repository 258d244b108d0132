"""Links that are checked fifty times a second."""

import pytest

from sapo_desktop.swarm.addresses import links
from sapo_desktop.swarm.sockets import network


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "TICK_SECONDS", 0.02)
    monkeypatch.setattr(links, "_BREATH", 0.02)
    monkeypatch.setattr(links, "_GREETING_SECONDS", 0.05)

"""What a node takes, as rates and as energy."""

from pathlib import Path

import pytest

from sapo_desktop.core.settings import Settings
from sapo_desktop.system.presence import energy as energy_module
from sapo_desktop.system.presence.energy import Energy
from sapo_desktop.system.processes import Processors
from sapo_desktop.worker.usage import KEEP_SECONDS, Meter, Taken


class Machine:
    def __init__(self, patch: pytest.MonkeyPatch, rapl: Path) -> None:
        self.now, self.kept = 0.0, list[int]()
        self.taken = Taken({1: 100.0}, 5, 0, 0)
        self.busy = 0.0
        patch.setattr(energy_module, "processors", lambda: Processors(self.busy, 2 * self.now))
        patch.setattr(energy_module, "card_joules", lambda own: [(1000.0 + self.now, True), (self.now, False)])
        self.meter = Meter(lambda: self.taken, self.kept.append, 7, lambda: self.now, Energy(rapl))

    def pass_by(self, seconds: float, cpu: float) -> None:
        self.now += seconds
        self.busy += 2 * cpu
        self.taken = Taken({1: self.taken.cpu[1] + cpu, 2: 900.0}, 6, 3000, 500)


def test_without_a_counter_time_is_counted_at_the_stated_power(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    it = Machine(monkeypatch, tmp_path)
    it.pass_by(2, 1)
    seen = it.meter.look(Settings(core_watts=8))
    assert (seen.cores, seen.memory, seen.sent, seen.received) == (0.5, 6, 1500.0, 250.0)
    assert (seen.joules, seen.watts, seen.measured) == (7 + 8, 4.0, False), "the card has no look before it"
    it.pass_by(2, 1)
    assert it.meter.look(Settings(core_watts=8)).joules == 15 + 8 + 2, "of the card that it computes on"
    it.pass_by(KEEP_SECONDS, 0)
    it.meter.look(Settings(core_watts=8))
    assert it.kept == [8 + 8 + 2 + KEEP_SECONDS]


def test_the_processors_own_counter_is_shared_out_by_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "intel-rapl:0"
    package.mkdir()
    (package / "max_energy_range_uj").write_text("100000000")
    (package / "energy_uj").write_text("90000000")
    it = Machine(monkeypatch, tmp_path)
    it.pass_by(2, 1)
    (package / "energy_uj").write_text("10000000")  # it began anew: 20 J
    seen = it.meter.look(Settings())
    assert seen.joules == 7 + 10 and seen.measured, "half of what computed was ours"

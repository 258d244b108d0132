"""Which deaths of a host mean that memory ran out."""

from sapo_desktop.core.errors import HostDied
from sapo_desktop.worker.hosts.deaths import SPARED, Deaths

CRASHED, KILLED = HostDied("It crashed."), HostDied("It was killed.", killed=True)
COUNTED = HostDied("It was killed.", killed=True, counted=True)


def test_what_the_system_counted_always_and_a_crash_never() -> None:
    deaths = Deaths()
    assert deaths.were_for_memory(COUNTED, 1) and deaths.were_for_memory(COUNTED, 500)
    assert not deaths.were_for_memory(CRASHED, 501) and not deaths.were_for_memory(CRASHED, 502)


def test_what_nobody_counted_only_where_another_came_soon_before() -> None:
    deaths = Deaths()
    assert not deaths.were_for_memory(KILLED, 7)
    assert deaths.were_for_memory(KILLED, 7) and deaths.were_for_memory(KILLED, 6 + SPARED)
    assert not deaths.were_for_memory(KILLED, 6 + 2 * SPARED), "a long while after the last one"

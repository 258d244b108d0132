"""What is laid on a process, looked at; that it holds is tried in tests/worker/hosts/test_confined.py."""

import struct
import threading
from pathlib import Path

import pytest

from sapo_desktop.core.records import Confined
from sapo_desktop.system import confinement
from sapo_desktop.system.confinement import CALLS, Calls, confine, filter_of, profile_of

ALLOWED, REFUSED = 0x7FFF0000, 0x00050001
OTHER_ARCHITECTURE = 0x40000003


def verdict(steps: list[bytes], architecture: int, call: int) -> int:
    """What the kernel would make of a call: the instructions that the filter uses, one by one."""
    at, loaded = 0, 0
    while True:
        code, when, when_not, value = struct.unpack("HBBI", steps[at])
        at += 1
        if code == 0x20:
            loaded = {0: call, 4: architecture}[value]
        elif code == 0x06:
            return int(value)
        else:
            holds = loaded == value if code == 0x15 else loaded >= value
            at += when if holds else when_not


@pytest.mark.parametrize("calls", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("programs", [True, False])
def test_a_filter_refuses_what_it_names_and_nothing_else(calls: Calls, programs: bool) -> None:
    refused = calls.around + ([] if programs else calls.programs)
    steps = filter_of(calls, refused)
    for call in range(600):
        expected = REFUSED if call in refused else ALLOWED
        assert verdict(steps, calls.architecture, call) == expected, call


def test_a_filter_refuses_the_same_calls_under_other_numbers() -> None:
    calls = CALLS["x86_64"]
    steps = filter_of(calls, calls.around)
    assert verdict(steps, OTHER_ARCHITECTURE, 1) == REFUSED
    assert verdict(steps, calls.architecture, 0x40000000 + calls.socket) == REFUSED


def test_a_process_with_threads_is_not_said_to_be_held() -> None:
    ended = threading.Event()
    thread = threading.Thread(target=ended.wait)
    thread.start()
    try:
        said = confine([], programs=False)
    finally:
        ended.set()
        thread.join()
    assert "threads run already" in said.network and said.network == said.writing == said.programs


def test_where_the_system_can_forbid_nothing_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confinement, "_PLATFORM", "win32")
    assert confine([], programs=True) == Confined(
        network="not on win32", writing="not on win32", programs="not on win32"
    )


def test_a_sandbox_profile_names_where_it_may_write() -> None:
    profile = profile_of([Path('/a "b"')], programs=False)
    assert '(allow file-write* (subpath "/a \\"b\\"") (subpath "/dev"))' in profile
    assert "(deny network*)" in profile and "(deny process-exec)" in profile
    assert "process-exec" not in profile_of([], programs=True)


def test_a_sandbox_profile_names_the_places_that_links_lead_to(tmp_path: Path) -> None:
    """The kernel compares with those."""
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there")
    assert f'(subpath "{tmp_path.resolve() / "there"}")' in profile_of([tmp_path / "link"], programs=False)

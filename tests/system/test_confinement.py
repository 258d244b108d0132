"""The confinement of a process, inspected; its effect is tested in tests/worker/hosts/test_confined.py."""

import struct
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from msgspec.structs import astuple

from sapo_desktop.system import confinement
from sapo_desktop.system.confinement import CALLS, Calls, confine, filter_of, profile_of

ALLOWED, REFUSED = 0x7FFF0000, 0x00050001
OTHER_ARCHITECTURE = 0x40000003
OWN = 4711


def verdict(steps: list[bytes], architecture: int, call: int, *arguments: int) -> int:
    """What the kernel would make of a call: the instructions that the filter uses, one by one."""
    shown = {0: call, 4: architecture} | {16 + 8 * at: value for at, value in enumerate(arguments)}
    at, loaded = 0, 0
    while True:
        code, when, when_not, value = struct.unpack("HBBI", steps[at])
        at += 1
        if code == 0x20:
            loaded = shown.get(value, 0)
        elif code == 0x54:
            loaded &= value
        elif code == 0x06:
            return int(value)
        else:
            holds = loaded == value if code == 0x15 else loaded >= value
            at += when if holds else when_not


@pytest.mark.parametrize("calls", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("permissions", [True, False])
@pytest.mark.parametrize("card", [True, False])
def test_a_filter_refuses_what_it_names_and_nothing_else(calls: Calls, permissions: bool, card: bool) -> None:
    refused = [*calls.around, *calls.programs, *calls.signals, calls.socket, *(calls.connecting if card else [])]
    refused += [] if permissions else calls.permissions
    steps = filter_of(calls, permissions=permissions, own=OWN, card=card)
    for call in range(600):
        expected = REFUSED if call in refused else ALLOWED
        assert verdict(steps, calls.architecture, call, OWN) == expected, call


@pytest.mark.parametrize("calls", CALLS.values(), ids=CALLS)
def test_a_filter_looks_at_what_a_call_is_for(calls: Calls) -> None:
    steps = filter_of(calls, own=OWN)

    def said(call: int, *arguments: int) -> int:
        return verdict(steps, calls.architecture, call, *arguments)

    for call, place in calls.opens.items():
        before = [0] * place
        for flags in (0o1000, 0o1003, 0o2001000):
            assert said(call, *before, flags) == REFUSED
        for flags in (0o0, 0o3, 0o1001, 0o1102):
            assert said(call, *before, flags) == ALLOWED
    assert said(calls.prlimit, 0) == ALLOWED
    assert said(calls.prlimit, OWN + 1) == said(calls.tgkill, OWN + 1) == REFUSED
    assert (said(calls.fcntl, 0, 4), said(calls.fcntl, 0, 8), said(calls.fcntl, 0, 15)) == (ALLOWED, REFUSED, REFUSED)


@pytest.mark.parametrize("calls", CALLS.values(), ids=CALLS)
def test_next_to_a_card_there_are_local_sockets_that_reach_nobody(calls: Calls) -> None:
    steps = filter_of(calls, own=OWN, card=True)

    def said(*arguments: int) -> int:
        return verdict(steps, calls.architecture, calls.socket, *arguments)

    close_on_exec = 0o2000000
    assert said(1, 1) == said(1, 5) == said(1, 5 | close_on_exec) == ALLOWED
    datagrams, internet, kernel = said(1, 2), said(2, 1), said(16, 5)
    assert datagrams == internet == kernel == REFUSED


def test_a_filter_refuses_the_same_calls_under_other_numbers() -> None:
    calls = CALLS["x86_64"]
    steps = filter_of(calls, own=OWN)
    assert verdict(steps, OTHER_ARCHITECTURE, 1) == REFUSED
    assert verdict(steps, calls.architecture, 0x40000000 + 1) == REFUSED


DRIVER = """
import os, socket, sys, threading
from sapo_desktop.system.confinement import confine

confine([], card=sys.argv[1] == "card")

def tried(what, work):
    try:
        work()
    except OSError as error:
        print(what, type(error).__name__)
    else:
        print(what, "done")

ended, tasks = threading.Event(), "/proc/self/task"
thread = threading.Thread(target=ended.wait)
thread.start()
tried("names a thread", lambda: open(f"{tasks}/{thread.native_id}/comm", "w").write("named"))
tried("names another's", lambda: open(f"/proc/{os.getppid()}/task/{os.getppid()}/comm", "w").write("named"))

def listening():
    own = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    own.bind(f"\\0sapo-{os.getpid()}")
    own.listen()
    return own

tried("listens", listening)
if sys.argv[1] == "card":
    tried("accepts", listening().accept)
ended.set()
"""
"""What NVIDIA's driver does before anything can be computed: it ended with error 304 where one of them was refused."""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux forbids it below Python")
def test_a_cards_driver_can_begin_where_a_card_is_computed_on() -> None:
    def said(card: str) -> list[str]:
        command = [sys.executable, "-c", DRIVER, card]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()

    refused = "PermissionError"
    with_card = ["names a thread done", f"names another's {refused}", "listens done", f"accepts {refused}"]
    assert said("card") == with_card
    assert said("none") == [f"names a thread {refused}", f"names another's {refused}", f"listens {refused}"]


def test_a_process_with_threads_is_not_said_to_be_held() -> None:
    ended = threading.Event()
    thread = threading.Thread(target=ended.wait)
    thread.start()
    try:
        said = confine([])
    finally:
        ended.set()
        thread.join()
    assert "threads run already" in said.network and len(set(astuple(said))) == 1


def test_where_the_system_can_forbid_nothing_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confinement, "_PLATFORM", "win32")
    assert set(astuple(confine([]))) == {"not on win32"}


def test_a_sandbox_profile_names_where_it_may_write() -> None:
    profile = profile_of([Path('/a "b"')])
    assert '(allow file-write* (subpath "/a \\"b\\"") (subpath "/dev"))' in profile
    assert "(deny network*)" in profile and "(deny process-exec)" in profile


def test_a_sandbox_profile_names_the_places_that_links_lead_to(tmp_path: Path) -> None:
    """The kernel compares with those."""
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there")
    assert f'(subpath "{tmp_path.resolve() / "there"}")' in profile_of([tmp_path / "link"])

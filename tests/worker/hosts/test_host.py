"""A host process by itself: what it does with frames, and that it does not outlive its parent."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import psutil
import pytest

from sapo_desktop.core.errors import HostError
from sapo_desktop.core.link.frames import next_frame, pack
from sapo_desktop.core.link.handlers import failure
from sapo_desktop.core.link.requests import Call, Cancel, Reply, ToClient
from sapo_desktop.worker.hosts.host import Desk
from sapo_desktop.worker.hosts.protocol import HostOptions, Ready, command, environment, kind_of_service

HERE = Path(__file__).parent
PARENT = """
import subprocess, sys
from pathlib import Path
from sapo_desktop.worker.hosts.protocol import HostOptions, command, environment
from sapo_desktop.worker.hosts.protocol import kind_of_service
options = HostOptions(kind=kind_of_service("hosted_service:create"), log=Path("unused"))
pipe = subprocess.PIPE
child = subprocess.Popen(command(options), env=environment(options), stdin=pipe, stdout=pipe)
child.stdout.read(4)
print(child.pid, flush=True)
child.wait()
"""


def options() -> HostOptions:
    service = kind_of_service("hosted_service:create")
    return HostOptions(kind=service, log=Path("unused"), env={"PYTHONPATH": str(HERE)})


def start() -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        command(options()),
        env=environment(options()),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    payload = next_frame(process.stdout)  # type: ignore[arg-type]
    assert payload is not None
    reply = msgspec.msgpack.decode(payload, type=ToClient)
    assert isinstance(reply, Reply) and reply.id == 0
    assert msgspec.msgpack.decode(reply.body, type=Ready).pid == process.pid
    return process


def test_the_end_of_its_input_ends_it() -> None:
    process = start()
    process.communicate(timeout=5)
    assert process.returncode == 0


@pytest.mark.parametrize(
    "garbage",
    [b"\xff\xff\xff\xff", pack(b"\xc1\xc1"), pack(b"\x90"), pack(b"\x81\xa1t\xa2\xff\xff"), b"\x00\x00\x00\x09cut"],
    ids=str,
)
def test_garbage_on_its_input_ends_it(garbage: bytes) -> None:
    process = start()
    _, log = process.communicate(garbage, timeout=5)
    assert process.returncode == 1
    assert b"invalid frame" in log


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("stopped", [False, True])
def test_it_dies_with_its_parent(stopped: bool) -> None:
    """A middle process starts the host and is killed with SIGKILL; the host is gone within a second."""
    middle = subprocess.Popen(
        [sys.executable, "-c", PARENT], env=environment(options()), stdout=subprocess.PIPE, text=True
    )
    assert middle.stdout is not None
    host = psutil.Process(int(middle.stdout.readline()))
    if stopped:
        os.kill(host.pid, signal.SIGSTOP)
    middle.kill()
    middle.communicate(timeout=5)
    gone, _ = psutil.wait_procs([host], timeout=1)
    assert gone or host.status() == psutil.STATUS_ZOMBIE


def test_a_host_whose_parent_is_gone_already_does_not_start() -> None:
    line = command(options())
    line[line.index("--parent") + 1] = "1"
    done = subprocess.run(line, env=environment(options()), input=b"", capture_output=True, timeout=20)
    assert done.returncode == 1
    assert b"has stopped" in done.stderr


def request(number: int) -> Call:
    return Call(id=number, body=msgspec.Raw(b"\xc0"))


def test_a_cancellation_meets_its_own_request_only() -> None:
    cancelled = threading.Event()
    desk = Desk(cancelled)
    desk.put(request(1))
    desk.put(request(2))
    desk.put(Cancel(id=2))
    assert desk.next().id == 1 and not cancelled.is_set()
    desk.put(Cancel(id=1))
    assert cancelled.is_set()
    assert desk.next().id == 2 and cancelled.is_set()
    desk.put(request(3))
    assert desk.next().id == 3 and not cancelled.is_set()
    desk.put(Cancel(id=2))
    assert not cancelled.is_set()


def test_an_unexpected_error_leaves_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    frame = failure(5, KeyError("lost"), HostError)
    assert (frame.id, frame.error) == (5, "HostError")
    assert "KeyError" in caplog.text


def aside(number: int) -> Call:
    return Call(id=number, body=msgspec.Raw(b"\xc0"), aside=True)


def test_what_is_asked_aside_is_answered_once_between_or_in_its_turn() -> None:
    desk = Desk(threading.Event())
    desk.put(request(1))
    desk.put(aside(2))
    desk.put(request(3))
    desk.put(aside(4))
    assert desk.next().id == 1
    between = desk.next_aside()
    assert between is not None and between.id == 2
    desk.aside_done()
    assert [desk.next().id for _ in range(2)] == [3, 4], "the second one found no work to interrupt"


def test_what_is_asked_aside_is_given_up_by_itself_or_with_what_it_comes_between() -> None:
    cancelled = threading.Event()
    desk = Desk(cancelled)
    desk.put(request(1))
    desk.put(aside(2))
    assert desk.next().id == 1 and desk.next_aside() is not None
    desk.put(Cancel(id=2))
    assert desk.is_given_up() and not cancelled.is_set()
    desk.aside_done()
    assert not desk.is_given_up()
    desk.put(aside(3))
    assert desk.next_aside() is not None
    desk.put(Cancel(id=1))
    assert desk.is_given_up() and cancelled.is_set()
    desk.aside_done()
    desk.put(aside(4))
    assert desk.next_aside() is None, "the current request has to end"

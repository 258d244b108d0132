"""Silo uses no network: shown by the sockets of every process, and on a system without a network."""

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

RUN = [
    "-m",
    "sapo_desktop",
    "run",
    "--silo",
    "--rounds",
    "2",
    "--set",
    "questions=8",
    "--set",
    "low_priority=off",
    "--json",
]
# Where the user has left settings for the swarm: --silo wins over all of them.
TEMPTED = 'version = 1\nsilo = false\nshare = true\npeers = "wss://203.0.113.1:8765"\nlisten = "0.0.0.0:0"\n'

NO_NETWORK = """
import ctypes, fcntl, os, socket, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
    sys.exit(77)
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:  # loopback up, for the control channel
    request = struct.pack("16sH14x", b"lo", 0x1 | 0x40)
    fcntl.ioctl(any_socket, 0x8914, request)
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
    try:
        probe.connect(("203.0.113.1", 9))
    except OSError:
        pass
    else:
        sys.exit("there is a route out of this namespace")
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


def tempted(folder: Path) -> Path:
    folder.mkdir()
    (folder / "settings.toml").write_text(TEMPTED)
    return folder


def family(process: psutil.Process) -> Iterator[psutil.Process]:
    """A process and everything below it that is still there."""
    yield process
    with contextlib.suppress(psutil.Error):
        yield from process.children(recursive=True)


def outward(process: psutil.Process) -> Iterator[str]:
    """Internet sockets of the whole process tree that are not loopback's."""
    for one in family(process):
        with contextlib.suppress(psutil.Error):
            for socket in one.net_connections("inet"):
                ends = [end for end in (socket.laddr, socket.raddr) if end]
                if any(end.ip not in ("127.0.0.1", "::1") for end in ends):
                    yield f"{one.name()}: {ends}"


def test_no_process_of_a_silo_node_has_a_socket_beyond_loopback(tmp_path: Path) -> None:
    command = [sys.executable, *RUN, "--data", str(tempted(tmp_path / "node"))]
    process = psutil.Popen(command, stdout=subprocess.PIPE, text=True)
    found: set[str] = set()
    seen, looks = 0, 0
    while process.poll() is None:
        found.update(outward(process))
        seen = max(seen, len(list(family(process))))
        looks += 1
        time.sleep(0.05)
    assert found == set()
    assert seen >= 4 and looks > 20, "the terminal, the worker and two hosts were looked at"
    rounds = [json.loads(line) for line in process.stdout if '"event":"round"' in line]
    assert [line["round"] for line in rounds] == [1, 2]


@pytest.mark.allowed_skip("a container may be refused a network namespace")
def test_a_silo_node_works_where_there_is_no_network(tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("network namespaces are Linux's")
    command = [sys.executable, "-c", NO_NETWORK, *RUN, "--data", str(tempted(tmp_path / "node"))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 77:
        pytest.skip("this system allows no network namespace")
    assert done.returncode == 0, done.stderr
    assert sum('"event":"round"' in line for line in done.stdout.splitlines()) == 2

"""What could an attacker do with a hole in the scorer? Runs answers as programs in a host that the product confines.

    python -m tests.attack.node.escape [--card]

The planted scorer evaluates every answer, as eval(answer) does, with all of Python and the C library available. Each
answer tries one way to reach somebody, to read the user's data, to leave something behind, or to have another program
do so.
"""

import asyncio
import contextlib
import os
import platform
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from sapo_desktop.core.link import service
from sapo_desktop.core.link.requests import Request
from sapo_desktop.system import confinement
from sapo_desktop.worker.hosts.hosting import Host
from sapo_desktop.worker.hosts.protocol import HostOptions, kind_of_service
from tests.bench.figure import arguments, exactly, show, tell

_C = "__import__('ctypes').CDLL(None)"
_SOCKET = {"x86_64": 41}.get(platform.machine(), 198)
SECRET = "correct horse battery staple"
SECRETS = ("SAPO_PASSPHRASE", "SAPO_REMOTE_KEY", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "PASSWORD")
WRITING = {
    "a file": "open({outside!r} + '/left', 'w')",
    "a file, by the C library": f"{_C}.creat({{outside!r}}.encode() + b'/left', 0o600) + 1 or 1/0",
    "more into a file that is there": "open({outside!r} + '/kept', 'a')",
    "nothing in place of a file": "__import__('os').truncate({outside!r} + '/kept', 0)",
    "nothing in place of a file, opened to read": "__import__('os').open({outside!r} + '/kept', 0o1000)",
    "nothing in place of a file, opened for neither": "__import__('os').open({outside!r} + '/kept', 0o1003)",
    "another permission": "__import__('os').chmod({outside!r} + '/kept', 0o666)",
    "no file where one was": "__import__('os').remove({outside!r} + '/kept')",
    "another name for a file": "__import__('os').rename({outside!r} + '/kept', {outside!r} + '/moved')",
    "a folder": "__import__('os').mkdir({outside!r} + '/left')",
    "a link from the folder that it may write in": "__import__('os').link({outside!r} + '/kept', {inside!r} + '/kept')",
    "a pipe": "__import__('os').mkfifo({outside!r} + '/left')",
}
"""The attempts outside the folder that the host may write in. -1 from the C library means failure."""
READING = {
    "a file": "open({outside!r} + '/kept').read()",
    "a file, by the C library": f"{_C}.open({{outside!r}}.encode() + b'/kept', 0) + 1 or 1/0",
    "what lies in a folder": "__import__('os').listdir({outside!r})",
    "a file, by a link in the folder that it may write in": "__import__('os').symlink({outside!r} + '/kept', "
    "{inside!r} + '/link') or open({inside!r} + '/link').read()",
    "a file, by another name for its folder": "open('/proc/self/root' + {outside!r} + '/kept').read()",
    "the user's folder": "__import__('os').listdir(__import__('os').path.expanduser('~'))",
    "the passwords": "open('/etc/shadow').read()",
    "who there is": "open('/etc/passwd').read()",
    "its parent's environment": "open('/proc/%d/environ' % __import__('os').getppid()).read()",
    "its parent's command": "open('/proc/%d/cmdline' % __import__('os').getppid()).read()",
    "its parent's files": "__import__('os').listdir('/proc/%d/fd' % __import__('os').getppid())",
    "a secret of the environment": "[value for value in __import__('os').environ.values() if {secret!r} in value][0]",
    "a secret of the environment that it began with": "{secret!r} in open('/proc/self/environ').read() or 1/0",
    "a file that was open before": "[place for place in __import__('os').listdir('/proc/self/fd') if int(place) > 2 "
    "and __import__('os').path.realpath('/proc/self/fd/' + place).startswith({outside!r})][0]",
}
"""The user's data that attempts look for. `secret` was in the worker's environment."""
REACHING = {
    "the internet": "__import__('socket').socket()",
    "the internet, by the kernel": f"{_C}.syscall({_SOCKET}, 2, 1, 0) + 1 or 1/0",
    "a service of this computer": "__import__('socket').socket(1).connect({service!r})",
    "a service of this computer that takes packets": "__import__('socket').socket(1, 5).connect({packets!r})",
    "a service of this computer, by a datagram": "__import__('socket').socket(1, 2).sendto(b'hello', {datagrams!r})",
    "the kernel's own messages": "__import__('socket').socket(16, 3)",
    "the kernel's own queue": f"{_C}.syscall(425, 8, bytes(120)) + 1 or 1/0",
    "its parent, to end it": "__import__('os').kill(__import__('os').getppid(), 15)",
    "its parent, by a file's signals": "__import__('fcntl').fcntl(0, 8, __import__('os').getppid())",
    "its parent, by a limit": "__import__('resource').prlimit(__import__('os').getppid(), 4, (0, 0))",
    "its parent's memory": "open('/proc/%d/mem' % __import__('os').getppid(), 'r+b')",
    "the internet, by another thread": "__import__('concurrent.futures').futures.ThreadPoolExecutor(1)"
    ".submit(__import__('socket').socket).result()",
    "another program": "__import__('subprocess').run(['true'])",
    "another program, by the C library": f"{_C}.execl(b'/bin/true', b'true', None) + 1 or 1/0",
}


class Marked(msgspec.Struct, frozen=True, tag=True):
    """The scorer's result: how it failed, or `done`."""

    said: str


class Answer(Request[Marked], frozen=True):
    """An answer to score."""

    text: str


REQUEST, PROGRESS = Answer, Marked


class Marker(service.Service[Answer]):
    """A scorer with a planted hole. LANDLOCK is a version: it is confined as on a system with no newer one."""

    def __init__(self) -> None:
        super().__init__()
        if most := os.environ.get("LANDLOCK"):
            there = confinement.landlock_version
            confinement.landlock_version = lambda libc: min(int(most), there(libc))

    def handle(self, request: Answer, progress: service.Progress) -> Marked:
        try:
            eval(request.text)
        except Exception as error:  # noqa: BLE001 - any reason that stopped it is a result
            return Marked(f"{type(error).__name__}: {error}")
        return Marked("done")


SERVICES = {"service": socket.SOCK_STREAM, "packets": socket.SOCK_SEQPACKET, "datagrams": socket.SOCK_DGRAM}
"""Services on this computer that could be reached, by the name of their address in the attempts."""


async def escapes(folder: Path, landlock: int | None = None, *, card: bool = False) -> dict[str, str]:
    """The result of each attempt; `done` means that it got out. `folder`: an empty one. `landlock`: as Marker; `card`:
    whether the scorer may compute on a graphics card.

    Raises AssertionError if anything outside changed, whatever the scorer's result.
    """
    inside, outside = folder / "inside", folder / "outside"
    for place in (inside, outside):
        place.mkdir()
    (outside / "kept").write_text("kept")
    os.environ.update(dict.fromkeys(SECRETS, SECRET))
    left_open = os.open(outside / "kept", os.O_RDONLY)
    os.set_inheritable(left_open, True)
    root = str(Path(__file__).resolve().parents[3])
    options = HostOptions(
        kind=kind_of_service("tests.attack.node.escape:Marker"),
        log=folder / "marker.log",
        env={"PYTHONPATH": root} | ({} if landlock is None else {"LANDLOCK": str(landlock)}),
        writes=[inside],
        card=card,
    )
    host = await Host.start(options)
    try:
        assert host.confined is not None and set(msgspec.structs.astuple(host.confined)) == {"held"}
        with services() as addresses:
            places = {"inside": str(inside), "outside": str(outside), "secret": SECRET} | addresses
            asked = {what: text.format(**places) for what, text in attempts().items()}
            said = {what: (await host.call(Answer(text), 20)).said for what, text in asked.items()}
        held = await host.call(Answer(f"open({str(inside)!r} + '/made', 'w').close()"), 20)
        assert held.said == "done", f"it may write where it works: {held.said}"
    finally:
        await host.stop()
        for name in SECRETS:
            del os.environ[name]
        os.close(left_open)
    assert [file.name for file in outside.iterdir()] == ["kept"] and (outside / "kept").read_text() == "kept"
    return said


@contextlib.contextmanager
def services() -> Iterator[dict[str, str]]:
    """Sockets that anybody on this computer may reach, and their addresses: by paths, since abstract names are kept
    apart by newer systems anyway."""
    with tempfile.TemporaryDirectory(prefix="sapo-") as folder, contextlib.ExitStack() as held:  # a short path
        for name, kind in SERVICES.items():
            service = held.enter_context(socket.socket(socket.AF_UNIX, kind))
            service.bind(f"{folder}/{name}")
            if kind != socket.SOCK_DGRAM:
                service.listen()
        yield {name: f"{folder}/{name}" for name in SERVICES}


def attempts() -> dict[str, str]:
    """All of them."""
    kinds = {"reads": READING, "writes": WRITING, "reaches": REACHING}
    return {f"{does} {what}": text for does, tried in kinds.items() for what, text in tried.items()}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--card", action="store_true", help="as where it may compute on a graphics card")
    given = parser.parse_args()
    if sys.platform != "linux":
        raise SystemExit(f"Nothing is confined on {sys.platform}.")
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        said = asyncio.run(escapes(Path(scratch), card=given.card))
    out = sorted(what for what, how in said.items() if how == "done")
    for what, how in said.items():
        tell(f"{what}: {how}")
    name = f"answers that escaped from their scorer, of {len(said)}"
    note = f"Linux {'.'.join(platform.release().split('.')[:2])}: {', '.join(out) or 'none'}"
    show([exactly(name, len(out), "answers", 0, note)], given)


if __name__ == "__main__":
    main()

"""Other people's websocket clients at a node's port: what answer they get, and whether the node still serves its peers.

    python -m tests.attack.sockets.strangers --wscat wscat

websocket-client (Python) is used where it is installed, wscat (Node.js) where its command is named. Each says hello as
a person would try it: text, bytes that are no message, a frame above the limit, an Origin, nothing at all.
"""

import asyncio
import contextlib
import importlib.util
import shlex
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.sockets.network import Network
from tests.attack.sockets.nodes import a_network
from tests.bench.figure import Figure, arguments, exactly, show

SECONDS = 15.0
WEBSOCKET_CLIENT = """
import sys, websocket
url, kind = sys.argv[1:]
options = {"subprotocols": ["sapo.v1"], "timeout": 3, "suppress_origin": kind != "origin"}
if kind == "origin":
    options["origin"] = "https://example.org"
try:
    wire = websocket.create_connection(url, **options)
    if kind == "text":
        wire.send("hello")
    elif kind == "bytes":
        wire.send_binary(b"\\x00\\xff" * 100)
    elif kind == "huge":
        wire.send_binary(b"x" * 100_000)
    while True:
        opcode, data = wire.recv_data()
        print(opcode, data.decode("latin-1"))
        if opcode == 8:
            break
except Exception as error:
    print(type(error).__name__, error)
"""


@dataclass
class Tried:
    """One client's tries and what came back."""

    client: str
    answers: dict[str, str] = field(default_factory=dict)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--wscat", help="the command that starts wscat")
    given = parser.parse_args()
    tried, served = asyncio.run(play(given.wscat))
    for one in tried:
        ended = [kind for kind, answer in one.answers.items() if answer]
        note = "; ".join(f"{kind}: {answer}" for kind, answer in one.answers.items())
        show([Figure(f"{one.client}: tries that were ended", len(ended), "tries", note=note)], given)
    show([exactly("honest links served afterwards", served, "links", 1)], given)


async def play(wscat: str | None) -> tuple[list[Tried], int]:
    """All tries, and whether a peer is served after them."""
    async with node() as listener:
        port = await listener.listen("127.0.0.1", 0)
        url, tried = f"ws://127.0.0.1:{port}/", []
        if importlib.util.find_spec("websocket") is not None:
            one = Tried("websocket-client")
            for kind in ("text", "bytes", "huge", "origin"):
                one.answers[kind] = await said([sys.executable, "-c", WEBSOCKET_CLIENT, url, kind])
            tried.append(one)
        if wscat:
            one = Tried("wscat")
            for kind, more in {"text": ["-x", "hello"], "origin": ["-o", "https://example.org", "-x", "hello"]}.items():
                one.answers[kind] = await said([*shlex.split(wscat), "-c", url, "-s", "sapo.v1", "-w", "5", *more])
            tried.append(one)
        async with node() as peer:
            link = await peer.link(Address("127.0.0.1", port, tls=False), only_greet=True)
            return tried, int(link is not None and bool(link.key))


@contextlib.asynccontextmanager
async def node() -> AsyncIterator[Network]:
    network = a_network()
    try:
        yield network
    finally:
        await network.close()


async def said(command: list[str]) -> str:
    """What a client prints until it ends, on one line."""
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    assert process.stdout is not None
    try:
        # Its input stays open: wscat ends with it, before it has shown the answer.
        out = await asyncio.wait_for(process.stdout.read(), SECONDS)
        await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
        return ""
    readable = "".join(letter if " " <= letter <= "~" else " " for letter in out.decode("latin-1"))
    return " ".join(readable.split())[:100]


if __name__ == "__main__":
    main()

"""The Autobahn test suite against an echo server behind our listener's options, compared with the library's own.

    python -m tests.attack.sockets.autobahn --wstest "python2 -m autobahntestsuite.wstest"

The suite (autobahntestsuite 25.10.1, Python 2.7) is no dependency: name the command that starts it. Left out: cases 9
(size and speed beyond our limits), 12 and 13 (compression, which is off). The question is
whether any case ends worse with our options than with the library's.
"""

import asyncio
import json
import shlex
import tempfile
from collections import Counter
from pathlib import Path

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from sapo_desktop.swarm.sockets.network import _refuse_browsers
from sapo_desktop.swarm.sockets.wire import options
from tests.bench.figure import Figure, arguments, exactly, show, tell

LEFT_OUT = ["9.*", "12.*", "13.*"]
ORDER = ("OK", "INFORMATIONAL", "NON-STRICT", "UNIMPLEMENTED", "WRONG CODE", "UNCLEAN", "FAILED BY CLIENT", "FAILED")
"""Behaviours, from best to worst."""


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--wstest", help="the command that starts the suite")
    given = parser.parse_args()
    if not given.wstest:
        show([Figure("Autobahn cases", 0, "cases", note="not run: name the suite by --wstest")], given)
        return
    cases = ["1.*", "2.*"] if given.quick else ["*"]
    ours, theirs = asyncio.run(tested(shlex.split(given.wstest), cases))
    show(figures(ours, theirs), given)


async def tested(wstest: list[str], cases: list[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Behaviour by case, with our options and with the library's."""
    ours_alone = {**options(), "subprotocols": None}  # the suite speaks none
    async with (
        serve(echo, "127.0.0.1", 0, process_request=_refuse_browsers, server_header=None, **ours_alone) as ours,
        serve(echo, "127.0.0.1", 0, compression=None) as theirs,
    ):
        ports = {name: next(iter(one.sockets)).getsockname()[1] for name, one in (("ours", ours), ("theirs", theirs))}
        with tempfile.TemporaryDirectory() as folder:
            spec = {
                "outdir": f"{folder}/reports",
                "servers": [{"agent": name, "url": f"ws://127.0.0.1:{port}"} for name, port in ports.items()],
                "cases": cases,
                "exclude-cases": LEFT_OUT,
                "exclude-agent-cases": {},
            }
            path = Path(folder) / "spec.json"
            path.write_text(json.dumps(spec))
            tell("the suite runs for some minutes")
            suite = await asyncio.create_subprocess_exec(
                *wstest, "-m", "fuzzingclient", "-s", str(path), stdout=asyncio.subprocess.DEVNULL
            )
            if await suite.wait() != 0:
                raise SystemExit("The suite did not run to its end.")
            index = json.loads((Path(folder) / "reports" / "index.json").read_text())
    first, second = (
        {case: worst(result["behavior"], result["behaviorClose"]) for case, result in index[name].items()}
        for name in ports
    )
    return first, second


async def echo(connection: ServerConnection) -> None:
    """What the suite expects of a server."""
    try:
        async for message in connection:
            await connection.send(message)
    except ConnectionClosed:
        return


def worst(*behaviours: str) -> str:
    return max(behaviours, key=ORDER.index)


def figures(ours: dict[str, str], theirs: dict[str, str]) -> list[Figure]:
    worse = [case for case in ours if ORDER.index(ours[case]) > ORDER.index(theirs[case])]
    counted = ", ".join(f"{count} {behaviour}" for behaviour, count in Counter(ours.values()).most_common())
    note = ", ".join(f"{case}: {ours[case]} for {theirs[case]}" for case in worse)
    return [
        Figure("Autobahn cases with our options", len(ours), "cases", note=counted),
        exactly("cases worse than with the library's own options", len(worse), "cases", 0, note),
    ]


if __name__ == "__main__":
    main()

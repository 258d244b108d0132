"""The lab's process: one request in, as JSON in its only argument, events out, one JSON object a line on stdout.

`sapo-desktop lab` starts it and shows its events. PYTHONHASHSEED must be 0, as for the examiner.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import msgspec

from sapo_desktop.core.errors import SapoError
from sapo_desktop.lab.arm import Plan
from sapo_desktop.lab.node import Service
from sapo_desktop.lab.play import Lab
from sapo_desktop.lab.plot import Plot, plot
from sapo_desktop.lab.table import ShowTable, looked_at, table

Request = Plan | ShowTable | Plot


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="failed"):
    """The last line after a failure."""

    text: str
    exit_code: int


class Plotted(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="written"):
    file: str
    what: str = "plot"


def main(argument: str) -> int:
    """Carry out the request; returns the exit code."""
    try:
        _do(msgspec.json.decode(argument, type=Request))
    except SapoError as error:
        tell(Failed(text=str(error), exit_code=error.exit_code))
        return error.exit_code
    except KeyboardInterrupt:
        return 1
    except BrokenPipeError:
        return 1  # the caller is gone; everything written so far stays
    return 0


def tell(event: msgspec.Struct) -> None:
    """One line for the parent process."""
    sys.stdout.write(msgspec.json.encode(event).decode() + "\n")
    sys.stdout.flush()


def _engine() -> Service:
    from sapo_desktop.engines.torch.service import create  # loading torch takes seconds, and a bad plan needs none

    return create()


def _do(request: Request) -> None:
    out = Path(request.out)
    match request:
        case Plan():
            asyncio.run(Lab(out, _engine).play(request, tell))
        case ShowTable():
            for line in table(looked_at(request), request.at, request.against, request.reach, by_seed=request.by_seed):
                tell(line)
        case Plot():
            tell(Plotted(file=str(plot(out))))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))

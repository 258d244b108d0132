"""Put as `sitecustomize` on the path of a process by walks.py: tells which files of the product it enters, and when.

One line a file, moment and place in the calls, through the named pipe that the environment names: a pipe, since the
examiner may write no files. What runs while a module is imported does not count. No part of the product.
"""

import os
import sys
import threading
import time

MOMENT = 0.01
"""Seconds; the clock is the machine's monotonic one, the same in all processes."""


def begin(pipe: str, package: str, marks: list[str]) -> None:
    """Trace from now on. `marks`: qualified names of functions; each record says which of them are under way there."""
    out = os.open(pipe, os.O_WRONLY)
    bits = {name: 1 << place for place, name in enumerate(marks)}
    told: set[tuple[int, str]] = set()
    now = 0

    def tell(line: str) -> None:
        try:
            os.write(out, f"{os.getpid()}\t{line}\n".encode())
        except OSError:
            sys.settrace(None)  # nobody reads any more

    def entered(frame, event, argument):  # type: ignore[no-untyped-def]
        nonlocal now
        if not frame.f_code.co_filename.startswith(package):
            return
        within, files, caller = 0, [frame.f_code.co_filename], frame
        while caller is not None:
            code = caller.f_code
            if code.co_name == "<module>" and caller.f_globals.get("__name__") != "__main__":
                return  # an import
            if code.co_qualname in bits and code.co_filename.startswith(package):
                within |= bits[code.co_qualname]
            caller = caller.f_back
        if frame.f_code.co_qualname in bits:
            files += _callers(frame, package)
        moment = int(time.monotonic() / MOMENT)
        if moment != now:
            now = moment
            told.clear()
        for file in files:
            if (within, file) not in told:
                told.add((within, file))
                tell(f"{moment}\t{within}\t{file[len(package) :]}")

    tell("argv\t" + " ".join(sys.orig_argv))
    threading.settrace(entered)
    sys.settrace(entered)


def _callers(frame, package: str) -> list[str]:  # type: ignore[no-untyped-def]
    """The files on the way to a marked function."""
    found = []
    while (frame := frame.f_back) is not None:
        if frame.f_code.co_filename.startswith(package):
            found.append(frame.f_code.co_filename)
    return found


if "SAPO_WALK_PIPE" in os.environ:
    begin(
        os.environ["SAPO_WALK_PIPE"],
        os.environ["SAPO_WALK_PACKAGE"] + os.sep,
        [name for name in os.environ.get("SAPO_WALK_MARKS", "").split(",") if name],
    )

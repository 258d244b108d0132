"""What goes wrong while setting up, and the sentence that helps."""

from __future__ import annotations

import re
from pathlib import Path


class SetupError(Exception):
    """Setting up cannot go on; the text says what happened and what to do."""


class CommandFailed(SetupError):
    """A tool that setting up needs ended with an error; `output` is all it printed."""

    def __init__(self, what: str, output: str, log: Path) -> None:
        self.output = output
        last = [line for line in output.splitlines() if line.strip()][-6:]
        known = explain(output)
        reason = known or "The tool's last words:\n  " + "\n  ".join(last)
        then = "" if known else " Type the same command again; if that fails too, please report it, with this file."
        super().__init__(f"{what} failed. {reason}\nThe whole output is in {log}.{then}")


NO_NETWORK = (
    "The package index could not be reached. Check the network (behind a proxy: set HTTPS_PROXY; with a mirror: "
    "pip's own settings are honoured), then type the same command again: it goes on where it stopped."
)
NOT_FOUND = (
    "The package index has no such version for this machine and this Python. With an own mirror, check that "
    "it is complete; PyTorch's CPU build lives on PyTorch's own index."
)
CHANGED = (
    "A downloaded file is not the one this version was tested with (its hash differs). Type the same command "
    "again; if it stays so, the mirror in use serves other files."
)
DAMAGED = (
    "A package that was fetched is damaged. Type the same command again; if it stays so, the mirror or folder that it "
    "comes from has a damaged copy."
)
DISK_FULL = "The disk is full. Free some space, then type the same command again: it goes on where it stopped."
READ_ONLY = "A folder could not be written. Use a clone in a folder of your own."
GET_COMPILER = "Debian or Ubuntu: apt install build-essential python3-dev; macOS: xcode-select --install"
NO_COMPILER = (
    f"A package had to be built and no working C++ compiler was found. Install one ({GET_COMPILER}), then type the "
    "same command again."
)

# The order matters: pip that cannot reach its index ends with "no matching distribution".
_SIGNS = (
    (r"No space left on device|Errno 28\b|os error 28\b|not enough space on the disk", DISK_FULL),
    (
        r"NewConnectionError|Temporary failure in name resolution|Connection refused|ConnectTimeout|"
        r"Network is unreachable|Max retries exceeded|dns error|error sending request|Read timed out|"
        r"ConnectionResetError|Connection broken|Name or service not known",
        NO_NETWORK,
    ),
    (r"DO NOT MATCH THE HASHES|[Hh]ash mismatch", CHANGED),
    (r"BadZipFile|Bad CRC|zlib\.error|[Ww]heel .*is invalid|has an invalid wheel", DAMAGED),
    (r"Read-only file system|Permission denied|Errno 13\b", READ_ONLY),
    (r"No matching distribution|Could not find a version|no version of|No solution found", NOT_FOUND),
    (r"command '?\S*(gcc|cc|c\+\+|clang)\S*'? failed|CMAKE_CXX_COMPILER|Microsoft Visual C\+\+|Python\.h", NO_COMPILER),
)


def explain(output: str) -> str | None:
    """The sentence for what a tool printed before it failed, or None where we know nothing better."""
    return next((sentence for signs, sentence in _SIGNS if re.search(signs, output)), None)

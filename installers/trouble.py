"""Failures of setup, and the sentence that helps."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies


class SetupError(Exception):
    """Setup cannot continue; the text says what happened and what to do."""


class CommandFailed(SetupError):
    """A tool of setup failed; `output` is everything it printed."""

    def __init__(self, what: str, output: str, log: Path) -> None:
        self.output = output
        last = [line for line in output.splitlines() if line.strip()][-6:]
        known = explain(output)
        reason = f"{known}{details(known, output, getproxies())}" if known else "It said:\n  " + "\n  ".join(last)
        then = "" if known else " Type the same command again. If that fails too, please report it with this file."
        super().__init__(f"{what} failed. {reason}\nThe whole output is in {log}.{then}")


AGAIN = "then type the same command again: it continues where it stopped."
NO_NETWORK = f"The package index could not be reached. Check your network (behind a proxy, set HTTPS_PROXY), {AGAIN}"
NO_TRUST = (
    "The package index showed a certificate that this computer does not trust. Many company networks replace "
    f"certificates: set PIP_CERT to the file with your company's, {AGAIN}"
)
REFUSED = f"The package index or the proxy refused access. Check the user name and password in its address, {AGAIN}"
NOT_FOUND = (
    "The package index does not have a version that SAPO Desktop needs for this computer and this Python. If you use "
    f"a mirror, check that it is complete, {AGAIN}"
)
CONFLICT = (
    "A constraint in pip's settings rules out a version that SAPO Desktop needs. It matters for this folder only, so "
    f"you can set the constraint aside: set PIP_CONSTRAINT to {os.devnull}, {AGAIN}"
)
CHANGED = (
    "A downloaded file is not the one this version was tested with (its hash differs). Type the same command again. "
    "If it stays so, the mirror in use serves other files."
)
DAMAGED = (
    "A downloaded package is damaged. Type the same command again. If it stays so, the mirror or folder that it comes "
    "from has a damaged copy."
)
DISK_FULL = f"The disk is full, or your share of it. Free some space, {AGAIN}"
READ_ONLY = "A folder could not be written. Clone into a folder of your own and start from there."
GET_COMPILER = "Debian or Ubuntu: apt install build-essential python3-dev; macOS: xcode-select --install"
NO_COMPILER = f"A package had to be built and no working C++ compiler was found. Install one ({GET_COMPILER}), {AGAIN}"

HERE = (DISK_FULL, READ_ONLY)
"""Faults of this computer, which another package source does not fix."""
NETWORK = (NO_NETWORK, NO_TRUST)
"""Faults of the network to every package source."""

# The order matters: pip that cannot reach its index ends with "no matching distribution".
_SIGNS = (
    (r"No space left on device|Disk quota exceeded|Errno (28|122)\b|os error (28|122)\b|not enough space on the disk",
     DISK_FULL),
    (r"CERTIFICATE_VERIFY_FAILED|SSLCertVerificationError|SSLError|invalid peer certificate|UnknownIssuer", NO_TRUST),
    (r"40[137] Client Error|40[137] Error|40[13] (Forbidden|Unauthorized)|407 Proxy Auth|Tunnel connection failed: 40",
     REFUSED),
    (
        r"NewConnectionError|NameResolutionError|Temporary failure in name resolution|Connection refused|"
        r"ConnectTimeout|Network is unreachable|Max retries exceeded|dns error|error sending request|"
        r"[Rr]ead timed out|ConnectionResetError|Connection broken|Name or service not known",
        NO_NETWORK,
    ),
    (r"DO NOT MATCH THE HASHES|[Hh]ash mismatch", CHANGED),
    (r"BadZipFile|Bad CRC|zlib\.error|[Ww]heel .*is invalid|has an invalid wheel", DAMAGED),
    (r"Read-only file system|Permission denied|Errno (13|30)\b", READ_ONLY),
    (r"ResolutionImpossible|conflicting dependencies", CONFLICT),
    (r"No matching distribution|Could not find a version|no version of|No solution found", NOT_FOUND),
    (r"command '?\S*(gcc|cc|c\+\+|clang)\S*'? failed|CMAKE_CXX_COMPILER|Microsoft Visual C\+\+|Python\.h", NO_COMPILER),
)  # fmt: skip
_NAMED = {
    NOT_FOUND: ("Missing: ", r"No matching distribution found for (\S+)|no version of (\S+)"),
    CONFLICT: ("The constraint: ", r"\(constraint\) (\S+)"),
    READ_ONLY: ("Not writable: ", r"(?:Read-only file system|Permission denied): '([^']+)'"),
    REFUSED: ("Refused by: ", r"for url: https?://(?:[^@/\s]*@)?([^/\s]+)"),
}
"""Cause -> how the tool's output names its subject."""


def explain(output: str) -> str | None:
    """The sentence for a failed tool's output, or None if no known cause matches."""
    return next((sentence for signs, sentence in _SIGNS if re.search(signs, output)), None)


def details(cause: str, output: str, proxies: Mapping[str, str]) -> str:
    """The package, constraint, host or proxy of the cause, as a further sentence; empty if none is named."""
    if cause in (NO_NETWORK, REFUSED) and (proxy := proxies.get("https") or proxies.get("http")):
        at = urlsplit(proxy if "://" in proxy else f"//{proxy}")
        return f" A proxy is set: {at.hostname}:{at.port}."
    begin, pattern = _NAMED.get(cause, ("", ""))
    found = [next(filter(None, match.groups())) for match in re.finditer(pattern, output)] if pattern else []
    return f" {begin}{', '.join(sorted(set(found)))}." if found else ""

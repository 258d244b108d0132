"""The seed list of the release: where a node that knows nobody begins.

One address with its key a line; lines that begin with `#` are comments. A key is a must: who answers there under
another one is no operator of the list's.
"""

from __future__ import annotations

import logging
from pathlib import Path

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.files.reading import read_bytes
from sapo_desktop.swarm.addresses.address import Address

log = logging.getLogger(__name__)


def read_seeds(path: Path) -> list[Address]:
    """The addresses of the list; a line that is none is left out, and its number logged."""
    found = []
    for number, line in enumerate(read_bytes(path).decode("utf-8", "replace").splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        address = _seed(line)
        if address is None:
            log.warning("Line %d of the seed list is no wss:// address with a key: left out.", number)
        else:
            found.append(address)
    return found


def _seed(line: str) -> Address | None:
    try:
        address = Address.parse(line)
    except UsageError:
        return None
    return address if address.tls and address.key is not None else None

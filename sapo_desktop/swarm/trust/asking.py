"""Requests to join a private swarm, and what the founder's node answers.

A newcomer that has an invite but no admission asks in its HELLO, signed with its key. The answer is a GOODBYE.
Strangers can ask, too, so everything about them is bounded: how many wait, how many of them come from one network, and
for how long. A label can be made up, a key cannot: people compare keys. Times are monotonic seconds.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

from sapo_desktop.core.hashing import digest

LABEL = "ask"
MOST_WAITING, MOST_OF_PART = 16, 4
WAITING_SECONDS = 900.0
"""A request that was not repeated for so long is forgotten."""
MOST_ANSWERED, ANSWERED_SECONDS = 64, 7 * 86400.0
AGAIN_SECONDS, REFUSED_SECONDS = 60, 86400
"""After which a newcomer may ask again; after a refusal."""
WAITING, ADMITTED, REFUSED, FULL = "asked to join", "admitted", "not wanted here", "too many ask to join"
"""How the answer begins."""


def content(key: bytes, nonce: bytes, label: str, certificate: bytes) -> bytes:
    """What a request signs (32 bytes). The nonce and the hash of the certificate that the newcomer saw bind it to one
    connection to one server."""
    return digest(b"sapo/ask/1", key, nonce, label.encode("ascii"), certificate)


@dataclass(frozen=True)
class Asker:
    """A newcomer that waits. `part`: our name for its part of the internet."""

    key: bytes
    label: str
    part: bytes
    since: float
    seen: float


@dataclass(frozen=True)
class Answer:
    """The reply to a newcomer: why the link ends, after how many seconds to ask again, and its admission."""

    reason: str
    retry_after: int = AGAIN_SECONDS
    admission: bytes = b""


class Porch:
    """The newcomers that wait at one node. `came`: called with each new one."""

    def __init__(self, came: Callable[[Asker], None] = lambda asker: None) -> None:
        self._came = came
        self._waiting: dict[bytes, Asker] = {}
        self._answered: OrderedDict[bytes, tuple[Answer, float]] = OrderedDict()

    def knock(self, key: bytes, label: str, part: bytes, now: float) -> Answer:
        """Somebody proved this key and asks to join."""
        self._forget(now)
        if key in self._answered:
            return self._answered[key][0]
        if before := self._waiting.get(key):
            self._waiting[key] = replace(before, seen=now)
            return Answer(WAITING)
        of_part = sum(one.part == part for one in self._waiting.values())
        if len(self._waiting) >= MOST_WAITING or of_part >= MOST_OF_PART:
            return Answer(FULL)
        self._waiting[key] = asker = Asker(key, label, part, now, now)
        self._came(asker)
        return Answer(WAITING)

    def waiting(self, now: float) -> list[Asker]:
        """Who waits for an answer, the first one first."""
        self._forget(now)
        return list(self._waiting.values())

    def admit(self, key: bytes, admission: bytes, now: float) -> bool:
        """Give this key its admission when it asks next; whether it waits."""
        return self._answer(key, Answer(ADMITTED, 0, admission), now)

    def refuse(self, key: bytes, now: float) -> bool:
        """Send this key away; whether it waits."""
        return self._answer(key, Answer(REFUSED, REFUSED_SECONDS), now)

    def _answer(self, key: bytes, answer: Answer, now: float) -> bool:
        self._answered.pop(key, None)
        self._answered[key] = answer, now
        if len(self._answered) > MOST_ANSWERED:
            self._answered.popitem(last=False)
        return self._waiting.pop(key, None) is not None

    def _forget(self, now: float) -> None:
        for key in [key for key, one in self._waiting.items() if now >= one.seen + WAITING_SECONDS]:
            del self._waiting[key]
        for key in [key for key, (_, at) in self._answered.items() if now >= at + ANSWERED_SECONDS]:
            del self._answered[key]

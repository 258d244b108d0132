"""Why something from a peer was refused, and what that says about the peer.

Every refusal is counted by reason and shown. There are three kinds. *Invalid* breaks the protocol and counts against
the link or author proven to be at fault. *Unverifiable* may be our own version's fault and is never punished. *Ignored*
is nobody's fault.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterator
from typing import Literal

from sapo_desktop.core.sentences import Text

Kind = Literal["invalid", "unverifiable", "ignored"]
Blame = Literal["link", "author", "unverifiable", "ignored"]
"""`link`: the peer that sent it. `author`: its signed body is wrong, no matter who sent it."""


class Reason(enum.StrEnum):
    """All reasons, and who is to blame."""

    blame: Blame

    def __new__(cls, value: str, blame: Blame) -> Reason:
        reason = str.__new__(cls, value)
        reason._value_ = value
        reason.blame = blame
        return reason

    OVERSIZE = "oversize", "link"
    NOT_A_MESSAGE = "not_a_message", "link"
    MALFORMED = "malformed", "link"
    OUT_OF_ORDER = "out_of_order", "link"
    TOO_OFTEN = "too_often", "link"
    OVERDRAWN = "overdrawn", "link"
    BAD_BATCH = "bad_batch", "link"
    BAD_SIGNATURE = "bad_signature", "link"
    UNASKED = "unasked", "link"
    NOT_ITS_OWN = "not_its_own", "link"
    BAD_BODY = "bad_body", "author"
    OTHER_NETWORK = "other_network", "author"
    NOT_ADMITTED = "not_admitted", "author"
    BAD_TEXT = "bad_text", "author"
    SECOND_BODY = "second_body", "author"
    FLOODING = "flooding", "author"
    OTHER_QUESTION = "other_question", "unverifiable"
    TIMED_OUT = "timed_out", "unverifiable"
    TOO_OLD = "too_old", "ignored"
    TOO_NEW = "too_new", "ignored"
    DUPLICATE = "duplicate", "ignored"
    UNKNOWN_MESSAGE = "unknown_message", "ignored"
    UNKNOWN_TASK = "unknown_task", "ignored"
    UNUSED_TASK = "unused_task", "ignored"
    OTHER_INSTANCE = "other_instance", "ignored"
    OWN_ECHO = "own_echo", "ignored"
    SHUT_OUT = "shut_out", "ignored"
    POOL_FULL = "pool_full", "ignored"
    HELD_OUT = "held_out", "ignored"
    UNFIT = "unfit", "ignored"
    PRIVATE_ADDRESS = "private_address", "ignored"
    BUSY = "busy", "ignored"


_MOST_EXAMINERS = 32
OF_THE_AUTHOR = frozenset(reason for reason in Reason if reason.blame == "author")


def kind_of(reason: Reason) -> Kind:
    """The kind of a reason."""
    if reason.blame == "link" or reason.blame == "author":
        return "invalid"
    return reason.blame


class Refused(Exception):
    """Something from a peer is refused. Caught for each message or group, and counted there.

    `author`: the key with a valid signature on what breaks the rules.
    """

    def __init__(self, reason: Reason, detail: Text = "", author: bytes | None = None) -> None:
        super().__init__(f"{reason}: {detail}" if detail else str(reason))
        self.reason = reason
        self.detail = detail
        self.author = author


class Refusals:
    """Counts by reason."""

    def __init__(self) -> None:
        self._counts: Counter[Reason] = Counter()
        self._other_questions: Counter[bytes] = Counter()

    def add(self, reason: Reason, count: int = 1) -> None:
        self._counts[reason] += count

    def add_other_question(self, examiner: bytes) -> None:
        """A question differs from its hash. `examiner`: the fingerprint of the peer's library, as the peer states
        it; a limited number are counted separately, the rest as one."""
        self.add(Reason.OTHER_QUESTION)
        is_room = examiner in self._other_questions or len(self._other_questions) < _MOST_EXAMINERS
        self._other_questions[examiner if is_room else b""] += 1

    @property
    def other_questions(self) -> dict[str, int]:
        """Counts by fingerprint in hex; empty: not stated, or beyond the limit."""
        return {examiner.hex(): count for examiner, count in sorted(self._other_questions.items())}

    def __getitem__(self, reason: Reason) -> int:
        return self._counts[reason]

    def __iter__(self) -> Iterator[tuple[Reason, int]]:
        return iter(sorted(self._counts.items()))

    def by_kind(self) -> dict[str, dict[str, int]]:
        """In the form of `status --json`: kind -> reason -> count."""
        shown: dict[str, dict[str, int]] = {"invalid": {}, "unverifiable": {}, "ignored": {}}
        for reason, count in self:
            shown[kind_of(reason)][reason.value] = count
        return shown

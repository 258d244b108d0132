"""Why something from a peer was not taken, and what that says about the peer.

Every refusal is counted by reason and shown. Three kinds: *invalid* breaks the protocol and counts against
whoever can be shown to have done it; *unverifiable* may be our own version's fault and is never punished; *ignored*
is nobody's fault.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterator
from typing import Literal

from sapo_desktop.core.sentences import Text

Kind = Literal["invalid", "unverifiable", "ignored"]


class Reason(enum.StrEnum):
    """Every reason there is."""

    # The frame or the link
    OVERSIZE = "oversize"
    NOT_A_MESSAGE = "not_a_message"
    MALFORMED = "malformed"
    OUT_OF_ORDER = "out_of_order"
    TOO_OFTEN = "too_often"
    OVERDRAWN = "overdrawn"
    BAD_BATCH = "bad_batch"
    BAD_SIGNATURE = "bad_signature"
    UNASKED = "unasked"
    NOT_ITS_OWN = "not_its_own"
    # The author's signed body
    BAD_BODY = "bad_body"
    OTHER_NETWORK = "other_network"
    NOT_ADMITTED = "not_admitted"
    BAD_TEXT = "bad_text"
    SECOND_BODY = "second_body"
    FLOODING = "flooding"
    # Nobody's fault, or not provably somebody's
    TOO_OLD = "too_old"
    TOO_NEW = "too_new"
    DUPLICATE = "duplicate"
    UNKNOWN_MESSAGE = "unknown_message"
    UNKNOWN_TASK = "unknown_task"
    UNUSED_TASK = "unused_task"
    OTHER_INSTANCE = "other_instance"
    OWN_ECHO = "own_echo"
    SHUT_OUT = "shut_out"
    POOL_FULL = "pool_full"
    HELD_OUT = "held_out"
    UNFIT = "unfit"
    OTHER_QUESTION = "other_question"
    TIMED_OUT = "timed_out"
    PRIVATE_ADDRESS = "private_address"
    BUSY = "busy"


_MOST_EXAMINERS = 32
_UNVERIFIABLE = {Reason.OTHER_QUESTION, Reason.TIMED_OUT}
_IGNORED = {
    Reason.PRIVATE_ADDRESS,
    Reason.TOO_OLD,
    Reason.TOO_NEW,
    Reason.DUPLICATE,
    Reason.UNKNOWN_MESSAGE,
    Reason.UNKNOWN_TASK,
    Reason.UNUSED_TASK,
    Reason.OTHER_INSTANCE,
    Reason.OWN_ECHO,
    Reason.SHUT_OUT,
    Reason.POOL_FULL,
    Reason.HELD_OUT,
    Reason.UNFIT,
    Reason.BUSY,
}
OF_THE_AUTHOR = frozenset(
    {
        Reason.BAD_BODY,
        Reason.OTHER_NETWORK,
        Reason.NOT_ADMITTED,
        Reason.BAD_TEXT,
        Reason.SECOND_BODY,
        Reason.FLOODING,
    }
)
"""Invalid, and signed: charged to the author, whoever brought it. Every other invalid one is the link's."""


def kind_of(reason: Reason) -> Kind:
    """What a reason says about whom it befell."""
    if reason in _UNVERIFIABLE:
        return "unverifiable"
    return "ignored" if reason in _IGNORED else "invalid"


class Refused(Exception):
    """Something from a peer is not taken. Caught at the edge of each message or group, and counted there.

    `author`: the key whose signature held on what breaks the rules.
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
        """A question came out otherwise than its hash says. `examiner`: the fingerprint of the library with which the
        peer that handed it on makes questions, by its own word; so many are told apart, the others counted as one."""
        self.add(Reason.OTHER_QUESTION)
        is_room = examiner in self._other_questions or len(self._other_questions) < _MOST_EXAMINERS
        self._other_questions[examiner if is_room else b""] += 1

    @property
    def other_questions(self) -> dict[str, int]:
        """Counts by fingerprint in hex; empty: peers that named none, or one too many."""
        return {examiner.hex(): count for examiner, count in sorted(self._other_questions.items())}

    def __getitem__(self, reason: Reason) -> int:
        return self._counts[reason]

    def __iter__(self) -> Iterator[tuple[Reason, int]]:
        return iter(sorted(self._counts.items()))

    def by_kind(self) -> dict[str, dict[str, int]]:
        """As `status --json` shows them: kind -> reason -> count."""
        shown: dict[str, dict[str, int]] = {"invalid": {}, "unverifiable": {}, "ignored": {}}
        for reason, count in self:
            shown[kind_of(reason)][reason.value] = count
        return shown

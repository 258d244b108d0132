"""What clients ask about single answers: those that were learned from."""

from __future__ import annotations

import msgspec

from sapo_desktop.worker.control.messages.base import Exported, Message, Request


class RolloutFilter(Message, frozen=True, kw_only=True):
    """Which of the kept answers; what is empty or None leaves all in."""

    after: int = 0
    """Only of rounds after this one."""
    before: int | None = None
    """Only answers with an id below this one: the last id of a page that was read newest first."""
    task: str = ""
    """family/level, or a family."""
    origin: str = ""
    """own, peer or human."""
    verdict: str = ""
    search: str = ""
    """A piece of the question or the answer, letter by letter; ASCII letters in either case."""


class Rollout(msgspec.Struct, frozen=True, kw_only=True):
    """One kept answer; also a line of `history --rollouts` (docs/data/schema.json)."""

    id: int = 0
    """Grows with every answer that is kept."""
    round: int
    task: str
    seed: str
    """A whole number of 63 bits. As text, since jq, JavaScript and R read numbers as doubles and would round it."""
    question: str
    origin: str
    author: str
    completion: str
    solved: bool
    partial: float
    reward: float
    advantage: float
    verdict: str
    kind: str = "model"
    """model or human: who wrote it."""


class Rollouts(Message, frozen=True, kw_only=True):
    items: list[Rollout]
    more: bool


# -- requests ----------------------------------------------------------------------------------------------


class GetRollouts(RolloutFilter, Request[Rollouts], frozen=True, kw_only=True):
    """Kept answers: oldest first whole rounds of about `limit` answers, newest first at most `limit`."""

    limit: int = 200
    newest_first: bool = False


class ExportRollouts(RolloutFilter, Request[Exported], frozen=True, kw_only=True):
    """Write them to a file, oldest first, a JSON object a line."""

    to: str
    """In full."""
    replace: bool = False
    """Whether a file of that name may be written over."""

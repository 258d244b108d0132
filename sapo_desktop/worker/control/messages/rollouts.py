"""Messages about single answers that were learned from."""

from __future__ import annotations

import msgspec

from sapo_desktop.core.link.requests import Message, Request
from sapo_desktop.worker.control.messages.base import Exported


class RolloutFilter(Message, frozen=True, kw_only=True):
    """Selects stored answers; empty or None fields do not restrict."""

    after: int = 0
    """Only rounds after this one."""
    before: int | None = None
    """Only answers with a lower id: the last id of a page that was read newest first."""
    task: str = ""
    """family/level, or a family."""
    origin: str = ""
    """own, peer or human."""
    verdict: str = ""
    search: str = ""
    """Text contained in the question or answer; ASCII letters match in either case."""


class Rollout(msgspec.Struct, frozen=True, kw_only=True):
    """One stored answer; also a line of `history --rollouts` (docs/data/schema.json)."""

    id: int = 0
    """Grows with every stored answer."""
    round: int
    task: str
    seed: str
    """A whole number of 63 bits. As text, because jq, JavaScript and R read numbers as doubles and would round it."""
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
    """Stored answers: oldest first, whole rounds with about `limit` answers; newest first, at most `limit`."""

    limit: int = 200
    newest_first: bool = False


class ExportRollouts(RolloutFilter, Request[Exported], frozen=True, kw_only=True):
    """Write them to a file, oldest first, one JSON object per line."""

    to: str
    """The full path."""
    replace: bool = False
    """Whether an existing file may be overwritten."""

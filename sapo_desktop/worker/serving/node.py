"""The current node's model; during a replacement, callers wait for the next node."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from sapo_desktop.core.records import Exchange, Generated, Sampling
from sapo_desktop.worker.hosts.engine import Spoken
from sapo_desktop.worker.serving.server import ModelFacts

if TYPE_CHECKING:
    from sapo_desktop.worker.control.handlers.requests import Requests


class NodeModel:
    """Answers with the node that `requests` returns."""

    def __init__(self, requests: Callable[[], Awaitable[Requests]]) -> None:
        self._requests = requests

    async def facts(self) -> ModelFacts:
        return (await self._requests()).model_facts()

    async def answer(
        self, question: str, turns: list[Exchange], system: str | None, sampling: Sampling, spoken: Spoken
    ) -> Generated:
        return await (await self._requests()).answer_program(question, turns, system, sampling, spoken)

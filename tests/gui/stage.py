"""A bridge without a worker: pages ask it, and it answers with what a test or a screenshot put on stage."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from PySide6.QtCore import QObject

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.link.requests import Message, Request
from sapo_desktop.gui.link.bridge import Answer, Bridge, Call, Failure
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.view.link import Arrival
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.requests import (
    Finish,
    JoinSwarm,
    Pause,
    ResetSettings,
    Resume,
    SetSettings,
    SetSilo,
    StartRounds,
)

ORDERS = (SetSettings, ResetSettings, StartRounds, Resume, Pause, Finish, SetSilo, JoinSwarm)
"""Answered with Ok."""


class StageBridge(Bridge):
    """`replies`: by the request's type, a reply, an error, or a
    function of the request; what has none is answered `Ok()`."""

    def __init__(self, view: View) -> None:
        super().__init__(Path("/home/you/.local/share/sapo-desktop"), view)
        self.replies: dict[type[msgspec.Struct], Message | SapoError | Callable[[Any], Message]] = {}
        self.asked: list[Request] = []
        self.tries = 0

    def ask(self, request: Request, then: Answer | None = None, failed: Failure | None = None, *, of: QObject) -> Call:
        self.asked.append(request)
        self._answer(request, then, failed)
        call = Call()
        call.set_result(Ok())
        return call

    def _answer(self, request: Request, then: Answer | None, failed: Failure | None) -> None:
        reply = self.replies.get(type(request), Ok())
        if callable(reply):
            reply = reply(request)
        if isinstance(reply, SapoError):
            if failed:
                failed(reply)
            else:
                self.trouble.emit(in_words(reply))
        elif then is not None:
            # What is not prepared and no order stays without an answer, as from a slow node.
            if type(request) in self.replies or isinstance(request, ORDERS):
                then(reply)
        elif isinstance(reply, Ok) and reply.text:
            self.said.emit(in_words(reply.text))

    def asked_for(self, kind: type[msgspec.Struct]) -> list[Any]:
        """The requests of this type, oldest first."""
        return [request for request in self.asked if isinstance(request, kind)]

    def tell(self, *arrivals: Arrival) -> None:
        """Let these arrive from the worker."""
        changed: set[Any] = set()
        for arrival in arrivals:
            changed |= self.view.take(arrival)
        self.changed.emit(frozenset(changed))

    def try_again(self) -> None:
        self.tries += 1

    def watch_swarm(self, on: bool) -> None:
        pass

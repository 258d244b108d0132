"""Answers to the next round's questions, made beside this one's step.

They are of the adapter before that step, so no later state of the engine can make them again: a checkpoint holds them,
and a resumed run repeats an unbroken one. They stay until the next step, for a round that is given up and played again.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from sapo_desktop.core.errors import CheckpointError
from sapo_desktop.core.files.durable import disk_errors_as
from sapo_desktop.core.files.reading import UNREADABLE
from sapo_desktop.core.sentences import sentence
from sapo_desktop.engines.protocols import Generate, Generated

FILE = "ahead.msgpack"
"""In a checkpoint's folder."""


class _Made(msgspec.Struct, frozen=True):
    request: Generate
    answers: Generated


class Ahead:
    """What is asked ahead, and what came of it."""

    def __init__(self) -> None:
        self._wanted: Generate | None = None
        self._made: _Made | None = None

    def want(self, request: Generate) -> None:
        """Have this answered beside the next step."""
        self._wanted = request

    def begin(self) -> Generate | None:
        """What is to be answered beside the step that begins now. What was made beside the one before is over."""
        wanted, self._wanted, self._made = self._wanted, None, None
        return wanted

    def made(self, request: Generate, answers: Generated) -> None:
        self._made = _Made(request, answers)

    def answers_to(self, request: Generate) -> Generated | None:
        """What was made for just this request; None where it has to be answered in its turn."""
        return self._made.answers if self._made is not None and self._made.request == request else None

    def forget(self) -> None:
        """The engine holds another state from now on."""
        self._wanted = self._made = None

    def save(self, folder: Path) -> None:
        """Keep it with the checkpoint in `folder`. Raises CheckpointError."""
        if self._made is not None:
            with disk_errors_as(CheckpointError, sentence("The answers could not be saved")):
                (folder / FILE).write_bytes(msgspec.msgpack.encode(self._made))

    def restore(self, folder: Path) -> None:
        """Have what that checkpoint has; of another version's nothing, and the next round is answered in its turn.
        Raises CheckpointError."""
        self.forget()
        try:
            with disk_errors_as(CheckpointError, sentence("The saved answers could not be read")):
                raw = (folder / FILE).read_bytes() if (folder / FILE).exists() else b""
            self._made = msgspec.msgpack.decode(raw, type=_Made) if raw else None
        except UNREADABLE:
            self._made = None

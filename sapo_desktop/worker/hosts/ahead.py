"""Answers to the next round's questions, generated during this round's step.

They come from the adapter before that step, so no later state of the engine can recreate them. A checkpoint stores
them, and a resumed run equals an unbroken one. They stay until the next step, in case a round is dropped and repeated.
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
    """A request in advance, and its result."""

    def __init__(self) -> None:
        self._wanted: Generate | None = None
        self._made: _Made | None = None

    def want(self, request: Generate) -> None:
        """Answer this during the next step."""
        self._wanted = request

    def begin(self) -> Generate | None:
        """What to answer during the step that starts now. The previous result is dropped."""
        wanted, self._wanted, self._made = self._wanted, None, None
        return wanted

    def made(self, request: Generate, answers: Generated) -> None:
        self._made = _Made(request, answers)

    def answers_to(self, request: Generate) -> Generated | None:
        """The result for exactly this request; None if it must be answered now."""
        return self._made.answers if self._made is not None and self._made.request == request else None

    def forget(self) -> None:
        """The engine has another state from now on."""
        self._wanted = self._made = None

    def save(self, folder: Path) -> None:
        """Store it with the checkpoint in `folder`. Raises CheckpointError."""
        if self._made is not None:
            with disk_errors_as(CheckpointError, sentence("The answers could not be saved")):
                (folder / FILE).write_bytes(msgspec.msgpack.encode(self._made))

    def restore(self, folder: Path) -> None:
        """Load what that checkpoint has. If it is from another version, nothing is loaded, and the next round is
        answered as usual. Raises CheckpointError."""
        self.forget()
        try:
            with disk_errors_as(CheckpointError, sentence("The saved answers could not be read")):
                raw = (folder / FILE).read_bytes() if (folder / FILE).exists() else b""
            self._made = msgspec.msgpack.decode(raw, type=_Made) if raw else None
        except UNREADABLE:
            self._made = None

"""Requests to the model: a client's own question, one of a task, and an example of a published message.

An answer can be followed while it is written: with `stream`, a number chosen by the client, events report it.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from sapo_desktop.core.link.requests import Message, Request
from sapo_desktop.core.records import Exchange, Mark
from sapo_desktop.core.sentences import Text
from sapo_desktop.worker.control.messages.base import CheckpointName

MOST_TURNS = 50
"""Maximum turns of a chat before the question, because more make a template slower."""


class Asked(Message, frozen=True, kw_only=True):
    text: str
    tokens: int
    seconds: float
    prompt: str = ""
    """Everything that the model got, in its own template."""
    prompt_tokens: int = 0
    context: int = 0
    """Tokens that the model reads at once, prompt and answer together; 0: unknown."""


class Tried(Message, frozen=True, kw_only=True):
    task: str
    seed: int
    question: str
    completion: str
    mark: Mark
    truth: str


class QuestionSet(Message, frozen=True, kw_only=True):
    task: str
    seed: int
    question: str
    example: Text
    """The required form of an answer, in plain words."""


class EnvelopePreview(Message, frozen=True, kw_only=True):
    """An example of a message, with real answers."""

    text: str
    """The whole message as JSON: bytes as hex, compressed parts decompressed."""
    bytes: int
    """Its size when sent."""
    signed: bool
    """Whether this node's own key signed it, or a temporary one."""
    task: str


# -- events ------------------------------------------------------------------------------------------------


class AskProgressed(Message, frozen=True, kw_only=True):
    """An answer while it is written, a few times a second. The reply contains all of it."""

    stream: int
    text: str
    """From its beginning."""
    tokens: int


# -- requests ----------------------------------------------------------------------------------------------


class Ask(Request[Asked], frozen=True, kw_only=True):
    question: str
    turns: Annotated[tuple[Exchange, ...], Meta(max_length=MOST_TURNS)] = ()
    """In a chat: the previous questions with their answers, oldest first."""
    checkpoint: CheckpointName = "last"
    greedy: bool = True
    stream: int = 0
    """If not 0, AskProgressed events with this number report the answer."""


class TryTask(Request[Tried], frozen=True, kw_only=True):
    """Set one question of a task; score `answer` if it is given, otherwise let the model answer."""

    task: str
    seed: int | None = None
    answer: str | None = None
    checkpoint: CheckpointName = "last"
    stream: int = 0
    """See Ask."""


class SetQuestion(Request[QuestionSet], frozen=True, kw_only=True):
    """Set one question of a task, for several TryTask requests with its seed."""

    task: str
    seed: int | None = None


class PreviewEnvelope(Request[EnvelopePreview], frozen=True, kw_only=True):
    """Make an example of a published message. Nothing is sent."""

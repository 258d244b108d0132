"""What clients ask of the model: a question of their own, one of a task, and a message as it would be published.

An answer can be followed while it is written: with `stream`, a number that the client chooses, events tell of it.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from sapo_desktop.core.records import Exchange, Mark
from sapo_desktop.core.sentences import Text
from sapo_desktop.worker.control.messages.base import CheckpointName, Message, Request

MOST_TURNS = 50
"""Of a chat before the question: a template takes the longer the more there are."""


class Asked(Message, frozen=True, kw_only=True):
    text: str
    tokens: int
    seconds: float
    prompt: str = ""
    """All that the model was given, in its own template."""
    prompt_tokens: int = 0
    context: int = 0
    """Tokens that the model reads at once, prompt and answer together; 0: not known."""


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
    """What an answer must look like, in plain words."""


class EnvelopePreview(Message, frozen=True, kw_only=True):
    """A message with real answers."""

    text: str
    """All of it as JSON: bytes as hex, what travels compressed as what it holds."""
    bytes: int
    """That would be sent."""
    signed: bool
    """Whether this node's own key signed it; else one that was thrown away."""
    task: str


# -- events ------------------------------------------------------------------------------------------------


class AskProgressed(Message, frozen=True, kw_only=True):
    """An answer while it is written; a few times a second. The reply has all of it."""

    stream: int
    text: str
    """From its beginning."""
    tokens: int


# -- requests ----------------------------------------------------------------------------------------------


class Ask(Request[Asked], frozen=True, kw_only=True):
    question: str
    turns: Annotated[tuple[Exchange, ...], Meta(max_length=MOST_TURNS)] = ()
    """In a chat: the questions before this one with their answers, oldest first."""
    checkpoint: CheckpointName = "last"
    greedy: bool = True
    stream: int = 0
    """Not 0: AskProgressed events with this number tell how far the answer is."""


class TryTask(Request[Tried], frozen=True, kw_only=True):
    """Set one question of a task; with `answer` mark that answer, else let the model answer and mark it."""

    task: str
    seed: int | None = None
    answer: str | None = None
    checkpoint: CheckpointName = "last"
    stream: int = 0
    """As in Ask."""


class SetQuestion(Request[QuestionSet], frozen=True, kw_only=True):
    """Set one question of a task, for several TryTask with its seed."""

    task: str
    seed: int | None = None


class PreviewEnvelope(Request[EnvelopePreview], frozen=True, kw_only=True):
    """Make a message as this node would publish it, and show it. Nothing is sent."""

"""What a model is asked: the one place where a question becomes a prompt, for every engine and every purpose.

A model without a chat template was made to go on after the bare question. One whose vocabulary has the answer's tag as
a token, the starter and what is made of it, was made to answer in tags: it gets the bare question in its template.
Every other is told in a system message to reason and to put its answer between tags, as the swarm of the paper and the
usual evaluations of these tasks do: bare questions are answered with "The answer is 6.", in which no marker finds a 6.
A template that knows no system role, or drops what it says, gets the same words at the head of the user's turn.
Rounds, validation, foreign groups and `ask` all come through here, so what is trained is what is scored and used.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from sapo_desktop.core.errors import ModelError
from sapo_desktop.engines.chat_template import ChatTemplate, Piece

INSTRUCTIONS = (
    "Answer the question by reasoning step by step, clearly and briefly. Once you know the answer, end with it in this "
    "form:\n<answer>the answer</answer>\nPut nothing but the final answer between the tags, and nothing after them. If "
    "the question shows what an answer looks like, keep exactly to that form."
)
TAG = "<answer>"
"""As core/extraction.py has it."""


class _Told(NamedTuple):
    """What the user says, and what is said before; empty where nothing is."""

    user: str
    system: str


class Prompter:
    """Makes one model's prompts. `special`: how its special tokens are written; `has_tag`: whether `TAG` is a token."""

    def __init__(self, template: ChatTemplate | None, special: Sequence[str], *, has_tag: bool) -> None:
        self._template = template
        self._has_tag = has_tag
        self._special = tuple(special)

    def pieces(self, question: str) -> list[Piece]:
        """The prompt for a question, in one piece but where the question spells a special token.

        Raises:
            ModelError: the template takes no question.
        """
        harmless = not any(special in question for special in self._special)
        if self._template is None:
            return [Piece(question, is_template=harmless)]
        told = self._told(question)
        pieces = self._template.pieces(told.user, told.system)
        return [Piece("".join(piece.text for piece in pieces), is_template=True)] if harmless else pieces

    @property
    def is_chat(self) -> bool:
        return self._template is not None

    @cached_property
    def has_system_role(self) -> bool:
        """Whether the template hands on what a system message says."""
        assert self._template is not None
        try:
            return INSTRUCTIONS in self._template.user_turn("", INSTRUCTIONS)
        except ModelError:
            return False

    def messages(self, question: str) -> list[dict[str, str]]:
        """The conversation that the prompt stands for, for servers that have a template of their own."""
        told = self._told(question)
        user = {"role": "user", "content": told.user}
        return [{"role": "system", "content": told.system}, user] if told.system else [user]

    def _told(self, question: str) -> _Told:
        if self._template is None or self._has_tag:
            return _Told(question, "")
        if self.has_system_role:
            return _Told(question, INSTRUCTIONS)
        return _Told(f"{INSTRUCTIONS}\n\n{question}", "")

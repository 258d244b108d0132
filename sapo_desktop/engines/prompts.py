"""What a model is asked: the one place where a question becomes a prompt, for every engine and every purpose.

A model without a chat template continues after the bare question. A model whose vocabulary has the answer's tag as a
token, such as the starter, was made to answer in tags: it gets the bare question in its template. Every other model is
asked in a system message to put its answer between tags, and is shown worked examples as finished exchanges: without
the instruction it answers "The answer is 6.", in which no examiner finds a 6; without an example a small model hardly
ever writes the tags (docs/prompts.md). A template that has no system role, or drops its message, gets the same words
at the head of the user's first turn. Rounds, evaluations, external groups and `ask` all come through here, so what is
trained is what is scored and used.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.records import Prompt
from sapo_desktop.engines.chat_template import ChatTemplate, Piece

INSTRUCTIONS = "Work it out, then end with the final answer in this form:\n<answer>the answer</answer>"
TAG = "<answer>"
"""As core/extraction.py has it."""


class _Said(NamedTuple):
    """A conversation up to the question; `system` is empty where there is no such message."""

    system: str
    shown: list[tuple[str, str]]
    question: str


class Prompter:
    """Makes one model's prompts. `special`: how its special tokens are written; `has_tag`: whether `TAG` is a token."""

    def __init__(self, template: ChatTemplate | None, special: Sequence[str], *, has_tag: bool) -> None:
        self._template = template
        self._has_tag = has_tag
        self._special = tuple(special)

    def pieces(self, prompt: Prompt) -> list[Piece]:
        """The prompt for a question, in one piece but where the question spells a special token.

        Raises:
            ModelError: the template takes no question.
        """
        said = self._said(prompt)
        texts = [said.question, *(text for exchange in said.shown for text in exchange)]
        harmless = not any(special in text for special in self._special for text in texts)
        if self._template is None:
            before = "".join(f"{question}\n{answer}\n\n" for question, answer in said.shown)
            return [Piece(f"{before}{said.question}\n" if before else said.question, is_template=harmless)]
        pieces = self._template.pieces(said.question, said.system, said.shown)
        return [Piece("".join(piece.text for piece in pieces), is_template=True)] if harmless else pieces

    @property
    def is_chat(self) -> bool:
        return self._template is not None

    @property
    def learns_from_examples(self) -> bool:
        """Whether showing examples can help: not a model that was made to answer these questions in tags."""
        return not self._has_tag

    @cached_property
    def has_system_role(self) -> bool:
        """Whether the template hands on what a system message says."""
        assert self._template is not None
        try:
            return INSTRUCTIONS in self._template.user_turn("", INSTRUCTIONS)
        except ModelError:
            return False

    def messages(self, prompt: Prompt) -> list[dict[str, str]]:
        """The conversation that the prompt stands for, for servers that have a template of their own."""
        said = self._said(prompt)
        turns = [("system", said.system)] if said.system else []
        for question, answer in said.shown:
            turns += [("user", question), ("assistant", answer)]
        return [{"role": role, "content": text} for role, text in [*turns, ("user", said.question)]]

    def _said(self, prompt: Prompt) -> _Said:
        question, shown = prompt.question, [(one.question, one.answer) for one in prompt.shown]
        if self._has_tag:
            return _Said("", [], question)
        if self._template is None or self.has_system_role:
            return _Said("" if self._template is None else INSTRUCTIONS, shown, question)
        if not shown:
            return _Said("", [], f"{INSTRUCTIONS}\n\n{question}")
        (first, answer), *rest = shown
        return _Said("", [(f"{INSTRUCTIONS}\n\n{first}", answer), *rest], question)

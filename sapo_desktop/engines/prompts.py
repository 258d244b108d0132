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
        harmless = not any(map(self._spells_special, texts))
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

    def text(self, prompt: Prompt) -> str:
        """The prompt for a question as a person can read it. Raises ModelError as `pieces`."""
        return "".join(piece.text for piece in self.pieces(prompt))

    def _spells_special(self, text: str) -> bool:
        return any(special in text for special in self._special)

    def _said(self, prompt: Prompt) -> _Said:
        # A model that was made to answer in tags is shown nothing, but a chat's earlier turns are part of the question.
        before = prompt.turns if self._has_tag else (*prompt.shown, *prompt.turns)
        said = [(one.question, one.answer) for one in before]
        system = prompt.system
        if system is None:
            system = "" if self._has_tag or self._template is None else INSTRUCTIONS
        # A system message stands in the template, where a special token would be one: in the first turn it is text.
        as_message = self._template is not None and self.has_system_role and not self._spells_special(system)
        if not system or as_message:
            return _Said(system, said, prompt.question)
        if not said:
            return _Said("", [], f"{system}\n\n{prompt.question}")
        (first, answer), *rest = said
        return _Said("", [(f"{system}\n\n{first}", answer), *rest], prompt.question)

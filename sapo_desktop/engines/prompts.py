"""What a model is asked: the one place where a question becomes a prompt, for all engines and purposes.

A model without a chat template continues after the bare question. A model whose vocabulary has the answer's tag as a
token, such as the starter, was made to answer in tags: it gets the bare question in its template. For every other
model, a system message asks for tags around the answer, and worked examples follow as finished exchanges. Without that
message it answers "The answer is 6.", in which no examiner finds a 6; without an example a small model rarely writes
the tags (docs/prompts.md).

If a template has no system role, or drops its message, the same words start the user's first turn. Rounds, evaluations,
external groups and `ask` all use this module, so training, scores and use agree.
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
"""The tag of core/extraction.py."""


class _Said(NamedTuple):
    """A conversation up to the question; `system` is empty if there is no such message."""

    system: str
    shown: list[tuple[str, str]]
    question: str


class Prompter:
    """Makes one model's prompts. `special`: the texts of its special tokens; `has_tag`: whether `TAG` is a token."""

    def __init__(self, template: ChatTemplate | None, special: Sequence[str], *, has_tag: bool) -> None:
        self._template = template
        self._has_tag = has_tag
        self._special = tuple(special)

    def pieces(self, prompt: Prompt) -> list[Piece]:
        """The prompt for a question; one piece unless the question spells a special token.

        Raises:
            ModelError: the template accepts no question.
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
        """Whether examples can help: not with a model made to answer these questions in tags."""
        return not self._has_tag

    @cached_property
    def has_system_role(self) -> bool:
        """Whether the template uses the content of a system message."""
        assert self._template is not None
        try:
            return INSTRUCTIONS in self._template.user_turn("", INSTRUCTIONS)
        except ModelError:
            return False

    def messages(self, prompt: Prompt) -> list[dict[str, str]]:
        """The prompt as a conversation, for servers with their own template."""
        said = self._said(prompt)
        turns = [("system", said.system)] if said.system else []
        for question, answer in said.shown:
            turns += [("user", question), ("assistant", answer)]
        return [{"role": role, "content": text} for role, text in [*turns, ("user", said.question)]]

    def text(self, prompt: Prompt) -> str:
        """The prompt for a question as readable text. Raises ModelError as `pieces`."""
        return "".join(piece.text for piece in self.pieces(prompt))

    def _spells_special(self, text: str) -> bool:
        return any(special in text for special in self._special)

    def _said(self, prompt: Prompt) -> _Said:
        # A model made to answer in tags gets no examples, but a chat's earlier turns are part of the question.
        before = prompt.turns if self._has_tag else (*prompt.shown, *prompt.turns)
        said = [(one.question, one.answer) for one in before]
        system = prompt.system
        if system is None:
            system = "" if self._has_tag or self._template is None else INSTRUCTIONS
        # In the template's system message a special token would be a real one; in the first turn it is text.
        as_message = self._template is not None and self.has_system_role and not self._spells_special(system)
        if not system or as_message:
            return _Said(system, said, prompt.question)
        if not said:
            return _Said("", [], f"{system}\n\n{prompt.question}")
        (first, answer), *rest = said
        return _Said("", [(f"{system}\n\n{first}", answer), *rest], prompt.question)

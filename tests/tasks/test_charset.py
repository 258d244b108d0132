"""The characters of answers that may be shared."""

import pytest

from sapo_desktop.core.resources import resource
from sapo_desktop.tasks.catalogue import load_catalogue
from sapo_desktop.tasks.charset import belongs
from sapo_desktop.tasks.grammars import GRAMMARS

GRAMMAR_NAMES = {family.grammar for family in load_catalogue(resource("tasks.toml")).families}


@pytest.mark.parametrize("grammar", sorted(GRAMMAR_NAMES))
def test_plain_reasoning_belongs_everywhere(grammar: str) -> None:
    assert grammar in GRAMMARS
    assert belongs("First, 12 × 3 = 36.\n\tThat’s it — “36” <answer>36</answer>", grammar)


def test_connectives_belong_to_formulas_only() -> None:
    assert belongs("1 says <answer>(P → ¬Q) ∨ R</answer>", "formula")
    assert not belongs("P → Q", "integer")


@pytest.mark.parametrize(
    "text", ["привет", "你好", "😀", "\x00", "\x1b[2J", "a\u202eb", "\ud800", "\r", "\u00a0", "e\u0301"]
)
def test_other_scripts_pictures_and_control_signs_do_not(text: str) -> None:
    assert not belongs(text, "formula")

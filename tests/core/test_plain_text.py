"""Nothing that a model or a peer writes reaches a terminal as more than plain text."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapo_desktop.core.plain_text import clean, one_line, shortened

HOSTILE = [
    ("\x1b[31mred\x1b[0m", "red"),
    ("\x1b[2J\x1b[Hgone", "gone"),
    ("\x1b]0;title\x07after", "after"),
    ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
    ("\x1b]52;c;ZXZpbA==\x07clipboard", "clipboard"),
    ("\x9b31mc1", "c1"),
    ("\x9d0;title\x9cafter", "after"),
    ("\x1bP1$r\x1b\\device", "device"),
    ("\x1b(0box", "box"),
    ("\x1b[", ""),
    ("tail\x1b", "tail"),
    ("a\x00b\x08c\x7fd", "abcd"),
    ("left\u202eright\u2066iso\u2069", "leftrightiso"),
    ("zero\u200bwidth\ufeff\u200e", "zerowidth"),
    ("a\rb\x0bc\x0cd\x85e\u2028f\u2029g", "a\nb\nc\nd\ne\nf\ng"),
    ("\u3164\u2800blank", "blank"),
    ("\U000e0041\U000e0042tags", "tags"),
    ("\ue000private", "private"),
    ("plain text, Ελληνικά, 日本語, e\u0301", "plain text, Ελληνικά, 日本語, e\u0301"),
    ("[bold red]markup[/]", "[bold red]markup[/]"),
]


@pytest.mark.parametrize(("text", "shown"), HOSTILE)
def test_what_is_unsafe_is_dropped_and_the_rest_stays(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_towers_of_combining_marks_are_cut() -> None:
    assert clean("e" + "\u0301" * 1000 + "x") == "e" + "\u0301" * 4 + "x"


@given(st.text(alphabet=st.characters(), max_size=200))
def test_no_control_or_format_character_survives(text: str) -> None:
    kept = clean(text).replace("\n", "")
    assert not [c for c in kept if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn")]


@given(st.text(alphabet="\x1b[]\\P;?0123mhJ\x07\x9b\x9c\x9dab \n\r", max_size=100))
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)


def test_one_line_is_one_line_and_bounded() -> None:
    assert one_line(" a\n\n b\tc ") == "a b c"
    assert len(one_line("x" * 1_000_000)) == 400


def test_what_is_shortened_ends_with_a_whole_word_and_says_that_it_was_cut() -> None:
    assert shortened("one two three", 13) == "one two three"
    assert shortened("one two three four", 13) == "one two three…"
    assert shortened("one two thirteen", 12) == "one two…"
    assert shortened("x" * 20, 10) == "xxxxxxxxx…"

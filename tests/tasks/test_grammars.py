"""What each grammar accepts, and that it refuses everything else."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapo_desktop.core.errors import TaskError
from sapo_desktop.tasks.grammars import FORMS, GRAMMARS, MAX_ANSWER, parse_answer
from sapo_desktop.tasks.spellings import SPELLINGS, spelled


@pytest.mark.parametrize(
    ("grammar", "text", "canonical"),
    [
        ("integer", "42", "42"),
        ("integer", " +042 ", "42"),
        ("integer", "-0", "0"),
        ("integer", "1,234,567", "1234567"),
        ("integer", "1,23", None),
        ("integer", "0,125", None),
        ("integer", "1 234 567", "1234567"),
        ("integer", "12 18", None),
        ("integer", "−1444", "-1444"),
        ("integer", "**6**", "6"),
        ("integer", "$\\boxed{6}$.", "6"),
        ("integer", "x = -3", "-3"),
        ("integer", "GCD = 6.", "6"),
        ("integer", "12 = 6", None),
        ("integer", "3.", "3"),
        ("integer", ".5", None),
        ("integer", "24 legs", "24"),
        ("integer", "5 1 bits", "5"),
        ("integer", "11 bits", "11"),
        ("integer", "24 apples", None),
        ("integer", "6 or 7 times", None),
        ("integer", "x", None),
        ("integer", "=", None),
        ("integer", "12.000", "12"),
        ("integer", "12.5", None),
        ("integer", "1e3", None),
        ("integer", "٤٢", None),
        ("integer", "4_2", None),
        ("integer", "9**9", None),
        ("integer", "9" * 41, None),
        ("decimal", "1.50", "1.5"),
        ("decimal", "-0.00", "0"),
        ("decimal", "100", "100"),
        ("decimal", "1.5E+1", "15"),
        ("decimal", "1.2E-7", "0.00000012"),
        ("decimal", "1,080.8", "1080.8"),
        ("decimal", "0,125", None),
        ("decimal", "-.039604", "-0.039604"),
        ("decimal", "75°", "75"),
        ("decimal", "75.0 degrees.", "75"),
        ("decimal", "$75^\\circ$", "75"),
        ("decimal", ".", None),
        ("decimal", "1e99", None),
        ("decimal", "1e999999999", None),
        ("decimal", "nan", None),
        ("decimal", "Infinity", None),
        ("decimal", ".5", "0.5"),
        ("digits", "0FF", "ff"),
        ("digits", "000", "0"),
        ("digits", "f f", None),
        ("digits", "-ff", None),
        ("word", "tsrow", "tsrow"),
        ("word", "Two words", None),
        ("word", '"tsrow"', "tsrow"),
        ("word", "**tsrow**.", "tsrow"),
        ("word", "naïve", None),
        ("capitals", "the  brown\nfox", "THE BROWN FOX"),
        ("capitals", "THE BROWN FOX.", "THE BROWN FOX"),
        ("digits_row", "0 1  2", "0 1 2"),
        ("digits_row", "[0, 1, 2]", "0 1 2"),
        ("digits_row", "[]", None),
        ("digits_row", "[[0]]", None),
        ("digits_row", "0 1 -2", None),
        ("matrix", "0 1\n1 0", "0 1\n1 0"),
        ("matrix", "[[0, 1],\n [1, 0]]", "0 1\n1 0"),
        ("matrix", "[0, 1]", None),
        ("matrix", "0 1\n1", None),
        ("matrix", "[[0],[1]],[[2]]", None),
        ("matrix", "[[0],[[1]]]", None),
        ("matrix", "[[9**9]]", None),
        ("matrix", "[[0,1],[1,0]]; 1", None),
        ("fraction", "3/4", "3/4"),
        ("fraction", "$3/4$", "3/4"),
        ("fraction", "$\\frac{3}{4}$", "3/4"),
        ("fraction", "\\dfrac{3}{4}", "3/4"),
        ("fraction", "03 / 4", "3/4"),
        ("fraction", "1", "1/1"),
        ("fraction", "**3/4**", "3/4"),
        ("fraction", "\\boxed{\\frac{3}{4}}", "3/4"),
        ("fraction", "x = 3/4", "3/4"),
        ("fraction", "3/4 xxxx", None),
        ("fraction", "$\\frac{3}{4}$xxxx", None),
        ("fraction", "-3/4", None),
        ("fraction", "3/4/5", None),
        ("factors", "3 × 2 × 2", "2 × 2 × 3"),
        ("factors", "2*2*3", "2 × 2 × 3"),
        ("factors", "13", "13"),
        ("factors", "$2 \\times 2 \\times 3$", "2 × 2 × 3"),
        ("factors", "2 ×", None),
        ("factors", "2^2 × 3", None),
        ("calendar", "monday", "Monday"),
        ("calendar", "YES", "Yes"),
        ("calendar", "17", "17"),
        ("calendar", "17th", "17"),
        ("calendar", "4 Mondays", "4"),
        ("calendar", "**Yes**.", "Yes"),
        ("calendar", "Mondays", None),
        ("calendar", "Monday.", "Monday"),
        ("ab", "A#  #B", "A# #B"),
        ("ab", "", ""),
        ("ab", "A##B", None),
        ("formula", "P ∨ Q", "(P ∨ Q)"),
        ("formula", "**P ∨ Q**.", "(P ∨ Q)"),
    ],
)
def test_canonical_forms(grammar: str, text: str, canonical: str | None) -> None:
    assert parse_answer(grammar, text) == canonical


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_an_answer_that_is_too_long_is_refused(grammar: str) -> None:
    assert parse_answer(grammar, "1" * (MAX_ANSWER + 1)) is None
    assert parse_answer(grammar, " " * MAX_ANSWER + "1") is None


def test_an_unknown_grammar_is_an_error() -> None:
    with pytest.raises(TaskError, match="no answer grammar"):
        parse_answer("perl", "1")


LIKELY = st.text(alphabet="0123456789 ,.[]\n+-eE/$\\{}frac#ABabxyz×*¬∧∨→↔()PQYesMonday", max_size=80)


@pytest.mark.parametrize("grammar", GRAMMARS)
@given(text=LIKELY | st.text(max_size=200))
def test_never_raises_and_canonical_forms_read_as_themselves(grammar: str, text: str) -> None:
    canonical = parse_answer(grammar, text)
    if canonical is not None and len(canonical) <= 256:
        assert parse_answer(grammar, canonical) == canonical
        assert not canonical.startswith(" ")
        # Words are only ever compared (own tasks); what else parses reaches scorers that evaluate.
        assert grammar == "text" or ("_" not in canonical and "'" not in canonical)


SMALL = st.integers(0, 10**9)
ROW = st.lists(st.integers(0, 999), min_size=1, max_size=5)
LITERAL = st.sampled_from(["P", "¬Q", "(R ∨ S)", "¬(P → Q)"])
WRITTEN = {
    "integer": st.integers(-(10**12), 10**12).map(str),
    "decimal": st.decimals(-(10**9), 10**9, places=6).map(str),
    "digits": SMALL.map("{:x}".format),
    "digits_row": ROW.map(str),
    "matrix": ROW.map(lambda row: str([row, row])),
    "fraction": st.tuples(SMALL, SMALL).map("{0[0]}/{0[1]}".format),
    "factors": ROW.map(lambda row: "*".join(map(str, row))),
    "formula": st.tuples(LITERAL, st.sampled_from("∧∨→↔"), LITERAL).map(" ".join),
}


@pytest.mark.parametrize("grammar", SPELLINGS)
@given(data=st.data())
def test_every_usual_spelling_reads_as_its_canonical_form(grammar: str, data: st.DataObject) -> None:
    canonical = parse_answer(grammar, data.draw(WRITTEN[grammar]))
    assert canonical is not None
    for spelling in SPELLINGS[grammar](canonical):
        assert parse_answer(grammar, spelling) == canonical
        assert spelled(grammar, canonical, f" {spelling} ") == spelling


@pytest.mark.parametrize(
    ("grammar", "written", "kept"),
    [
        ("fraction", "$\\frac{1}{4}$", "$\\frac{1}{4}$"),
        ("fraction", "\\dfrac{1}{4}", "\\dfrac{1}{4}"),
        ("fraction", "$1/4$", "$1/4$"),
        ("fraction", "\\frac{ 01 }{4}", "1/4"),
        ("fraction", "1", "1"),
        ("decimal", "23.80", "23.80"),
        ("decimal", "23.80000000", "23.8"),
        ("decimal", "2.38e1", "23.8"),
        ("integer", "1,234,567", "1,234,567"),
        ("integer", "+1234567.0", "1234567"),
        ("factors", "2 x 3 x 3", "2 x 3 x 3"),
        ("factors", "3 x 2 x 3", "2 × 3 × 3"),
        ("matrix", "[[0, 1], [1, 0]]", "[[0, 1], [1, 0]]"),
        ("matrix", "[[0,  1],   [1, 0]]", "0 1\n1 0"),
        ("digits", "1F", "1F"),
        ("digits_row", "[0, 1]", "[0, 1]"),
        ("formula", "P ∧ ¬Q", "P ∧ ¬Q"),
        ("word", "Lisbon", "Lisbon"),
    ],
)
def test_a_usual_spelling_is_kept_and_no_other(grammar: str, written: str, kept: str) -> None:
    canonical = parse_answer(grammar, written)
    assert canonical is not None and spelled(grammar, canonical, written) == kept


@pytest.mark.parametrize("grammar", GRAMMARS)
@pytest.mark.parametrize(
    "piece", ["1", "1,", "1 ", "[", "[1,", "(", "¬", "P∨", "A ", "x", "2×", "/", "\\frac{1}{", "1.0"]
)
def test_the_longest_answers_take_no_time(grammar: str, piece: str) -> None:
    text = (piece * MAX_ANSWER)[:MAX_ANSWER]
    started = time.process_time()
    for _ in range(5):
        parse_answer(grammar, text)
    assert time.process_time() - started < 0.1


def test_the_example_in_each_forms_words_is_of_that_form() -> None:
    assert set(FORMS) == set(GRAMMARS)
    for grammar, words in ((grammar, str(form)) for grammar, form in FORMS.items()):
        example = words.partition("like ")[2]
        assert not example or parse_answer(grammar, example) is not None, words

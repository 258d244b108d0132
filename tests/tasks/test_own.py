"""A CSV of questions and answers is a family, or is refused with the line and the reason."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.resources import resource
from sapo_desktop.core.sentences import sentence
from sapo_desktop.tasks.catalogue import Catalogue, Family, load_catalogue, parse_tasks, still_there
from sapo_desktop.tasks.charset import belongs
from sapo_desktop.tasks.grammars import parse_answer
from sapo_desktop.tasks.identity import ids_key
from sapo_desktop.tasks.own import family as parsing
from sapo_desktop.tasks.own import folder as own
from sapo_desktop.tasks.own.family import Rows, parse_file
from sapo_desktop.tasks.split import held_out_side

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "roman_numbers.csv"
ROWS = [f"What is {n} plus one?,{n + 1}" for n in range(100)]


def family(*rows: str, header: str = "question,answer", name: str = "sums") -> Family:
    return parse_file(f"{name}.csv", "\n".join([header, *rows]).encode(), {"gcd"}).family


def refused(*rows: str, **more: str) -> str:
    with pytest.raises(TaskError) as error:
        family(*rows, **more)
    return str(error.value)


def test_a_csv_is_a_family_whose_rows_follow_from_the_seed() -> None:
    made = family(*ROWS, name="Sums_up_to_100")
    assert (made.title, made.grammar, made.own) == ("Sums up to 100", "integer", True)
    (level,) = made.levels
    assert made.shown is not None
    assert (level.name, level.config["rows"], level.shared) == ("easy", 99, True)
    rows = Rows(level)
    asked = {tuple(made.shown)}
    for seed in range(99):
        rows.seed = seed
        asked.add((rows[0]["question"], rows[0]["answer"]))
    assert asked == {tuple(row.split(",")) for row in ROWS}
    rows.seed = 2**63 - 1
    assert rows[0] == {"question": level.rows[(2**63 - 1) % 99][0], "answer": rows[0]["answer"], "metadata": {}}


def test_one_short_row_is_shown_and_neither_trained_on_nor_scored() -> None:
    made = family(*ROWS)
    shown = Catalogue(families=(made,)).shown_example("sums")
    assert shown == made.shown == family(*reversed(ROWS)).shown and shown is not None
    assert shown not in [row for level in made.levels for row in level.rows]
    assert not held_out_side("sums", shown.question)
    assert len(shown.question) == min(len(row.question) for row in made.levels[0].rows)
    shipped = load_catalogue(resource("tasks.toml"))
    assert shipped.shown_example("gcd") is None


def test_how_a_program_saved_the_rows_is_no_matter_and_what_they_say_is() -> None:
    plain = family(*ROWS).levels[0]
    saved = "\ufeffQuestion;Answer\r\n" + "\r\n".join(f'"{row.replace(",", chr(34) + ";")}' for row in reversed(ROWS))
    assert parse_file("sums.csv", saved.encode(), set()).family.levels[0] == plain
    assert family(*ROWS[:-1], "What is 99 plus one?,101").levels[0].config != plain.config


@pytest.mark.parametrize(
    ("answer", "grammar", "given"),
    [
        ("7", "integer", "+7.0"),
        ("1.50", "decimal", "1.5"),
        ("3/4", "ratio", "3 / 4"),
        ("São  Tomé", "text", "são tomé"),
    ],
)
def test_answers_are_read_by_the_strictest_grammar_that_takes_them_all(answer: str, grammar: str, given: str) -> None:
    made = family(*(f"Which is number {n}?,{answer}" for n in range(100)))
    assert made.grammar == grammar
    parsed = parse_answer(grammar, given)
    assert parsed is not None and Rows(made.levels[0]).score_answer(parsed, Rows(made.levels[0])[0]) == 1.0
    assert not made.levels[0].shared, "one answer is always right"


@pytest.mark.parametrize(
    ("row", "right", "wrong"),
    [
        (
            "Lisbon",
            ["lisbon", "Lisbon.", "**Lisbon**", '"Lisbon."', "`Lisbon`."],
            ["Lis.bon", "*Lisbon", "Lisbon, Porto"],
        ),
        ("A*", ["A*", "a*.", "`A*`"], ["A", "*A*"]),
        ("U.S.A.", ["U.S.A.", "u.s.a."], ["USA"]),
    ],
)
def test_words_are_right_as_they_are_usually_set(row: str, right: list[str], wrong: list[str]) -> None:
    rows = Rows(family(*ROWS).levels[0])
    assert all(rows.score_answer(answer, {"answer": row}) == 1.0 for answer in right)
    assert not any(rows.score_answer(answer, {"answer": row}) for answer in wrong)


def test_levels_are_played_from_easy_to_hard() -> None:
    rows = [f"{row},{level}" for row, level in zip(ROWS, ["hard", "easy"] * 50, strict=True)]
    assert [level.name for level in family(*rows, header="question,answer,level").levels] == ["easy", "hard"]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("What?", "line 102: it has 1 columns instead of 2"),
        ("Why, or how?,1", "line 102: it has 3 columns instead of 2"),
        (",1", "line 102: the question is empty"),
        ("What?,", "line 102: the answer is empty"),
        ("What?,</answer>", "line 102: the answer must have at most"),
        (f"What?,{'x' * 201}", "line 102: the answer must have at most"),
        (f"{'x' * 2001},1", "line 102: the question has 2,001 characters"),
        ("What\u202e?,1", "line 102: it contains a hidden character, U+202E"),
        ('"What?\n",\x001', "line 102: it contains a hidden character, U+0000"),
        ("what is 7  plus ONE?,9", "line 102: line 9 asks the same and has '8'"),
        ('"What?" really,1', "line 102: it is not valid CSV"),
        ('"What?,1', "line 102: it is not valid CSV"),
        (f"{'x' * 200_000},1", "line 102: it is not valid CSV"),
    ],
)
def test_a_bad_row_is_named_with_its_line(row: str, reason: str) -> None:
    assert f"sums.csv, {reason}" in refused(*ROWS, row)


def test_a_bad_file_is_refused_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    for header in ("q,a", "question", "answer,level"):
        assert "line 1: the first line must name the columns" in refused(*ROWS, header=header)
    assert "line 1: there are two columns answer" in refused(*ROWS, header="question,answer,answer")
    assert "the level easy has 11 questions for training" in refused(*ROWS[:15])
    trained = [row for row in ROWS if not held_out_side("sums", row.partition(",")[0])]
    assert f"of its {len(trained)} questions, 0 are held out for the score during training and 0 for" in refused(
        *trained
    )
    assert "with which every family begins" in refused(*(f"{row},hard" for row in ROWS), header="question,answer,level")
    assert "must be one of easy, middle, hard" in refused("What?,1,paper", header="question,answer,level")
    monkeypatch.setattr(parsing, "MOST_ROWS", 50)
    assert "it has more than 50 questions" in refused(*ROWS)


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (("gcd", "GCD", "easy", "all"), "this name is taken"),
        (("größe", "a b", "a" * 41), "the file's name becomes the family's name"),
        (("CON", "nul", "Com1", "lpt9"), "Windows reserves this name for a device"),
    ],
)
def test_a_name_that_no_file_may_have_everywhere_is_refused(names: tuple[str, ...], reason: str) -> None:
    for name in names:
        assert reason in refused(*ROWS, name=name)


def test_what_repeats_is_read_once_and_what_is_too_large_is_said_so(tmp_path: Path) -> None:
    assert family(*ROWS, "what is 7  plus ONE?,8") == family(*ROWS)
    large = tmp_path / "large.csv"
    with large.open("wb") as file:
        file.truncate(own.MOST_BYTES + 1)
    with pytest.raises(
        TaskError, match=r"large\.csv has 16.0 MB, but a file of own tasks may have at most 16.0 MB. Split it"
    ):
        own.read_file(large)


@given(st.binary(max_size=300) | st.text(alphabet='ab,;\t"\n\r\0\ud7ff', max_size=300).map(str.encode))
def test_any_other_bytes_are_refused_with_a_sentence(content: bytes) -> None:
    for given_bytes in (content, b"question,answer\n" + content):
        with pytest.raises(TaskError):
            parse_file("sums.csv", given_bytes, ())


def test_what_cannot_be_used_is_left_out_and_said(tmp_path: Path) -> None:
    for name in ("sums", "good", ".hidden"):
        (tmp_path / f"{name}.csv").write_text("\n".join(["question,answer", *ROWS]))
    (tmp_path / "bad.csv").write_text("nothing")
    os.mkfifo(tmp_path / "pipe.csv")
    loaded = own.load_tasks(tmp_path)
    assert loaded.own == {"sums", "good"} and loaded.tasks()[-1] == "sums/easy"
    assert set(loaded.left_out) == {"bad", "pipe"} and "no regular file" in str(loaded.left_out["pipe"])
    assert parse_tasks(loaded, still_there(loaded, "bad/easy, sums,pipe")) == ("sums/easy",)
    assert still_there(loaded, "bad,pipe") == "all" and still_there(loaded, "gdc") == "gdc"
    assert own.load_tasks(tmp_path / "none") == load_catalogue(resource("tasks.toml"))


def test_the_family_that_is_one_too_many_is_named(tmp_path: Path) -> None:
    for number in range(own.MOST_FILES + 1):
        (tmp_path / f"sums{number:03}.csv").write_text("\n".join(["question,answer", *ROWS]))
    (said,) = own.load_tasks(tmp_path).left_out.values()
    assert str(said).startswith(f"sums{own.MOST_FILES:03}.csv: only ") and str(said).endswith("Remove one.")


def test_an_examiner_is_handed_the_catalogue_as_it_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = load_catalogue(resource("tasks.toml"))
    assert own.hand_over(shipped, tmp_path / "catalogue") == {} and own.handed_over() is None
    catalogue = Catalogue(families=(*shipped.families, family(*ROWS)), left_out={"bad": sentence("It is bad.")})
    monkeypatch.setenv(*next(iter(own.hand_over(catalogue, tmp_path / "catalogue").items())))
    assert own.handed_over() == catalogue
    (tmp_path / "catalogue").write_text("{}")
    with pytest.raises(TaskError, match="cannot be read"):
        own.handed_over()


def test_groups_of_own_tasks_travel_in_private_swarms_alone() -> None:
    shipped = load_catalogue(resource("tasks.toml"))
    catalogue = Catalogue(families=(*shipped.families, family(*ROWS)))
    assert catalogue.in_swarm(private=True).find("sums/easy")[1].shared
    assert not catalogue.in_swarm(private=False).find("sums/easy")[1].shared
    assert catalogue.in_swarm(private=False).shipped() == catalogue.shipped() == shipped
    assert ids_key(catalogue, "1", "1") != ids_key(shipped, "1", "1")


def test_answers_in_words_may_hold_letters_of_every_script() -> None:
    assert belongs("São Tomé, 東京", "text") and not belongs("São Tomé", "word")
    assert not any(belongs(text, "text") for text in ("a\u202eb", "\x1b[2J", "😀"))


def test_the_worked_example_has_three_levels() -> None:
    made = parse_file(EXAMPLE.name, own.read_file(EXAMPLE), ()).family
    assert [(level.name, len(level.rows), level.shared) for level in made.levels] == [
        (name, rows, True) for name, rows in (("easy", 49), ("middle", 50), ("hard", 50))
    ]

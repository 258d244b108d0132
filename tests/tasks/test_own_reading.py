"""A file of own tasks is read as intended: its characters, its columns, its answers; where that is not clear, its
owner is asked."""

import json

import pytest

from sapo_desktop.core.errors import TaskError
from sapo_desktop.tasks.own.choices import Undecided
from sapo_desktop.tasks.own.family import How, OwnFile, parse_file
from sapo_desktop.tasks.own.folder import as_kept


def saved(answers: list[str], delimiter: str = ";") -> bytes:
    """A file of 64 questions, whose first answers are these."""
    filled = [*answers, *answers * (64 // len(answers))][:64] if len(answers) < 64 else answers
    lines = (f"What is number {n}?{delimiter}{answer}" for n, answer in enumerate(filled))
    return "\n".join([f"question{delimiter}answer", *lines]).encode()


def read(content: bytes, name: str = "own.csv", **how: str) -> OwnFile:
    return parse_file(name, content, (), How(**how))


def answers(found: OwnFile) -> list[str]:
    return list(dict.fromkeys(found.reading.answers))


@pytest.mark.parametrize(
    ("written", "kind", "canonical"),
    [
        (["0,125", "1,500", "2"], "decimal-comma", ["0,125", "1,5", "2"]),
        (["1.234,50", "-7,5"], "decimal-comma", ["1234,5", "-7,5"]),
        (["1.234.567", "2.000.000"], "decimal-comma", ["1234567", "2000000"]),
        (["1,234.50", "0.5"], "decimal", ["1234.5", "0.5"]),
        ([".5", "\N{MINUS SIGN}1.5", "1e3"], "decimal", ["0.5", "-1.5", "1000"]),
        (["0.125", "1.125"], "decimal", ["0.125", "1.125"]),
        (["1 234 567", "12", "1'000"], "whole", ["1234567", "12", "1000"]),
        (["1\N{NARROW NO-BREAK SPACE}234,5", "7"], "decimal-comma", ["1234,5", "7"]),
        (["1,234,567", "12"], "whole", ["1234567", "12"]),
        (["-3/4", "2", r"\frac{-1}{2}"], "fractions", ["-3/4", "2", "-1/2"]),
        (["12 %", "7%"], "words", ["12 %", "7%"]),
        (["TRUE", "False"], "words", ["TRUE", "False"]),
        (["2024-01-31", "31.01.2024"], "words", ["2024-01-31", "31.01.2024"]),
        (["Na", "None", "#FF0000"], "words", ["Na", "None", "#FF0000"]),
    ],
)
def test_answers_of_one_reading_are_read_so(written: list[str], kind: str, canonical: list[str]) -> None:
    found = read(saved(written))
    assert (found.reading.kind, answers(found)) == (kind, canonical)


@pytest.mark.parametrize(
    ("written", "kinds", "said"),
    [
        (["1,125", "2,250"], ["whole", "decimal-comma"], "1,125 → 1125"),
        (["1.125", "2.250"], ["decimal", "decimal-comma"], "1.125 → 1125"),
        (["1,125", "0125"], ["words", "whole", "decimal-comma"], "1,125 → 1125"),
        (["01067", "10115"], ["words", "whole"], "01067 → 1067"),
        (["+49170123456", "110"], ["words", "whole"], "+49170123456 → 49170123456"),
        (["01.02", "11.12"], ["words", "decimal"], "01.02 → 1.02"),
        (["03/04", "11/12"], ["words", "fractions"], "03/04 → 3/4"),
    ],
)
def test_two_readings_are_asked_about_and_each_can_be_chosen(written: list[str], kinds: list[str], said: str) -> None:
    content = saved(written)
    with pytest.raises(Undecided) as undecided:
        read(content)
    assert undecided.value.asked == "answers" and said in str(undecided.value)
    assert [choice.value for choice in undecided.value.choices] == kinds
    for choice in undecided.value.choices:
        found = read(content, answers=choice.value)
        assert (
            found.reading.kind == choice.value
            and dict(choice.first).items()
            <= dict(zip([row.answer for row in found.rows], found.reading.answers, strict=True)).items()
        )


@pytest.mark.parametrize("odd", ["unknown", "19/0", "nan", "N/A", "inf", "1,2,3"])
def test_the_line_of_an_answer_that_is_no_number_among_numbers_is_named(odd: str) -> None:
    content = saved([*map(str, range(36)), odd, *map(str, range(37, 160))])
    with pytest.raises(Undecided, match=r"own\.csv, line 38: '" + odd) as undecided:
        read(content)
    assert [choice.value for choice in undecided.value.choices] == ["words"]
    assert read(content, answers="words").reading.kind == "words"
    with pytest.raises(TaskError, match="line 38"):
        read(content, answers="whole")


@pytest.mark.parametrize("error", ["#VALUE!", "#DIV/0!", "#N/A", "#WERT!", "#NAME?", "####"])
def test_an_error_of_a_spreadsheet_is_no_answer_in_any_reading(error: str) -> None:
    content = saved([*(str(n) for n in range(159)), error])
    for kind in ("", "words"):
        with pytest.raises(TaskError, match=r"line 161: '.*' is an error of the spreadsheet"):
            read(content, answers=kind)


def test_what_is_kept_is_read_again_without_a_question() -> None:
    for written, kind in ((["01067", "10115"], "words"), (["1,125", "2,250"], "decimal-comma"), (["Zürich"], "")):
        found = read(saved(written), answers=kind)
        again = read(as_kept(found))
        assert again.family == found.family and again.table.declared == found.reading.kind
    with pytest.raises(TaskError, match="read as one of whole, decimal"):
        read(saved(["7"]).replace(b"answer", b"answer:roman"))


GERMAN = ["Größe", "Straße \N{EURO SIGN}"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_unicode_is_read_without_a_question(encoding: str) -> None:
    text = saved(GERMAN, "\t").decode().replace("\n", "\r\n")
    assert answers(read(text.encode(encoding))) == GERMAN


@pytest.mark.parametrize("encoding", ["cp1252", "mac_roman"])
def test_an_older_encoding_is_asked_about_and_shown(encoding: str) -> None:
    content = saved(GERMAN).decode().encode(encoding)
    with pytest.raises(Undecided) as undecided:
        read(content)
    assert undecided.value.asked == "encoding" and "line 2" in str(undecided.value)
    shown = {choice.value: choice.first[0][0] for choice in undecided.value.choices}
    assert "Größe" in shown[encoding]
    assert answers(read(content, encoding=encoding)) == GERMAN
    with pytest.raises(TaskError, match="There is no encoding 'klingon'"):
        read(content, encoding="klingon")
    with pytest.raises(TaskError, match="line 2: it is not in utf-8"):
        read(content, encoding="utf-8")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_columns_come_in_any_order_with_others_between(delimiter: str) -> None:
    lines = [delimiter.join(["id", "Answer ", "Level", '"question"', ""])]
    lines += [delimiter.join([str(n), f"word {n}", "easy", f'"one\n""{n}"" {delimiter}!"', ""]) for n in range(64)]
    found = read("\r\n".join(lines).encode())
    assert found.table.ignored == ["id"]
    assert (found.rows[3].question, found.rows[3].answer, found.rows[3].line) == (f'one\n"3" {delimiter}!', "word 3", 8)


def test_other_kinds_of_file() -> None:
    assert read(b"sep=;\r\n" + saved(["7", "8"])).reading.kind == "whole"
    assert read(saved(["7", "8"]).replace(b"\n", b"\r")).reading.kind == "whole"
    rows = [{"question": f"What is {n}?", "answer": n / 2, "source": None} for n in range(64)]
    found = read("\n".join(map(json.dumps, rows)).encode(), "own.jsonl")
    assert (found.reading.kind, found.reading.answers[3]) == ("decimal", "1.5")
    with pytest.raises(TaskError, match="line 2: it must be a JSON object"):
        read(b'{"question": "a", "answer": "b"}\n[]', "own.jsonl")
    with pytest.raises(TaskError, match="line 1: answer must be a text or a number"):
        read(b'{"question": "a", "answer": null}', "own.jsonl")
    with pytest.raises(TaskError, match="it is a workbook"):
        read(b"PK\x03\x04" + bytes(100))

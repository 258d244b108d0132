"""Sentences as data: their English, and their way over a message."""

import msgspec

from sapo_desktop.core.errors import ModelError, SapoError
from sapo_desktop.core.sentences import Size, Text, joined, sentence


class Said(msgspec.Struct):
    text: Text


def test_a_sentence_is_its_english() -> None:
    text = sentence(
        "{count} files of {name} need {size}: {why} {several} {share}",
        count=1240,
        name="a/b",
        size=Size(bytes=12_345),
        why=sentence("{what} is missing.", what="config.json"),
        several=["one", sentence("two")],
        share=0.25,
    )
    assert str(text) == "1,240 files of a/b need 12.3 KB: config.json is missing. one; two 0.25"


def test_values_are_never_templates() -> None:
    assert str(sentence("{a} {b} {c}", a="{b}", b="{a.__class__}")) == "{b} {a.__class__} {c}"


def test_a_size_has_a_unit_of_its_size() -> None:
    sizes = (0, 999, 1000, 123_456, 1_500_000_000, 2 * 10**15)
    assert [str(Size(bytes=size)) for size in sizes] == ["0 B", "999 B", "1.0 KB", "123 KB", "1.5 GB", "2000.0 TB"]


def test_an_error_keeps_its_sentence() -> None:
    text = sentence("There is no model {name}.", name="x")
    error = ModelError(text)
    assert error.text == text and str(error) == "There is no model x."
    assert SapoError("as it is").text == "as it is" and SapoError().text == ""


def test_sentences_cross_messages_whole() -> None:
    inner = sentence("{a}", a=["x", sentence("y")])
    for text in ("plain", sentence("{why} {n}", why=inner, n=3), joined([inner, "b"])):
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(Said(text)), type=Said) == Said(text)


def test_a_number_that_no_message_can_carry_is_text() -> None:
    text = sentence("{most} {least} {more}", most=2**64 - 1, least=-(2**63), more=2**64)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(Said(text)), type=Said) == Said(text)
    assert str(text) == "18,446,744,073,709,551,615 -9,223,372,036,854,775,808 18,446,744,073,709,551,616"


def test_texts_are_joined() -> None:
    assert joined(["one"]) == "one"
    assert str(joined([sentence("A {x}.", x="b"), "C."])) == "A b. C."


def test_commands_of_sentences_within_a_sentence_are_said_once_at_its_end() -> None:
    lacks = sentence("The training engine is not installed yet.", in_terminal="engine install")
    text = joined(
        [lacks, sentence("The node continues with {model}.", in_terminal="settings set model {model}", model="a")]
    )
    assert str(text) == (
        "The training engine is not installed yet. The node continues with a. "
        "In a terminal: engine install; settings set model a"
    )
    assert str(sentence("{all}", all=[lacks, lacks])).count("engine install") == 1

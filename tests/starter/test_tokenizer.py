"""The starter's tokenizer: knows every text, keeps answers findable, and reads a question in one way only."""

from typing import Any

import phrases
import pytest
import reasoning_gym
import stream
import tokenizer

from sapo_desktop.tasks.worked import WRITERS

CONTROL = ["<pad>", "<eos>", "<q>", "<a>", "<answer>", "</answer>"]


@pytest.fixture(scope="module")
def words() -> Any:
    return tokenizer.build()


def longest_first(text: str, known: list[str]) -> list[str]:
    """llama.cpp's way: the longest phrase is cut out of the whole text first, then the next one from what is left."""
    parts: list[tuple[str, bool]] = [(text, False)]
    for phrase in known:
        following: list[tuple[str, bool]] = []
        for part, done in parts:
            if done or phrase not in part:
                following.append((part, done))
                continue
            for piece in part.split(phrase):
                following += [(piece, False)] if piece else []
                following.append((phrase, True))
            following.pop()
        parts = following
    return [part for part, _ in parts]


def leftmost_longest(text: str, known: list[str]) -> list[str]:
    """Hugging Face's way: at the first place where a phrase fits, the longest one that fits there."""
    parts, plain = [], ""
    while text:
        phrase = next((p for p in known if text.startswith(p)), None)
        if phrase is None:
            plain, text = plain + text[0], text[1:]
            continue
        parts += [plain, phrase] if plain else [phrase]
        plain, text = "", text[len(phrase) :]
    return [*parts, plain] if plain else parts


def test_any_text_comes_back(words: Any) -> None:
    text = "Größe → 東西 \U0001f600\x00\n\t  two  spaces, 12*7 <answer>5</answer> What is "
    assert words.decode(words.encode(text)) == text


def test_signs_that_are_also_names_of_bytes_come_back(words: Any) -> None:
    text = "2 × 3, ¬P, 90.0°, 2 ×3 ¬¬P ((P ∧ ¬Q) → R)"
    assert words.decode(words.encode(text)) == text


def test_written_completions_come_back(words: Any) -> None:
    for family, entry in stream.catalogue().items():
        asked = reasoning_gym.create_dataset(entry["dataset"], size=3, seed=3, **entry["levels"]["easy"])
        for text in [asked[index]["question"] for index in range(3)] + [WRITERS[family](asked[0]) or ""]:
            assert words.decode(words.encode(text)) == text, family


def test_answers_survive_skipping_of_control_tokens(words: Any) -> None:
    ids = words.encode("<q>1+1<a>1+1=2<answer>2</answer><eos>")
    assert words.decode(ids, skip_special_tokens=True) == "1+11+1=2<answer>2</answer>"


def test_digits_stand_alone(words: Any) -> None:
    assert len(words.encode("2026")) == 4


def test_chat_template(words: Any) -> None:
    turns = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    assert words.apply_chat_template(turns[:1], tokenize=False, add_generation_prompt=True) == "<q>a<a>"
    assert words.apply_chat_template(turns, tokenize=False) == "<q>a<a>b<eos>"


def test_no_phrase_begins_with_a_space() -> None:
    assert not [phrase for phrase in phrases.phrases() if phrase.startswith(" ")]


def test_both_ways_of_reading_agree_on_the_catalogue() -> None:
    known = sorted([*CONTROL, *phrases.phrases()], key=lambda phrase: (-len(phrase), phrase))
    for family, entry in stream.catalogue().items():
        dataset = reasoning_gym.create_dataset(entry["dataset"], size=5, seed=3, **entry["levels"]["easy"])
        for index in range(5):
            asked = dataset[index]
            for text in filter(None, (asked["question"], WRITERS[family](asked))):
                assert longest_first(text, known) == leftmost_longest(text, known), family

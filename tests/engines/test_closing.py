"""An answer ends after its closing tag, with any tokenizer."""

import pytest

from sapo_desktop.engines.closing import NEVER, ClosingTag

PIECES = {1: "4", 2: "</", 3: "answer", 4: ">", 5: "</answer>", 6: "r>\n", 7: "</answe", 8: " > ", 9: "<answer>"}


def closing() -> ClosingTag:
    return ClosingTag(
        [token for token, piece in PIECES.items() if ">" in piece], lambda ids: "".join(PIECES[i] for i in ids)
    )


@pytest.mark.parametrize("tokens", [[1, 2, 3, 4], [1, 5], [9, 1, 7, 6], [1] * 40 + [2, 3, 4]])
def test_the_token_that_completes_the_tag_closes_the_answer(tokens: list[int]) -> None:
    assert closing()(tokens)
    assert not any(closing()(tokens[:end]) for end in range(1, len(tokens)))


@pytest.mark.parametrize("tokens", [[1], [9, 1], [1, 8], [2, 3], [9, 1, 8, 4]])
def test_nothing_else_does(tokens: list[int]) -> None:
    assert not closing()(tokens)
    assert not NEVER(tokens)


@pytest.mark.parametrize("tokens", [[1, 5], [1, 2, 3, 4], [1, 9, 8], [1, 9, 3], [1, 2, 3, 2]])
def test_a_text_that_is_to_end_an_answer_ends_it_as_well(tokens: list[int]) -> None:
    stops = closing().or_at(["> >", "4<answer>a", "wer</"], max(PIECES))
    assert all(token in stops.last for token in range(max(PIECES)))
    assert stops(tokens) and not any(stops(tokens[:end]) for end in range(1, len(tokens)))


def test_without_such_a_text_it_is_the_tag_alone() -> None:
    assert (tag := closing()).or_at([], 10) is tag

"""An answer ends behind its closing tag, however a tokenizer cuts it."""

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

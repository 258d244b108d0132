"""Micro-batches: where the answer tokens are and which hidden state predicts them."""

from __future__ import annotations

import msgspec
import torch

from sapo_desktop.core.records import TrainingSequence
from sapo_desktop.engines.torch.batches import micro_batches

CPU = torch.device("cpu")
SHORT = TrainingSequence(prompt=[1, 2, 2, 2, 2, 2], tokens=[3], advantage=0.5)
LONG = TrainingSequence(prompt=[4], tokens=[5, 6, 7, 8, 9, 10, 11, 12], advantage=-1.0)
SHORTER = TrainingSequence(prompt=[4], tokens=[5, 6], advantage=-1.0)


def test_answers_stand_right_after_their_prompts() -> None:
    (part,) = micro_batches([SHORT, LONG], [0, 1], 4, CPU)
    assert part.sequences == [1, 0]
    assert part.ids.shape == (2, 16)  # 9 rounded up to a multiple of 8
    assert part.ids[0].tolist() == [*range(4, 13), *[0] * 7]
    assert part.ids[1].tolist() == [1, 2, 2, 2, 2, 2, 3, *[0] * 9]
    # The last prompt token predicts the first answer token: position 0 of row 0, position 5 of row 1.
    assert part.predicts.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 21]
    assert part.targets.tolist() == [5, 6, 7, 8, 9, 10, 11, 12, 3]
    assert part.lengths == [8, 1]
    assert part.advantages.tolist() == [-1.0] * 8 + [0.5]


def test_longest_come_first_and_every_sequence_once() -> None:
    parts = micro_batches([SHORT, LONG, SHORT, LONG, SHORT], [0, 1, 2, 4], 2, CPU)
    assert [part.sequences for part in parts] == [[1, 0], [2, 4]]


def test_a_micro_batch_holds_sequences_of_similar_length() -> None:
    parts = micro_batches([SHORTER, LONG, SHORT], [0, 1, 2], 8, CPU)
    assert [part.sequences for part in parts] == [[1, 2], [0]]


def test_shaped_sequences_are_marked_token_by_token() -> None:
    shaped = msgspec.structs.replace(SHORTER, shaped=True)
    (part,) = micro_batches([shaped, SHORTER], [0, 1], 8, torch.device("cpu"))
    assert part.shaped is not None and part.shaped.tolist() == [True, True, False, False]
    (plain,) = micro_batches([SHORTER], [0], 8, torch.device("cpu"))
    assert plain.shaped is None


def test_several_sequences_have_no_more_tokens_together_than_asked() -> None:
    parts = micro_batches([LONG, LONG, LONG, SHORT], [0, 1, 2, 3], 8, CPU, tokens=32)  # 16 each, padded
    assert [part.sequences for part in parts] == [[0, 1], [2, 3]]
    parts = micro_batches([LONG, LONG], [0, 1], 8, CPU, tokens=10)  # one alone may have more
    assert [part.sequences for part in parts] == [[0], [1]]

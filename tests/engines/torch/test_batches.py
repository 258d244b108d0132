"""Micro-batches: where the answer tokens are and which hidden state predicts them."""

import torch

from sapo_desktop.core.records import TrainingSequence
from sapo_desktop.engines.torch.batches import packed_batches

CPU = torch.device("cpu")
SHORT = TrainingSequence(prompt=[1, 2, 2, 2, 2, 2], tokens=[3], advantage=0.5)
LONG = TrainingSequence(prompt=[4], tokens=[5, 6, 7, 8, 9, 10, 11, 12], advantage=-1.0)
SHORTER = TrainingSequence(prompt=[4], tokens=[5, 6], advantage=-1.0)


def test_packed_prompts_come_once_and_first() -> None:
    two = TrainingSequence(prompt=[7, 8, 9], tokens=[3, 4], advantage=1.0)
    other = TrainingSequence(prompt=[7, 8, 9], tokens=[5, 6, 1], advantage=-2.0)
    (part,) = packed_batches([two, SHORTER, other], [0, 1, 2], 4, CPU)
    assert part.sequences == [2, 0, 1]
    assert part.targets.tolist() == [5, 6, 1, 3, 4, 5, 6] and part.lengths == [3, 2, 2]
    assert part.advantages.tolist() == [-2.0] * 3 + [1.0] * 2 + [-1.0] * 2
    packed = part.tokens
    # 7 8 are read once for both answers; 9 opens each of them. SHORTER's prompt has nothing but its opening.
    assert packed.ids.tolist() == [7, 8, 9, 5, 6, 9, 3, 4, 5]
    assert packed.positions.tolist() == [0, 1, 2, 3, 4, 2, 3, 0, 1]
    assert packed.prompts.tolist() == [[0, 1], [0, 0]] and packed.prompt_places.tolist() == [0, 1]
    assert packed.answers.tolist() == [[0, 1, 2], [3, 4, 0], [5, 6, 0], [0, 0, 0]]
    assert packed.answer_places.tolist() == [0, 1, 2, 3, 4, 6, 7]
    # Prompt (two wide) and answer (three wide): the second prompt has no tokens to be seen.
    assert packed.seen[0, 0].int().tolist() == [[1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]
    assert packed.seen[2, 0].int().tolist() == [[0, 0, 1, 0, 0], [0, 0, 1, 1, 0], [0, 0, 1, 1, 1]]


def test_packed_longest_come_first_and_groups_stay_together() -> None:
    parts = packed_batches([SHORTER, SHORT, LONG, SHORT], [0, 1, 2, 3], 2, CPU)
    assert [part.sequences for part in parts] == [[2, 0], [1, 3]]


def test_a_packed_micro_batch_has_no_more_inputs_than_asked() -> None:
    batch = [LONG, LONG, LONG, SHORT]  # 8 inputs each; SHORT has 6
    assert [part.sequences for part in packed_batches(batch, range(4), 8, CPU, tokens=22)] == [[0, 1], [2, 3]]
    assert [part.sequences for part in packed_batches(batch, range(2), 8, CPU, tokens=5)] == [[0], [1]]


def test_a_group_that_fits_is_not_cut() -> None:
    batch = [SHORT, SHORT, *[TrainingSequence(prompt=[9, 9, 9], tokens=[1, 2], advantage=1.0)] * 3]
    # Inputs: 7 of the first group, 8 of the second.
    assert [part.sequences for part in packed_batches(batch, range(5), 8, CPU, tokens=12)] == [[0, 1], [2, 3, 4]]
    assert [part.sequences for part in packed_batches(batch, range(5), 4, CPU, tokens=0)] == [[0, 1], [2, 3, 4]]
    assert [part.sequences for part in packed_batches(batch, range(5), 8, CPU, tokens=15)] == [[0, 1, 2, 3, 4]]
    assert [part.sequences for part in packed_batches(batch, range(5), 8, CPU, tokens=7)] == [[0, 1], [2, 3], [4]]

"""Training sequences split into micro-batches: tensors that the trainer's forward pass uses directly.

Answers to one question share its prompt, which is read once for all of them. Only attention needs padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from sapo_desktop.core.records import TrainingSequence


class Packed(NamedTuple):
    """First the prompts, each once, then the answers, without gaps. M tokens, of which M_p belong to prompts.

    A prompt's last token is the first input of each of its answers, and an answer's last token predicts nothing. So an
    answer has as many inputs as tokens, and the last M - M_p = N inputs predict the answers' tokens. Attention works on
    padded tensors [G, P] of prompts and [G * K, A] of answers, K per prompt, padded at the right.
    """

    ids: Tensor
    """[M] int64."""
    positions: Tensor
    """[M] int64."""
    prompts: Tensor
    """[G, P] int64, indices into the M_p; padding may point anywhere."""
    answers: Tensor
    """[G * K, A] int64, indices into the N; padding may point anywhere."""
    prompt_places: Tensor
    """[M_p] int64, the place of each prompt token in the flattened [G * P]."""
    answer_places: Tensor
    """[N] int64, the place of each answer token in the flattened [G * K * A]."""
    seen: Tensor
    """[G * K, 1, A, P + A] bool: which tokens of prompt and answer each answer token attends to."""


@dataclass(frozen=True)
class MicroBatch:
    """Some sequences of a batch; N is their total number of answer tokens."""

    sequences: list[int]
    """Indices in the whole batch."""
    tokens: Packed
    targets: Tensor
    """[N] int64, the answer tokens."""
    lengths: list[int]
    """Answer tokens per sequence, N in total."""
    advantages: Tensor
    """[N] float32."""


def packed_batches(
    batch: Sequence[TrainingSequence], order: Sequence[int], size: int, device: torch.device, tokens: int = 0
) -> list[MicroBatch]:
    """Split the sequences named by `order` into micro-batches of at most `size`, with answers to one prompt together.

    The longest come first: if memory runs out, little work is lost. Several sequences have at most `tokens` inputs
    together (0: unlimited). Answers to one prompt stay in one micro-batch if it has room for all of them, because each
    part would read the prompt again.
    """
    groups: dict[tuple[int, ...], list[int]] = {}
    for place in sorted(order, key=lambda i: (-len(batch[i].tokens), i)):
        groups.setdefault(tuple(batch[place].prompt), []).append(place)
    cut: list[list[int]] = [[]]
    inputs = 0

    def has_room(inputs: int, sequences: int) -> bool:
        return sequences <= size and (not tokens or inputs <= tokens)

    for prompt, places in sorted(groups.items(), key=lambda group: (-_length(batch[group[1][0]]), group[0])):
        # The prompt's last token counts among the answers' inputs.
        reading = len(prompt) - 1
        whole = reading + sum(len(batch[place].tokens) for place in places)
        if has_room(whole, len(places)) and not has_room(inputs + whole, len(cut[-1]) + len(places)):
            cut.append([])
            inputs = 0
        for place in places:
            length = len(batch[place].tokens)
            if cut[-1] and not has_room(inputs + reading + length, len(cut[-1]) + 1):
                cut.append([])
                inputs, reading = 0, len(prompt) - 1
            cut[-1].append(place)
            inputs += reading + length
            reading = 0
    return [_micro_batch(batch, places, device) for places in cut if places]


def _length(sequence: TrainingSequence) -> int:
    return len(sequence.prompt) + len(sequence.tokens)


def _micro_batch(batch: Sequence[TrainingSequence], places: list[int], device: torch.device) -> MicroBatch:
    chosen = [batch[i] for i in places]
    lengths = [len(s.tokens) for s in chosen]
    repeats = torch.tensor(lengths)
    return MicroBatch(
        sequences=places,
        tokens=Packed(*(tensor.to(device) for tensor in _packed(chosen))),
        targets=torch.tensor([token for s in chosen for token in s.tokens]).to(device),
        lengths=lengths,
        advantages=torch.tensor([s.advantage for s in chosen]).repeat_interleave(repeats).to(device),
    )


def _packed(chosen: Sequence[TrainingSequence]) -> Packed:
    groups: dict[tuple[int, ...], list[TrainingSequence]] = {}
    for s in chosen:  # sequences with one prompt are consecutive
        groups.setdefault(tuple(s.prompt), []).append(s)
    heads = [prompt[:-1] for prompt in groups]
    # Shifted by one: the prompt's last token predicts the answer's first; the answer's last predicts nothing.
    inputs = [[s.prompt[-1], *s.tokens[:-1]] for s in chosen]
    most = max(map(len, groups.values()))
    # K rows per prompt, so that [G * K] folds into [G, K]; a prompt with fewer answers leaves rows empty.
    rows = [group * most + number for group, found in enumerate(groups.values()) for number in range(len(found))]
    prompts, prompt_places = _places([len(head) for head in heads], list(range(len(heads))), len(heads))
    answers, answer_places = _places([len(row) for row in inputs], rows, len(heads) * most)
    width = answers.shape[1]
    # An answer sees its whole prompt, and itself up to the current token.
    within = torch.arange(prompts.shape[1])[None] < torch.tensor([len(head) for head in heads])[:, None]
    before = within[:, None].expand(-1, width, -1).repeat_interleave(most, 0)
    own = torch.ones(width, width, dtype=torch.bool).tril().expand(len(before), -1, -1)
    starts = [range(len(head)) for head in heads]
    # An answer's inputs begin with the prompt's last token, at len(prompt) - 1.
    follows = [range(len(s.prompt) - 1, _length(s) - 1) for s in chosen]
    return Packed(
        ids=torch.tensor([token for part in (*heads, *inputs) for token in part]),
        positions=torch.tensor([position for part in (*starts, *follows) for position in part]),
        prompts=prompts,
        answers=answers,
        prompt_places=prompt_places,
        answer_places=answer_places,
        seen=torch.cat([before, own], 2)[:, None],
    )


def _places(lengths: Sequence[int], rows: Sequence[int], count: int) -> tuple[Tensor, Tensor]:
    """Maps between concatenated pieces and rows padded at the right.

    Piece i becomes row `rows[i]` of `count`. Returns [count, longest] indices of the tokens, and [sum of lengths] with
    the place of each in the flattened rows.
    """
    width = max(lengths, default=0)
    index = torch.zeros(count, width, dtype=torch.int64)
    places = []
    at = 0
    for length, row in zip(lengths, rows, strict=True):
        index[row, :length] = torch.arange(at, at + length)
        places.append(torch.arange(row * width, row * width + length))
        at += length
    return index, torch.cat(places) if places else torch.zeros(0, dtype=torch.int64)

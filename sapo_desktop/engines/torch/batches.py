"""Training sequences cut into micro-batches: tensors the trainer's forward pass can take as they are.

Answers to one question share its prompt, which is read once for all of them; nothing is padded but inside attention.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from sapo_desktop.core.records import TrainingSequence


class Packed(NamedTuple):
    """Prompts first, each once, then answers; nothing between them. M tokens, of which M_p are of prompts.

    A prompt's last token opens each of its answers and an answer's last one predicts nothing, so the inputs of an
    answer are as many as its tokens, and the hidden states of the last M - M_p = N inputs are those that predict them.
    Attention sees tensors [G, P] of prompts and [G * K, A] of answers, K to a prompt, padded at the right.
    """

    ids: Tensor
    """[M] int64."""
    positions: Tensor
    """[M] int64."""
    prompts: Tensor
    """[G, P] int64, places among the M_p; padding names any."""
    answers: Tensor
    """[G * K, A] int64, places among the N; padding names any."""
    prompt_places: Tensor
    """[M_p] int64, where each prompt token is in the flattened [G * P]."""
    answer_places: Tensor
    """[N] int64, where each answer token is in the flattened [G * K * A]."""
    seen: Tensor
    """[G * K, 1, A, P + A] bool, which tokens of prompt and answer each token of an answer sees."""


@dataclass(frozen=True)
class MicroBatch:
    """Some sequences of a batch; N is the number of answer tokens in all of them."""

    sequences: list[int]
    """Places in the whole batch."""
    tokens: Packed
    targets: Tensor
    """[N] int64, the answer tokens."""
    lengths: list[int]
    """Answer tokens per sequence; they add up to N."""
    advantages: Tensor
    """[N] float32."""


def packed_batches(
    batch: Sequence[TrainingSequence], order: Sequence[int], size: int, device: torch.device, tokens: int = 0
) -> list[MicroBatch]:
    """Cut the sequences named by `order` into micro-batches of at most `size`, answers to one prompt together.

    The longest come first: if memory runs out, it does so before any work is lost. Several sequences have at most
    `tokens` inputs together (0: any number).
    """
    longest: dict[tuple[int, ...], int] = {}
    for place in order:
        prompt = tuple(batch[place].prompt)
        longest[prompt] = max(longest.get(prompt, 0), _length(batch[place]))
    cut: list[list[int]] = []
    inputs = 0
    for place in sorted(order, key=lambda i: (-longest[key := tuple(batch[i].prompt)], key, -len(batch[i].tokens), i)):
        sequence = batch[place]
        added = len(sequence.tokens)
        if not cut or batch[cut[-1][-1]].prompt != sequence.prompt:
            # Another prompt: its tokens come in once; the last one is counted with the answers' inputs.
            added += len(sequence.prompt) - 1
        if cut and len(cut[-1]) < size and (not tokens or inputs + added <= tokens):
            cut[-1].append(place)
            inputs += added
        else:
            cut.append([place])
            # Of a sequence by itself: all of prompt and answer but the last token.
            inputs = _length(sequence) - 1
    return [_micro_batch(batch, places, device) for places in cut]


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
    for s in chosen:  # those of one prompt follow each other
        groups.setdefault(tuple(s.prompt), []).append(s)
    heads = [prompt[:-1] for prompt in groups]
    # Shifted by one: the prompt's last token predicts the answer's first, the answer's last one predicts nothing.
    inputs = [[s.prompt[-1], *s.tokens[:-1]] for s in chosen]
    most = max(map(len, groups.values()))
    # K rows to a prompt, so that [G * K] folds into [G, K]; a prompt with fewer answers leaves rows empty.
    rows = [group * most + number for group, found in enumerate(groups.values()) for number in range(len(found))]
    prompts, prompt_places = _places([len(head) for head in heads], list(range(len(heads))), len(heads))
    answers, answer_places = _places([len(row) for row in inputs], rows, len(heads) * most)
    width = answers.shape[1]
    # An answer sees the prompt as far as it goes, and itself up to where it is.
    within = torch.arange(prompts.shape[1])[None] < torch.tensor([len(head) for head in heads])[:, None]
    before = within[:, None].expand(-1, width, -1).repeat_interleave(most, 0)
    own = torch.ones(width, width, dtype=torch.bool).tril().expand(len(before), -1, -1)
    starts = [range(len(head)) for head in heads]
    # An answer's inputs begin with the prompt's last token, which stands at len(prompt) - 1.
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
    """How pieces that stand one after the other are laid out as rows, padded at the right, and back.

    Piece i becomes row `rows[i]` of `count`. Returns [count, longest] places of the tokens, and [sum of lengths] where
    each is in the flattened rows.
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

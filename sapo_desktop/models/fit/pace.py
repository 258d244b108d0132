"""How long a round takes: the operations that it computes, over those that this computer does in a second.

An estimate for before a download, no more. Counted are the products with the model's matrices, two operations a weight
and token (Kaplan et al., arXiv 2001.08361): once to read a question or to write a token, and to learn from one twice,
or three times where layers are made again: LoRA needs the gradients of what goes through the model, not of its
weights. Left out: attention itself, loading, marking, held-out scores.
"""

from __future__ import annotations

from sapo_desktop.core.fitting import Way
from sapo_desktop.models.fit.shape import ModelShape

CORE = 38e9
"""Operations a second of one core, in rounds of a 135M model (tests/bench/engines/pace.py); others: not measured."""
FURTHER_CORE = 0.7
"""What each further one adds, of the first; measured with two (tests/bench/engines/generate.py)."""
CARD, CARD_BYTES = 15e12, 300e9
"""Operations, and bytes of weights read, a second on a card: assumed of a small one."""
CARD_STEP, CARD_PASS = 0.3e-3, 8e-3
"""Seconds of a layer on a card that computes more than any model asks of it, an H200 (tests/bench/engines/card.py): for
a token of each answer under way, which is handed over whole, and for a micro-batch that is learned from, operation by
operation."""
CARD_AGAIN = 1.75
"""How much longer that takes where layers are made again; 1.7 and 2.3 were measured."""
STEP_IN_PARTS = 1.3e-3
"""As CARD_STEP, where nothing is recorded, as on Macs: .8 to 1.5 ms were measured on the same card."""
ROUNDED_BYTES = 5
"""Of each weight in 8 bits: read, written in bfloat16, and read again."""
WRITTEN = 0.5
"""Of the longest answer that is written on average: assumed."""


def operations(shape: ModelShape, written: float, read: float, *, recompute: bool = False) -> float:
    """Of a round in which so many tokens of answers are written and learned from, and so many of questions read."""
    head = shape.vocabulary * shape.hidden
    through = 2 * shape.linear_weights * (written + read) + 2 * head * written
    return through * (4 if recompute else 3)


def round_seconds(way: Way, shape: ModelShape, questions: int, threads: int) -> float:
    """Seconds of a round of so many questions; 0 where nothing learns, or a server answers."""
    if way.trainer != "torch" or way.generator == "remote":
        return 0.0
    written = questions * way.answers * way.max_tokens * WRITTEN
    work = operations(shape, written, questions * way.prompt_tokens, recompute=way.recompute)
    if way.device == "cpu":
        return work / (CORE * (1 + FURTHER_CORE * (threads - 1)))
    # A card that writes a token for each answer of a batch waits for the weights more than it computes, or for the
    # processor.
    answers = questions * way.answers
    steps, passes = written / min(way.batch, answers), answers / way.micro_batch * (CARD_AGAIN if way.recompute else 1)
    step = CARD_STEP if way.device == "cuda" else STEP_IN_PARTS
    read = (ROUNDED_BYTES if way.rounded else 2) * shape.linear_weights + 2 * shape.vocabulary * shape.hidden
    return max(work / CARD + steps * read / CARD_BYTES, shape.layers * (steps * step + passes * CARD_PASS))

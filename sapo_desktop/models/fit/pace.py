"""The time of a round here: its multiplications, divided by this computer's measured speed.

This counts the products with the model's matrices (Kaplan et al., arXiv 2001.08361). Reading a question or writing a
token needs one pass. Learning needs two more, or three if layers are recomputed: LoRA needs gradients of the
activations, not of the weights. A processor is measured for a second (engines/torch/products.py) before the first
round; later, the lengths and pace of recent rounds count. Left out: loading, scoring, held-out scores, other programs.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from sapo_desktop.core.fitting import TINY_PARAMETERS, Pace, PassSeconds, Way
from sapo_desktop.core.records import RoundReport
from sapo_desktop.models.fit.shape import ModelShape
from sapo_desktop.system.hardware import Hardware

FURTHER_CORE = 0.7
"""Speed that each further core adds, relative to the first; measured with two (tests/bench/engines/generate.py)."""
CARD, CARD_BYTES = 15e12, 300e9
"""Operations, and bytes of weights read, per second: assumptions for a small card."""
CARD_STEP, CARD_PASS = 0.3e-3, 8e-3
"""Seconds per layer on a card with more than enough computing power, an H200 (tests/bench/engines/card.py): for a
token of each current answer (recorded steps), and for a training micro-batch (separate operations)."""
CARD_AGAIN = 1.75
"""The factor if layers are recomputed; 1.7 and 2.3 were measured."""
STEP_IN_PARTS = 1.3e-3
"""Like CARD_STEP without recording, as on Macs: 0.8 to 1.5 ms were measured on the same card."""
ROUNDED_BYTES = 5
"""Per weight in 8 bits: read, written in bfloat16, and read again."""
TEACHING = 0.75
"""Share of groups with both right and wrong answers, in rounds that learn; others need no step."""
UNMEASURED = {
    "float32": PassSeconds(generating=18e-12, learning=18e-12),
    "bfloat16": PassSeconds(generating=4.6e-12, learning=4.4e-12),
}
"""Seconds of a product per weight without a measurement: those of the processor of docs/fit.md."""
OTHER_WORK = 120e-9
"""Seconds per written or trained token, per layer and unit of width, for attention, norms and everything else that
is not a matrix product (tests/bench/engines/pace.py)."""


OTHER = 0.8
"""Seconds of a round outside the engine: questions, scores, history (measured once, with the starter)."""


class Lengths(NamedTuple):
    """Lengths in tokens."""

    prompt: int
    written: float
    """Tokens of an answer, on average."""


CHAT, TINY = Lengths(185, 32), Lengths(64, 64)
"""For a chat model with a worked example before each question, and for the starter, without recorded rounds
(tests/bench/engines/pace.py)."""


class Counts(NamedTuple):
    """Tokens in a round."""

    read: float
    """Tokens of questions."""
    written: float


def counts(way: Way, parameters: int, questions: float, pace: Pace | None = None) -> Counts:
    """Tokens of a round with so many questions, based on recorded rounds of such a model if there are any."""
    usual = TINY if parameters <= TINY_PARAMETERS else CHAT
    written = pace.written if pace is not None and pace.holds_for(parameters) else usual.written
    return Counts(questions * usual.prompt, questions * way.answers * min(written, way.max_tokens))


def _answering(shape: ModelShape, found: Counts, spent: PassSeconds) -> float:
    """Seconds of one processor core."""
    head, other = shape.vocabulary * shape.hidden, OTHER_WORK * shape.layers * shape.hidden
    written = (shape.linear_weights + head) * spent.generating + other
    return shape.linear_weights * found.read * spent.learning + found.written * written


def _learning(way: Way, shape: ModelShape, found: Counts, spent: PassSeconds) -> float:
    """Seconds of one processor core."""
    head, other = shape.vocabulary * shape.hidden, OTHER_WORK * shape.layers * shape.hidden
    passes = 3 if way.recompute else 2
    products = passes * (shape.linear_weights * sum(found) + head * found.written) * spent.learning
    return TEACHING * (products + other * sum(found))


def product_seconds(hardware: Hardware, hidden: int, precision: str) -> PassSeconds:
    """Seconds per weight, as measured at the nearest width."""
    if not hardware.products:
        return UNMEASURED[precision]
    nearest = min(hardware.products, key=lambda times: abs(math.log(times.hidden / hidden)))
    found = nearest.bfloat16 if precision == "bfloat16" else nearest.float32
    return PassSeconds(generating=found.generating / nearest.hidden, learning=found.learning / nearest.hidden)


def round_seconds(way: Way, shape: ModelShape, hardware: Hardware, questions: float, threads: int) -> float:
    """Seconds of a round with so many questions; 0 if nothing learns, or a server answers."""
    if way.trainer != "torch" or way.generator == "remote":
        return 0.0
    parameters = _parameters(shape)
    pace = hardware.pace if hardware.pace is not None and hardware.pace.holds_for(parameters) else None
    found = counts(way, parameters, questions, pace)
    cores = 1 + FURTHER_CORE * (threads - 1)
    spent = product_seconds(hardware, shape.hidden, way.precision)
    on_card = way.device != "cpu"
    if on_card and way.generator != "llama.cpp":
        seconds = _card_answering(way, shape, found, questions)
    else:
        seconds = _answering(shape, found, spent) / cores
    seconds += _card_learning(way, shape, found, questions) if on_card else _learning(way, shape, found, spent) / cores
    return (OTHER + seconds) * (pace.slower if pace is not None else 1.0)


def _card_answering(way: Way, shape: ModelShape, found: Counts, questions: float) -> float:
    """A card that writes a token for each answer of a batch mostly waits for the weights or for the processor."""
    head = shape.vocabulary * shape.hidden
    steps = found.written / min(way.batch, questions * way.answers)
    read = (ROUNDED_BYTES if way.rounded else 2) * shape.linear_weights + 2 * head
    computing = 2 * (shape.linear_weights * sum(found) + head * found.written) / CARD
    step = CARD_STEP if way.device == "cuda" else STEP_IN_PARTS
    return max(computing + steps * read / CARD_BYTES, shape.layers * steps * step)


def _card_learning(way: Way, shape: ModelShape, found: Counts, questions: float) -> float:
    """Its computing time or the time to issue the operations, whichever is longer."""
    head, passes = shape.vocabulary * shape.hidden, 3 if way.recompute else 2
    computing = 2 * passes * (shape.linear_weights * sum(found) + head * found.written) / CARD
    batches = questions * way.answers / way.micro_batch * (CARD_AGAIN if way.recompute else 1)
    return TEACHING * max(computing, shape.layers * batches * CARD_PASS)


def shown(reports: Sequence[RoundReport], way: Way, shape: ModelShape, hardware: Hardware, threads: int) -> Pace | None:
    """What these rounds of one model showed; None if they wrote nothing. `way`: how the model ran. `threads`: by how
    many."""
    played = [(report, sum(mark.answers for mark in report.tasks)) for report in reports]
    written = [report.answer_tokens / answers for report, answers in played if answers]
    if not written:
        return None
    pace = Pace(parameters=_parameters(shape), written=statistics.median(written), slower=1.0)
    estimates = [
        round_seconds(way, shape, msgspec.structs.replace(hardware, pace=pace), answers / way.answers, threads)
        for _, answers in played
        if answers
    ]
    took = [report.seconds - report.evaluate_seconds for report, answers in played if answers]
    times = [seconds / estimate for seconds, estimate in zip(took, estimates, strict=True) if estimate]
    return msgspec.structs.replace(pace, slower=statistics.median(times)) if times else None


def _parameters(shape: ModelShape) -> int:
    """Approximate: norms do not count, and a tied head counts once."""
    return shape.linear_weights + shape.vocabulary * shape.hidden

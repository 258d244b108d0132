"""The stream of priming batches: questions of the training side with their worked steps, made when needed.

Chunk n of seed s is always the same, so a resumed run sees the same data as an uninterrupted one.
"""

from __future__ import annotations

import os
import random
import sys
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any

from transformers import PreTrainedTokenizerFast

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.records import Question
from sapo_desktop.tasks.catalogue import load_catalogue
from sapo_desktop.tasks.examiner import Examiner
from sapo_desktop.tasks.split import held_out_side
from sapo_desktop.tasks.worked import WRITERS

REPOSITORY = Path(__file__).resolve().parents[2]
CHUNK = 640  # examples that are sorted by length together
ALIKE = 24  # lengths that may share a batch differ by less: little padding, but several families together
LONGEST = 300  # tokens of question and completion; longer ones are skipped

# Share of `middle` questions per family: the dial for headroom. All others are `easy`; `hard`, `paper` are never used.
MIDDLE = 0.03
MIDDLE_OF: dict[str, float] = {"bf": 0.0}
# How often a family is drawn: 1, unless it needs more or less practice than the others.
WEIGHT_OF: dict[str, float] = {
    "propositional_logic": 0.5,
    "spell_backward": 0.6,
    "arc_1d": 0.3,
    "binary_matrix": 0.8,
    "count_bits": 0.8,
    "ab": 0.8,
    "bf": 0.8,
    "simple_geometry": 0.8,
}


def catalogue() -> dict[str, Any]:
    """The contents of resources/tasks.toml."""
    return tomllib.loads((REPOSITORY / "resources" / "tasks.toml").read_text(encoding="utf-8"))


def with_fixed_hashing() -> None:
    """Start this script again with the hash seed that the examiner asks for, unless it has it."""
    if sys.flags.hash_randomization:
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"})


@cache
def examiner() -> Examiner:
    """The examiner that rounds use: the same questions, scored by the same rules."""
    return Examiner(load_catalogue(REPOSITORY / "resources" / "tasks.toml"))


class Source:
    """Questions of one family and level on one side of the split."""

    def __init__(self, family: str, level: str, held_out: bool) -> None:
        self.family, self.task, self.held_out = family, f"{family}/{level}", held_out

    def draw(self, rng: random.Random) -> Question:
        """A random question of this side."""
        while True:
            try:
                question = examiner().question(self.task, rng.randrange(2**48))
            except TaskError:  # decimal_arithmetic sometimes makes x/(y-y)
                continue
            if held_out_side(self.family, question.text) == self.held_out:
                return question

    def entry(self, question: Question) -> dict[str, Any]:
        """The dataset's metadata of the question."""
        return dict(examiner().entry(self.task, question.seed))

    def solved(self, question: Question, completion: str) -> bool:
        """Whether a round would score the completion as solved."""
        return examiner().mark(self.task, question.seed, completion).solved


class Stream:
    """Batches of token ids (prompt and completion) with the length of the prompt, from chunk `first` on."""

    def __init__(
        self,
        tokenizer: PreTrainedTokenizerFast,
        seed: int,
        batch_tokens: int,
        part: int = 0,
        of: int = 1,
        guesses: Sequence[float] = (0.0,),
        families: Sequence[str] = tuple(WRITERS),
    ) -> None:
        """`guesses`: shares of examples that show only the answer, without steps; families take them in turn."""
        self.tokenizer, self.seed, self.batch_tokens = tokenizer, seed, batch_tokens
        self.part, self.of = part, of
        self.families = list(families)
        self.guesses = dict(zip(self.families, cycle(guesses)))
        self.weights = [WEIGHT_OF.get(family, 1.0) for family in self.families]
        self.sources = {
            (family, level): Source(family, level, held_out=False)
            for family in self.families
            for level in ("easy", "middle")
            if level == "easy" or MIDDLE_OF.get(family, MIDDLE)
        }

    def encoded(self, question: str, written: str) -> tuple[list[int], int]:
        """Ids of a question and its completion, and the number of the question's ids."""
        before, after, end = self.tokenizer.convert_tokens_to_ids(["<q>", "<a>", "<eos>"])
        prompt = [before, *self.tokenizer.encode(question), after]
        return [*prompt, *self.tokenizer.encode(written), end], len(prompt)

    def example(self, rng: random.Random) -> tuple[list[int], int] | None:
        """Ids and prompt length of a drawn question, or None if it has no short honest solution."""
        family = rng.choices(self.families, self.weights)[0]
        level = "middle" if rng.random() < MIDDLE_OF.get(family, MIDDLE) else "easy"
        source = self.sources[family, level]
        question = source.draw(rng)
        written = WRITERS[family](source.entry(question))
        if written is None or not source.solved(question, written):
            return None
        if self.guesses[family] and rng.random() < self.guesses[family]:
            written = written[written.rindex("<answer>") :]
        ids, prompt = self.encoded(question.text, written)
        return (ids, prompt) if len(ids) <= LONGEST else None

    def chunk(self, number: int) -> list[list[tuple[list[int], int]]]:
        """The batches of one chunk, like lengths together, in random order."""
        rng = random.Random(f"{self.seed}/{number}")
        examples = [e for e in (self.example(rng) for _ in range(CHUNK)) if e]
        examples.sort(key=lambda e: -(len(e[0]) // ALIKE))
        batches: list[list[tuple[list[int], int]]] = [[]]
        for example in examples:
            longest = max(len(ids) for ids, _ in [*batches[-1], example])
            if batches[-1] and (len(batches[-1]) + 1) * longest > self.batch_tokens:
                batches.append([])
            batches[-1].append(example)
        rng.shuffle(batches)
        return batches

    def __call__(self, chunk: int, batch: int) -> Iterator[tuple[int, int, list[tuple[list[int], int]]]]:
        """(chunk, next batch, examples) from that place on, endlessly: this part of every `of` batches."""
        while True:
            batches = self.chunk(chunk)
            for first in range(batch, len(batches) - self.of + 1, self.of):
                yield chunk, first + self.of, batches[first + self.part]
            chunk, batch = chunk + 1, 0

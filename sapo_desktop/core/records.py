"""The records that pass between the parts of a round.

All are frozen msgspec structs, so they cross process edges as they are and are checked once, at the edge.
Token ids and log-probabilities are plain lists: no part outside `engines` knows a tensor.
"""

from __future__ import annotations

import json
from typing import Literal

import msgspec


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Base of our plain records."""


Verdict = Literal["solved", "partial", "wrong", "unparsed", "no_answer", "timeout", "scorer_failed"]
FinishReason = Literal["stop", "closed", "length", "cancelled"]
"""`stop`: the model ended its turn; `closed`: the engine ended it behind the closing tag."""
Origin = Literal["own", "peer", "human"]
"""`human`: one of the group's answers was given by a person, here or at the author's node."""
AnswerKind = Literal["model", "human"]
WeightingName = Literal["guarded", "paper"]
"""How external groups are weighed; the formulas are in learning/external.py."""
Phase = Literal["waiting", "questions", "generate", "mark", "share", "draw", "train", "checkpoint", "evaluate"]
"""What a node does, as people are told."""


class Check(Record, frozen=True):
    """One thing that `doctor` looked at."""

    name: str
    state: Literal["good", "limited", "bad"]
    """Limited: the node works, with less."""
    found: str
    """A sentence."""
    advice: str = ""
    """What to do, in a sentence; empty where all is good."""


class Question(Record, frozen=True):
    """One question as every node that knows its task and seed can make it again."""

    task: str
    """The local name of family and level, as in `gcd/easy`."""
    seed: int
    """63 bits, derived in tasks/questions.py; the question is item 0 of a dataset of size 1 with this seed."""
    text: str
    hash: bytes
    """First 8 bytes of SHA-256 over the text; tells a peer with another library version apart."""
    slot: int = 0
    """With `index`: what the seed was derived from; 0 where nothing of it is shared."""
    index: int | None = None


class Exchange(Record, frozen=True):
    """A question with a good answer to it, shown to a model before it is asked."""

    question: str
    answer: str
    """Steps, then the answer in its tags."""


class Prompt(Record, frozen=True):
    """What a model is asked: a question, behind the exchanges that show it how to answer (few-shot prompting)."""

    question: str
    shown: tuple[Exchange, ...] = ()
    turns: tuple[Exchange, ...] = ()
    """In a chat: the questions before this one, with their answers."""
    system: str | None = None
    """The system message; None: the one that this model learns with."""


class Mark(Record, frozen=True):
    """What the examiner says about one completion."""

    solved: bool
    """Score of at least .99: what figures and goals count."""
    partial: float
    """The marker's own score, 0 to 1."""
    reward: float
    """What the trainer is given; strict (1 if solved, else 0) unless the settings say otherwise."""
    answer: str | None
    """The answer in its canonical form, None where there was none or it did not parse."""
    verdict: Verdict
    readable: bool = False
    """Whether an answer in its tags has the form that the question wants, right or wrong."""


class Sampling(Record, frozen=True):
    """How tokens are drawn. Nothing is cut away: log-probabilities are those at `temperature`."""

    temperature: float = 1.0
    max_tokens: int = 256
    seed: int = 0
    greedy: bool = False
    stop: tuple[str, ...] = ()
    """Texts that end the answer, besides what ends every answer. A server elsewhere is not asked to heed them."""


class Completion(Record, frozen=True):
    """One sampled answer to one question."""

    tokens: list[int]
    """Exactly the sampled ids, and the end of the turn, sampled or put behind the closing tag; never re-encoded
    text."""
    logprobs: list[float]
    """log p of each sampled token under the sampler, at the sampling temperature: as long as `tokens`, one less where
    `finish` is `closed`. Empty for an external answer, as what its sender claims is not used, and where a server does
    not give them."""
    text: str
    """Decoded, special tokens left out."""
    finish: FinishReason
    kind: AnswerKind = "model"
    """Who wrote it; of an external answer what its author says."""

    @property
    def had_no_room(self) -> bool:
        """Whether the question fills the model's context, so that nothing could be answered."""
        return not self.tokens and self.finish == "length"


class Generated(Record, frozen=True, tag=True):
    """A generator's answers to a batch of questions; an engine's host sends it as it is."""

    prompt_tokens: list[list[int]]
    """Ids of each question."""
    completions: list[list[Completion]]
    """The answers to each question."""
    seconds: float
    batch: int
    """Sequences decoded at once; smaller than asked after out of memory."""
    off_policy: bool = False
    """Whether the sampler was not the trainer's own model: then its log-probabilities weigh the tokens."""
    asked: str = ""
    """Where a single answer was asked for: the whole prompt as text."""


class Group(Record, frozen=True):
    """One question with its marked answers: the unit of I and J in SAPO."""

    question: Question
    completions: list[Completion]
    marks: list[Mark]
    origin: Origin = "own"
    author: str = ""
    """Hex key of the peer that shared it; empty for groups made here."""
    source: str = ""
    """Which link a peer's group came by: hex of Link.source."""


class TrainingSequence(Record, frozen=True):
    """One answer as the trainer sees it."""

    prompt: list[int]
    tokens: list[int]
    advantage: float
    sampler_logprobs: list[float] | None = None
    """Set where the sampler was not the trainer's own torch model: gives the truncated importance weight. One less
    than `tokens` where the end of the turn was put there."""
    external: bool = False
    least: float = 0.0
    """Of a peer's answer: it counts if our own policy gives each of its tokens this probability or more."""


class TrainerSettings(Record, frozen=True):
    """What the loss and the optimiser are given."""

    method: Literal["lora", "full"] = "lora"
    lora_rank: int = 8
    lora_alpha: int = 16
    learning_rate: float = 1e-3
    clip_low: float = 0.2
    clip_high: float = 0.28
    importance_cap: float = 2.0
    max_grad_norm: float = 1.0
    updates: int = 1
    micro_batch: int = 16
    """Sequences per forward pass; never changes the gradient, only memory and time."""
    recompute: bool = False
    """The backward pass makes each layer's tensors again instead of keeping them: less memory, half more time."""
    temperature: float = 1.0
    """Logits are divided by this on the trainer's side too."""
    seed: int = 0


class StepReport(Record, frozen=True):
    """What one trainer step did."""

    loss: float
    grad_norm: float
    clip_fraction: float
    """Share of tokens at which the clip acted."""
    tokens: int
    sequences: int
    micro_batch: int
    """The micro-batch that fitted; smaller than asked after out of memory."""
    skipped: bool
    """True where no advantage differed from zero, or all that had one are left out: no step was taken."""
    seconds: float
    steps: int = 0
    """Optimiser steps behind the adapter since its beginning, those of this step included."""
    left_out: int = 0
    """Answers of peers that nothing was learned from: this model would hardly write one of their tokens."""


class TaskMark(Record, frozen=True):
    """Marks of one task in one round or evaluation."""

    task: str
    answers: int
    solved: float
    partial: float
    reward: float


class SwarmReward(Record, frozen=True):
    """The share that peers solve of the tasks of a round, next to the share solved here: never to be shown without its
    interval and count. Tasks weigh equally, so that both sides are about the same kinds of question."""

    value: float
    """The median peer's."""
    low: float
    high: float
    """95% interval, bootstrapped over identities, and over their groups where they are few."""
    peers: int
    """Identities that it was measured on."""
    tasks: dict[str, float]
    """The median of each task."""
    mine: float | None = None
    """Share of own answers of the round solved, on these tasks; None: from before this was written down."""


class RoundReport(Record, frozen=True):
    """One finished round, as history keeps it and views show it."""

    round: int
    reward: float
    solved: float
    partial: float
    swarm_reward: SwarmReward | None
    local_groups: int
    external_groups: int
    zero_advantage_groups: int
    answer_tokens: int
    truncated: float
    """Share of own answers cut at the token limit."""
    tasks: list[TaskMark]
    step: StepReport | None
    generate_seconds: float
    mark_seconds: float
    train_seconds: float
    seconds: float
    checkpoint: int | None
    """Number of the checkpoint written at the end of this round, if one was."""
    note: str = ""
    """What happened that a reader should know (filled up with own groups, halved the micro-batch, ...)."""
    evaluate_seconds: float = 0.0
    """On held-out questions."""
    share_seconds: float = 0.0
    draw_seconds: float = 0.0
    silo: bool | None = None
    """Whether the round was played alone; None: from before this was written down."""
    mix: str = ""
    """Own and external groups that were asked for, such as `24/8`."""
    weighting: str = msgspec.field(default="", name="treatment")  # as histories before had it
    """How external groups were weighed."""
    readable: float | None = None
    """Share of own answers that the examiner could read; None: from before this was written down."""
    external_dropped: int = 0
    """Groups of peers that were fit but had nothing to teach: others were drawn in their place."""
    model: str = ""
    """Short hash of the model that played it."""


class Gain(Record, frozen=True):
    """A difference of two shares on the same questions, with its 95% interval (McNemar's)."""

    value: float
    low: float
    high: float


class Learned(Record, frozen=True):
    """A held-out question that the model as it came answers wrongly and the trained one rightly, both greedily."""

    round: int
    """After which it was first seen."""
    task: str
    question: str
    before: str
    """What the model as it came writes."""
    now: str


class EvalReport(Record, frozen=True):
    """A held-out score. `score` is the share solved, of greedy answers or of `samples` drawn ones a question."""

    checkpoint: str
    round: int
    which: Literal["validation", "test"]
    score: float
    partial: float
    questions: int
    low: float
    high: float
    """95% interval of `score`: Wilson's where answers are greedy, over questions where they are drawn."""
    tasks: list[TaskMark]
    solved: list[bool]
    """Per answer, in the set's fixed order, question by question: what paired tests need."""
    seconds: float
    samples: int = 0
    """Answers drawn to each question; 0: one, greedily."""
    temperature: float = 0.0
    """That they were drawn at; 0: the training temperature."""
    level: str = ""
    """Of the questions; empty: of all levels."""
    chosen: list[str] = []
    """Families of the questions, with or without a level; empty: all."""
    gain: Gain | None = None
    """Over the untrained model's answers to the same questions, where these are at hand."""
    line: str = ""
    """Names the model, the questions and how they are asked: only scores of one line may be compared."""
    learned: Learned | None = None
    """One of the questions that are answered rightly now and were not at the look before, if there are any."""
    prints: list[str] = []
    """Of each of `tasks` what names its questions: where two scores have the same, so have they the questions."""
    too_long: int = 0
    """Questions that fill the model's context: they were not answered, and count as not solved."""

    @property
    def model(self) -> str:
        """Short hash of the model that was asked; empty: from before lines had names."""
        return self.line.partition(" ")[0]

    @property
    def kind(self) -> str:
        """Set and way of answering: scores of two kinds must never be compared."""
        asked = " ".join(part for part in (self.which, self.level, ",".join(sorted(self.chosen))) if part)
        if not self.samples:
            return asked
        return f"{asked} (sampled at {self.temperature:g})" if self.temperature else f"{asked} (sampled)"

    @property
    def pass_at_k(self) -> float:
        """Share of the questions to which at least one answer is right; k is `samples`."""
        return sum(rate > 0 for rate in self.rates) / max(len(self.rates), 1)

    @property
    def rates(self) -> list[float]:
        """Share solved of each question's answers."""
        count = max(self.samples, 1)
        return [sum(self.solved[at : at + count]) / count for at in range(0, len(self.solved), count)]


class Confined(Record, frozen=True):
    """What is forbidden to a process: `held`, or why it is not."""

    network: str
    reading: str
    """What is no part of the program, the system, or its work."""
    writing: str
    programs: str
    """Starting any."""
    signals: str
    """To other programs, which would end them."""


def json_line(record: msgspec.Struct) -> str:
    """All fields of a plain record, with the line's end. ASCII: text of strangers does nothing to who looks at it."""
    return json.dumps(msgspec.structs.asdict(record), ensure_ascii=True) + "\n"

"""The records that pass between the parts of a round.

All are frozen msgspec structs, so they cross process boundaries unchanged and are checked once, on arrival. Token ids
and log-probabilities are plain lists: only `engines` uses tensors.
"""

from __future__ import annotations

import json
from typing import Literal

import msgspec


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Base class of these plain records."""


Verdict = Literal["solved", "partial", "wrong", "unparsed", "no_answer", "timeout", "scorer_failed"]
FinishReason = Literal["stop", "closed", "length", "cancelled"]
"""`stop`: the model ended its turn. `closed`: the engine ended it after the closing tag."""
Origin = Literal["own", "peer", "human"]
"""`human`: a person gave one of the group's answers, here or at the author's node."""
AnswerKind = Literal["model", "human"]
WeightingName = Literal["guarded", "paper"]
"""How external groups are weighted; the formulas are in learning/external.py."""
Phase = Literal["waiting", "questions", "generate", "mark", "share", "draw", "train", "checkpoint", "evaluate"]
"""What a node does, as shown to people."""


class Check(Record, frozen=True):
    """One item that `doctor` checked."""

    name: str
    state: Literal["good", "limited", "bad"]
    """`limited`: the node works, with restrictions."""
    found: str
    """The finding, a sentence."""
    advice: str = ""
    """What to do, a sentence; empty if all is well."""


class Question(Record, frozen=True):
    """One question; every node that knows its task and seed can recreate it."""

    task: str
    """The local name of family and level, as in `gcd/easy`."""
    seed: int
    """63 bits, derived in tasks/questions.py; the question is item 0 of a dataset of size 1 with this seed."""
    text: str
    hash: bytes
    """First 8 bytes of SHA-256 over the text; reveals a peer with another version of the library."""
    slot: int = 0
    """With `index`: what the seed was derived from; 0 if the question is never shared."""
    index: int | None = None


class Exchange(Record, frozen=True):
    """A question with a good answer, shown to a model as an example."""

    question: str
    answer: str
    """The steps, then the answer in its tags."""


class Prompt(Record, frozen=True):
    """What a model is asked: a question, after examples of good answers (few-shot prompting)."""

    question: str
    shown: tuple[Exchange, ...] = ()
    turns: tuple[Exchange, ...] = ()
    """In a chat: the previous questions with their answers."""
    system: str | None = None
    """The system message; None: the one used in training."""


class Mark(Record, frozen=True):
    """The examiner's result for one completion."""

    solved: bool
    """A score of at least 0.99; figures and goals count this."""
    partial: float
    """The scorer's own score, 0 to 1."""
    reward: float
    """What the trainer gets: 1 if solved, otherwise 0, unless the settings say otherwise."""
    answer: str | None
    """The answer in canonical form; None if there was none or it did not parse."""
    verdict: Verdict
    readable: bool = False
    """Whether an answer in its tags has the form that the question asks for, right or wrong."""


class Sampling(Record, frozen=True):
    """How tokens are drawn. No tokens are cut off: log-probabilities are those at `temperature`."""

    temperature: float = 1.0
    max_tokens: int = 256
    seed: int = 0
    greedy: bool = False
    stop: tuple[str, ...] = ()
    """Additional texts that end the answer. A remote server may ignore them."""


class Completion(Record, frozen=True):
    """One sampled answer to one question."""

    tokens: list[int]
    """The sampled ids, and the end of the turn, sampled or appended after the closing tag. Text is never encoded
    again."""
    logprobs: list[float]
    """log p of each sampled token under the sampler, at the sampling temperature.

    As long as `tokens`, or one shorter if `finish` is `closed`. Empty for an external answer, whose sender's claims are
    not used, and if a server returns none.
    """
    text: str
    """Decoded, without special tokens."""
    finish: FinishReason
    kind: AnswerKind = "model"
    """Who wrote it; for an external answer, what its author claims."""

    @property
    def had_no_room(self) -> bool:
        """Whether the question fills the model's context and leaves no room for an answer."""
        return not self.tokens and self.finish == "length"


class Generated(Record, frozen=True, tag=True):
    """A generator's answers to a batch of questions, as an engine's host sends them."""

    prompt_tokens: list[list[int]]
    """Token ids of each question."""
    completions: list[list[Completion]]
    """The answers to each question."""
    seconds: float
    batch: int
    """Sequences decoded at once; fewer than requested after running out of memory."""
    off_policy: bool = False
    """Whether the sampler was not the trainer's own model. Then its log-probabilities weight the tokens."""
    asked: str = ""
    """For a single requested answer: the whole prompt as text."""


class Group(Record, frozen=True):
    """One question with its scored answers: the unit of I and J in SAPO."""

    question: Question
    completions: list[Completion]
    marks: list[Mark]
    origin: Origin = "own"
    author: str = ""
    """Hex key of the peer that shared it; empty for own groups."""
    source: str = ""
    """The link that delivered a peer's group: hex of Link.source."""


class TrainingSequence(Record, frozen=True):
    """One answer as the trainer gets it."""

    prompt: list[int]
    tokens: list[int]
    advantage: float
    sampler_logprobs: list[float] | None = None
    """Set if the sampler was not the trainer's own torch model, for the truncated importance weight. One shorter
    than `tokens` if the end of the turn was appended."""
    external: bool = False
    least: float = 0.0
    """For a peer's answer: it counts only if our policy gives each of its tokens at least this probability."""


class TrainerSettings(Record, frozen=True):
    """Parameters of the loss and the optimiser."""

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
    """Sequences per forward pass; affects memory and time, never the gradient."""
    recompute: bool = False
    """Recompute each layer's tensors in the backward pass instead of keeping them: less memory, 1.5 times the time."""
    temperature: float = 1.0
    """The trainer divides logits by this, too."""
    seed: int = 0


class StepReport(Record, frozen=True):
    """What one training step did."""

    loss: float
    grad_norm: float
    clip_fraction: float
    """Share of tokens that were clipped."""
    tokens: int
    sequences: int
    micro_batch: int
    """The micro-batch that fitted; smaller than requested after running out of memory."""
    skipped: bool
    """True if no step was taken, because no advantage differs from zero or all such answers are left out."""
    seconds: float
    steps: int = 0
    """Optimiser steps of the adapter since its beginning, including this one."""
    left_out: int = 0
    """Peers' answers that were not used, because they have a token that this model would hardly write."""


class TaskMark(Record, frozen=True):
    """Scores of one task in one round or evaluation."""

    task: str
    answers: int
    solved: float
    partial: float
    reward: float


class SwarmReward(Record, frozen=True):
    """The share that peers solve of a round's tasks, next to the share solved here.

    Always shown with its interval and count. Tasks weigh equally, so that both sides are about the same kinds of
    question.
    """

    value: float
    """The share of the median peer."""
    low: float
    high: float
    """95% interval, bootstrapped over identities, and over their groups if there are few."""
    peers: int
    """Number of identities measured."""
    tasks: dict[str, float]
    """The median peer's share for each task."""
    mine: float | None = None
    """Share of own answers of the round solved, on these tasks; None in records from before this field."""


class RoundReport(Record, frozen=True):
    """One finished round, as history stores it and views show it."""

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
    """Share of own answers cut off at the token limit."""
    tasks: list[TaskMark]
    step: StepReport | None
    generate_seconds: float
    mark_seconds: float
    train_seconds: float
    seconds: float
    checkpoint: int | None
    """Number of the checkpoint written after this round, if any."""
    note: str = ""
    """Remarks for the reader (filled up with own groups, halved the micro-batch, ...)."""
    evaluate_seconds: float = 0.0
    """Seconds spent on held-out questions."""
    share_seconds: float = 0.0
    draw_seconds: float = 0.0
    silo: bool | None = None
    """Whether the round was played alone; None in records from before this field."""
    mix: str = ""
    """Requested own and external groups, such as `24/8`."""
    weighting: str = msgspec.field(default="", name="treatment")  # named as in older histories
    """How external groups were weighted."""
    readable: float | None = None
    """Share of own answers that the examiner could read; None in records from before this field."""
    external_dropped: int = 0
    """Usable peers' groups that had nothing to teach; others were drawn instead."""
    model: str = ""
    """Short hash of the model that played this round."""


class Gain(Record, frozen=True):
    """A difference of two shares on the same questions, with its 95% interval (McNemar)."""

    value: float
    low: float
    high: float


class Learned(Record, frozen=True):
    """A held-out question that the untrained model answers wrongly and the trained one rightly, both greedily."""

    round: int
    """The round after which it was first seen."""
    task: str
    question: str
    before: str
    """The untrained model's answer."""
    now: str


class EvalReport(Record, frozen=True):
    """A held-out score: the share solved, of greedy answers or of `samples` drawn answers per question."""

    checkpoint: str
    round: int
    which: Literal["validation", "test"]
    score: float
    partial: float
    questions: int
    low: float
    high: float
    """95% interval of `score`: Wilson's for greedy answers, over questions for drawn ones."""
    tasks: list[TaskMark]
    solved: list[bool]
    """Per answer, in the set's fixed order, question by question, as paired tests need it."""
    seconds: float
    samples: int = 0
    """Answers drawn per question; 0: one greedy answer."""
    temperature: float = 0.0
    """Temperature of drawn answers; 0: the training temperature."""
    level: str = ""
    """Level of the questions; empty: all levels."""
    chosen: list[str] = []
    """Families of the questions, with or without a level; empty: all."""
    gain: Gain | None = None
    """Over the untrained model's answers to the same questions, if these are known."""
    line: str = ""
    """Identifies model, questions and way of asking; only scores with equal lines are comparable."""
    learned: Learned | None = None
    """A question that is solved now and was not at the previous evaluation, if there is one."""
    prints: list[str] = []
    """For each of `tasks`, an identifier of its questions. Equal identifiers mean equal questions."""
    too_long: int = 0
    """Questions that fill the model's context: they are not asked, and count as not solved."""

    @property
    def model(self) -> str:
        """Short hash of the evaluated model; empty in records from before lines had names."""
        return self.line.partition(" ")[0]

    @property
    def kind(self) -> str:
        """The set and the way of answering; scores of different kinds must never be compared."""
        asked = " ".join(part for part in (self.which, self.level, ",".join(sorted(self.chosen))) if part)
        if not self.samples:
            return asked
        return f"{asked} (sampled at {self.temperature:g})" if self.temperature else f"{asked} (sampled)"

    @property
    def pass_at_k(self) -> float:
        """Share of the questions with at least one right answer among k = `samples`."""
        return sum(rate > 0 for rate in self.rates) / max(len(self.rates), 1)

    @property
    def rates(self) -> list[float]:
        """For each question, the share of its answers solved."""
        count = max(self.samples, 1)
        return [sum(self.solved[at : at + count]) / count for at in range(0, len(self.solved), count)]


class Confined(Record, frozen=True):
    """What a process is prevented from doing: `held`, or why not."""

    network: str
    reading: str
    """Reading anything except the program, the system and its own work."""
    writing: str
    programs: str
    """Starting programs."""
    signals: str
    """Sending signals to other programs, which would end them."""


def json_line(record: msgspec.Struct) -> str:
    """All fields of a plain record as one line. ASCII only, so strangers' text cannot affect a terminal."""
    return json.dumps(msgspec.structs.asdict(record), ensure_ascii=True) + "\n"

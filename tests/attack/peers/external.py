"""Valid groups that waste a learner's memory or dilute its step: how much reaches the trainer, as sent and as accepted?

    python -m tests.attack.peers.external [--quick] [--json] [--step]

The first group has right answers with thousands of spaces inside the tags, which the grammar strips: 20 KB that pass
all checks. The second kind is just as long and all wrong. It teaches nothing, and used to dilute what other groups
teach. `as sent` is the input without rewritten answers, computed from the same groups. `--step` also takes a training
step of the starter on the first group in a child process, both ways, for time and peak memory. As sent it takes
minutes, and kills the child if there are not 16 GB. Seeds are fixed; nothing is random.
"""

import argparse
import asyncio
import subprocess
import sys
import time
from collections.abc import Sequence

import msgspec

from sapo_desktop.core.records import Completion, Group, Mark, Prompt, TrainerSettings, TrainingSequence
from sapo_desktop.core.resources import resource
from sapo_desktop.engines.protocols import Encoded
from sapo_desktop.engines.tokenizer import load_tokenizer, model_numbers
from sapo_desktop.learning.mixing import MixShare, advantages, mix_groups, training_sequences
from sapo_desktop.swarm.pool.pool import Entry, Path, Pool
from sapo_desktop.swarm.protocol import limits
from sapo_desktop.swarm.protocol.envelope import Answer, GroupBody, open_envelope
from sapo_desktop.swarm.protocol.refusals import Refusals
from sapo_desktop.worker.membership.external import External, Intake, Yardstick
from tests.bench.figure import Figure, arguments, at_most, peak_memory, show
from tests.builders import as_prompt
from tests.swarm.peers import ALICE, NETWORK, group
from tests.worker.membership.test_external import CATALOGUE, GCD, INDEX, TASKS, Examiner, asked, truth

MAX_TOKENS = 256
BLANKS, ANSWERS = 4000, 5
OWN = (8, 80)
"""Own answers of a round, and the tokens of each."""
WRONG_GROUPS = 4


class Starter:
    """The starter's tokenizer as the engine uses it."""

    def __init__(self) -> None:
        self.words = load_tokenizer(resource("starter"))
        self.numbers = model_numbers(resource("starter"))

    async def encode(self, prompts: Sequence[Prompt], texts: Sequence[str]) -> Encoded:
        return Encoded(
            tokens=[self.words.encode_external(text, end=True) for text in texts],
            prompts=[self.words.prompt_tokens(prompt) for prompt in prompts],
        )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--step", action="store_true", help="take a training step on it as well, in both ways")
    parser.add_argument("--take", choices=["as sent", "as taken"], help=argparse.SUPPRESS)
    given = parser.parse_args()
    starter = Starter()
    if given.take:
        print(msgspec.json.encode(take_step(starter, given.take)).decode())
        return
    figures = [*ids(starter), *normaliser(starter)]
    if given.step:
        figures += [figure for way in ("as taken", "as sent") for figure in stepped(way)]
    show(figures, given)


def padded(answer: int) -> list[str]:
    return [f"<answer>{' ' * BLANKS}{answer}</answer>"] * ANSWERS


def entry(texts: Sequence[str]) -> tuple[Entry, int]:
    """The group as it lies in the pool, and the bytes of its frame."""
    answers = [Answer(text=text) for text in texts]
    envelope = group(ALICE, task=GCD, index=INDEX, question=asked(INDEX).hash, answers=answers)
    opened = open_envelope(envelope, GroupBody, NETWORK)
    return Pool(b"").add(opened, Path(ALICE.key, ALICE.key, b""), 0.0), len(envelope)


def taken(starter: Starter, texts: Sequence[str]) -> list[External]:
    """What the intake makes of the group."""
    ours = Yardstick(MAX_TOKENS, starter.numbers.context, {})
    intake = Intake(Examiner(), starter, CATALOGUE, TASKS, NETWORK, Refusals(), lambda: ours)
    return asyncio.run(intake.take([entry(texts)[0]], 8, strict=True)).fit


def as_sent(starter: Starter, texts: Sequence[str], *, right: bool) -> Group:
    """The group as it would be trained on, were its texts encoded as they came."""
    mark = Mark(solved=right, partial=right, reward=right, answer="1", verdict="solved" if right else "wrong")
    tokens = [starter.words.encode_external(text, end=True) or [] for text in texts]
    completions = [
        Completion(tokens=row, logprobs=[], text=text, finish="stop") for row, text in zip(tokens, texts, strict=True)
    ]
    return Group(
        question=asked(INDEX), completions=completions, marks=[mark] * len(texts), origin="peer", author=ALICE.key.hex()
    )


def ids(starter: Starter) -> list[Figure]:
    """How long the longest of the padded answers is for the trainer."""
    texts = padded(truth(asked(INDEX).seed))
    size = entry(texts)[1]
    sent = max(len(c.tokens) for c in as_sent(starter, texts, right=True).completions)
    (fit,) = taken(starter, texts)
    ours = max(len(c.tokens) for c in fit.group.completions)
    note = f"of {MAX_TOKENS} that an own one may have"
    return [
        at_most("padded group, signed", size, "bytes", limits.MAX_GROUP),
        Figure("padded answer as sent", sent, "ids", note=note),
        at_most("padded answer as trained on", ours, "ids", MAX_TOKENS),
    ]


def normaliser(starter: Starter) -> list[Figure]:
    """What the loss is divided by, with wrong groups as long as the wire takes."""
    own = [_own_group(place) for place in range(OWN[0] // 2)]
    alone = _tokens(own, [])
    wrong = padded(truth(asked(INDEX).seed) + 1)
    before = alone + WRONG_GROUPS * sum(len(c.tokens) for c in as_sent(starter, wrong, right=False).completions)
    after = _tokens(own, [fit.group for fit in taken(starter, wrong)] * WRONG_GROUPS)
    return [
        Figure("normaliser of own answers alone", alone, "tokens"),
        Figure(f"normaliser with {WRONG_GROUPS} wrong groups as sent", before, "tokens"),
        Figure(f"normaliser with {WRONG_GROUPS} wrong groups as taken", after, "tokens", "as alone", after == alone),
    ]


def _own_group(place: int) -> Group:
    """Two own answers, one of them right."""
    marks = [Mark(solved=r, partial=r, reward=r, answer="1", verdict="wrong") for r in (True, False)]
    tokens = [place] * OWN[1]
    answers = [Completion(tokens=tokens, logprobs=[], text="", finish="stop") for _ in marks]
    return Group(question=asked(INDEX), completions=answers, marks=marks)


def _tokens(own: list[Group], external: list[Group]) -> int:
    """The token count of the batch, as engines/torch/trainer.py takes it."""
    mixed = mix_groups(own, external, MixShare(len(own), len(external)))
    batch = training_sequences(mixed.groups, [[1]] * len(mixed.groups), advantages(mixed))
    return sum(len(sequence.tokens) for sequence in batch)


class Stepped(msgspec.Struct):
    seconds: float
    peak: int
    """Bytes."""


def take_step(starter: Starter, way: str) -> Stepped:
    """One training step of the starter on the padded group, in this process."""
    from sapo_desktop.engines.protocols import Load
    from sapo_desktop.engines.torch.service import TorchEngine

    texts = padded(truth(asked(INDEX).seed))
    found = as_sent(starter, texts, right=True) if way == "as sent" else taken(starter, texts)[0].group
    prompt = starter.words.prompt_tokens(as_prompt(asked(INDEX).text))
    batch = [
        TrainingSequence(prompt=prompt, tokens=one.tokens, advantage=0.5, external=True) for one in found.completions
    ]
    engine = TorchEngine(Load(model=str(resource("starter")), trainer=TrainerSettings(), threads=1, device="cpu"))
    began = time.monotonic()
    engine.trainer.step(batch)
    return Stepped(time.monotonic() - began, peak_memory())


def stepped(way: str) -> list[Figure]:
    """The step of that way in a child; without figures where it does not live to tell."""
    line = [sys.executable, "-m", "tests.attack.peers.external", "--take", way]
    done = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return [Figure(f"step on the padded group {way}", done.returncode, "exit code")]
    found = msgspec.json.decode(done.stdout.splitlines()[-1], type=Stepped)
    return [
        Figure(f"step on the padded group {way}", found.seconds, "s"),
        Figure(f"... peak of its process {way}", found.peak / 1e6, "MB"),
    ]


if __name__ == "__main__":
    main()

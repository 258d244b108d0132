"""Records that several tests need, plain but for what a test changes."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from sapo_desktop.core.records import Completion, Group, Mark, Origin, Question, RoundReport
from sapo_desktop.core.settings import Settings
from sapo_desktop.worker.store.manifest import RunManifest, manifest_of

QUESTION = Question(task="gcd/easy", seed=1, text="gcd of 6 and 9?", hash=b"12345678")
_ROUND = RoundReport(
    round=1,
    reward=0.25,
    solved=0.25,
    partial=0.5,
    swarm_reward=None,
    local_groups=1,
    external_groups=0,
    zero_advantage_groups=0,
    answer_tokens=90,
    truncated=0.0,
    tasks=[],
    step=None,
    generate_seconds=1.0,
    mark_seconds=0.1,
    train_seconds=0.7,
    seconds=1.8,
    checkpoint=None,
)


def round_report(number: int, **changes: object) -> RoundReport:
    """The report of a round in silo, one group, a quarter solved."""
    return msgspec.structs.replace(_ROUND, round=number, **changes)


def group(
    *rewards: float, texts: Sequence[str] = (), origin: Origin = "own", author: str = "", **question: object
) -> Group:
    """An answer of two tokens for each reward, solved where that is 1; `question`: what is other than `QUESTION`'s."""
    marks = [
        Mark(solved=r == 1, partial=float(r), reward=float(r), answer="3", verdict="solved" if r == 1 else "wrong")
        for r in rewards
    ]
    completions = [
        Completion(tokens=[10 + n, 1], logprobs=[-1.0, -0.5], text=texts[n] if texts else str(n), finish="stop")
        for n in range(len(rewards))
    ]
    asked: Question = msgspec.structs.replace(QUESTION, **question)
    return Group(question=asked, completions=completions, marks=marks, origin=origin, author=author)


def run_manifest(threads: int = 1, torch: str = "2.13.0", **settings: object) -> RunManifest:
    """The conditions of some run."""
    return manifest_of(
        msgspec.convert(settings, Settings),
        seed=7,
        model_sha256="ab",
        catalogue="c1",
        engine_versions={"torch": torch},
        threads=threads,
        micro_batch=16,
        device="cpu",
        dtype="float32",
    )

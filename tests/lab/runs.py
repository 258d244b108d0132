"""Arms on disk without a round played."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sapo_desktop.core.settings import Settings
from sapo_desktop.lab.arm import Arm
from sapo_desktop.lab.folder import FORMAT, ArmFolder, Manifest, Score
from sapo_desktop.lab.node import Played
from sapo_desktop.worker.store.manifest import manifest_of


def arm(mix: str = "8/0", seed: int = 1, nodes: int = 2) -> Arm:
    return Arm(mix=mix, weighting="" if mix.startswith("8/0") else "paper", nodes=nodes, seed=seed)


def manifest(of: Arm, threads: int = 1) -> Manifest:
    run = manifest_of(
        Settings(),
        seed=of.seed,
        model_sha256="model",
        catalogue="catalogue",
        engine_versions={},
        threads=threads,
        micro_batch=16,
        device="cpu",
        dtype="auto",
    )
    return Manifest(format=FORMAT, arm=of, run=run, commit="")


def played(number: int, node: int, reward: float, cpu_seconds: float = 1.0, *, honest: bool = True) -> Played:
    return Played(
        round=number,
        node=node,
        honest=honest,
        reward=reward,
        groups=8,
        informative=2,
        external=0,
        dropped=1,
        refused=3,
        answers=64,
        samples=60,
        tokens=1000,
        cpu_seconds=cpu_seconds,
    )


def score(number: int, node: int, greedy: float, sampled: float, temperature: float = 1.0) -> Score:
    return Score(
        round=number,
        node=node,
        temperature=temperature,
        greedy=greedy,
        sampled=sampled,
        pass_at_k=0.7,
        samples=4,
        questions=10,
    )


def write(out: Path, of: Arm, rows: Sequence[Played], scores: Sequence[Score]) -> ArmFolder:
    folder = ArmFolder(out / of.name)
    folder.begin(manifest(of))
    folder.add(rows)
    folder.add(scores)
    return folder

"""Records that several tests need, plain but for what a test changes."""

from __future__ import annotations

import msgspec

from sapo_desktop.core.records import RoundReport
from sapo_desktop.core.settings import Settings
from sapo_desktop.worker.store.manifest import RunManifest, manifest_of

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

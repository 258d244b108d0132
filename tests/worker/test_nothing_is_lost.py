"""Checkpoints and history together: killed at random instants, no acknowledged round is ever lost or counted twice."""

import os
import random
import select
import signal
import struct
from pathlib import Path

import pytest

from sapo_desktop.learning.counters import Counters
from sapo_desktop.worker.control.messages.rollouts import GetRollouts
from sapo_desktop.worker.store.checkpoints import CheckpointStore
from sapo_desktop.worker.store.history import History
from tests.builders import group, round_report, run_manifest

KILLS = 50


def resume(folder: Path) -> tuple[CheckpointStore, History, int]:
    """What a worker does at its start; the round it goes on from."""
    store, history = CheckpointStore(folder / "checkpoints"), History(folder / "history.db")
    newest = store.newest_valid()
    assert newest.damaged == []
    assert history.said == ""
    found = newest.checkpoint
    history.reconcile(found.round if found else 0, found.number if found else None)
    return store, history, found.round if found else 0


def train(folder: Path, acknowledge: int) -> None:
    """Rounds without end, in the keeper's order; each is acknowledged when its checkpoint is written."""
    store, history, done = resume(folder)
    run = history.begin_run(run_manifest())
    for number in range(done + 1, 10**6):
        history.record_round(run, round_report(number, reward=number / 1000), [group(1, seed=number)], [[0.0]])
        path = store.begin(number)
        (path / "adapter").write_bytes(str(number).encode() * 100)
        written = store.commit(path, Counters(round=number, instance="a", seed=7))
        os.write(acknowledge, struct.pack("<q", number))
        history.record_checkpoint(written.number, number, written.bytes)
        store.prune(3)


def killed(folder: Path, rounds: int, patience: float) -> int:
    """Train in another process, kill it some time after `rounds` rounds; the last round it acknowledged."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            train(folder, writer)
        finally:
            os._exit(1)
    os.close(writer)
    seen = [os.read(reader, 8) for _ in range(rounds)]
    select.select([reader], [], [], patience)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
    with os.fdopen(reader, "rb") as rest:
        seen += iter(lambda: rest.read(8), b"")
    return max((struct.unpack("<q", data)[0] for data in seen), default=0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a forked process")
@pytest.mark.allowed_skip("Windows has no fork")
def test_kills_at_random_instants_lose_no_checkpointed_round(tmp_path: Path) -> None:
    chance = random.Random(11)
    acknowledged = 0
    for _ in range(KILLS):
        last = killed(tmp_path, chance.randrange(3), chance.random() * 0.02)
        acknowledged = max(acknowledged, last)
        store, history, done = resume(tmp_path)
        assert done >= acknowledged
        rounds = history.rounds(limit=10**6).rounds
        assert [r.round for r in rounds] == list(range(1, done + 1))
        assert [r.reward for r in rounds] == [n / 1000 for n in range(1, done + 1)]
        assert not rounds or rounds[-1].checkpoint == done
        found = store.get("last")
        assert found is None or (found.folder / "adapter").read_bytes() == str(done).encode() * 100
        assert [a.seed for a in history.rollouts(GetRollouts(limit=10**6)).items] == list(range(1, done + 1))
        history.close()
    assert acknowledged > KILLS // 2

"""Checkpoints survive bit flips and a full disk; a kill at any step is in test_power_cuts."""

import errno
import os
from pathlib import Path

import msgspec
import pytest

from sapo_desktop.core.errors import CheckpointError
from sapo_desktop.learning.counters import Counters
from sapo_desktop.learning.guard import GuardState
from sapo_desktop.worker.store.checkpoints import CheckpointStore

FILES = {"adapter.safetensors": b"A" * 300, "optimizer.safetensors": b"O" * 200, "random.msgpack": b"R"}


def counters(round_number: int) -> Counters:
    return Counters(round=round_number, instance="abc", seed=7, solve_rates={"gcd/easy": 1 / (1 + round_number)})


def write(store: CheckpointStore, round_number: int) -> int:
    folder = store.begin(round_number)
    for name, data in FILES.items():
        (folder / name).write_bytes(data + str(round_number).encode())
    return store.commit(folder, counters(round_number)).number


@pytest.fixture
def store(tmp_path: Path) -> CheckpointStore:
    return CheckpointStore(tmp_path / "checkpoints", clock=lambda: 1000.0)


def test_what_was_committed_is_read_back(store: CheckpointStore) -> None:
    write(store, 25)
    found = store.newest_valid()
    assert found.damaged == []
    assert found.checkpoint.counters == counters(25)
    assert (found.checkpoint.number, found.checkpoint.round) == (25, 25)
    assert (found.checkpoint.folder / "adapter.safetensors").read_bytes() == FILES["adapter.safetensors"] + b"25"
    (summary,) = store.summaries()
    assert summary.bytes == found.checkpoint.bytes > 500 and summary.created == 1000.0


def test_an_empty_store_starts_from_the_base(store: CheckpointStore) -> None:
    assert store.newest_valid().checkpoint is None
    assert store.get("base") is None
    assert store.get("last") is None
    with pytest.raises(CheckpointError, match="no best checkpoint yet"):
        store.get("best")


def test_a_second_checkpoint_of_a_round_gets_the_next_number(store: CheckpointStore) -> None:
    """After a roll-back by hand the round is the same but the weights are not; nothing is overwritten."""
    assert [write(store, 50), write(store, 50), write(store, 51)] == [50, 51, 52]
    last = store.get("last")
    assert (last.number, last.round) == (52, 51)


def test_names(store: CheckpointStore) -> None:
    for number in (1, 2, 3):
        write(store, number)
    assert [c.number for name in ("last", "1") if (c := store.get(name))] == [3, 1]
    with pytest.raises(CheckpointError, match=r"no checkpoint 9\. There are 1, 2, 3"):
        store.get("9")
    with pytest.raises(CheckpointError, match="last or a number"):
        store.get("../x")


def every_file(store: CheckpointStore, number: int) -> list[Path]:
    return sorted((store.folder / f"{number:08d}").iterdir())


@pytest.mark.parametrize("which", range(5))
def test_a_flipped_bit_in_any_file_falls_back_and_sets_aside(store: CheckpointStore, which: int) -> None:
    write(store, 1)
    write(store, 2)
    victim = every_file(store, 2)[which]
    intact = victim.read_bytes()
    for place in range(0, len(intact), max(1, len(intact) // 40)):
        data = bytearray(intact)
        data[place] ^= 1 << (place % 8)
        victim.write_bytes(data)
        with pytest.raises(CheckpointError, match="damaged"):
            store.read(2)
    found = store.newest_valid()
    assert found.checkpoint.number == 1
    (damaged,) = found.damaged
    assert damaged.number == 2
    assert (damaged.moved_to / victim.name).read_bytes() == bytes(data)
    assert store.numbers() == [1]


@pytest.mark.parametrize("which", range(5))
@pytest.mark.parametrize("how", ["missing", "short", "empty"])
def test_a_missing_or_short_file_is_damage(store: CheckpointStore, which: int, how: str) -> None:
    write(store, 1)
    write(store, 2)
    victim = every_file(store, 2)[which]
    if how == "missing":
        victim.unlink()
    else:
        victim.write_bytes(b"" if how == "empty" else victim.read_bytes()[:-1])
    found = store.newest_valid()
    assert (found.checkpoint.number, len(found.damaged)) == (1, 1)


def test_a_newer_format_is_refused_and_stays(store: CheckpointStore, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("sapo_desktop.worker.store.checkpoints.FORMAT", 99)
        write(store, 1)
    with pytest.raises(CheckpointError, match="newer SAPO Desktop"):
        store.newest_valid()
    assert store.numbers() == [1]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_leaves_older_ones(store: CheckpointStore, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    write(store, 1)

    def full(descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(CheckpointError, match="disk is full"):
            write(store, 2)
    assert sorted(p.name for p in store.folder.iterdir()) == ["00000001"]
    write(store, 2)
    assert store.numbers() == [1, 2]


def test_of_old_checkpoints_one_that_cannot_be_deleted_keeps_no_other(
    store: CheckpointStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2, 3):
        write(store, number)
    rename = Path.rename

    def held(path: Path, target: Path) -> Path:
        if path.name == "00000001":
            raise PermissionError(13, "Permission denied")
        return rename(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", held)
        assert store.prune(1) == [2] and store.numbers() == [1, 3]
        assert str(store.stuck).startswith("Old checkpoint 1 could not be deleted (Permission denied")
    assert store.prune(1) == [1] and store.stuck == ""


def write_of(store: CheckpointStore, round_number: int, model: str, best: int | None = None) -> int:
    folder = store.begin(round_number)
    (folder / "adapter.safetensors").write_bytes(model.encode())
    state = GuardState(best_checkpoint=best, best_score=0.5)
    return store.commit(folder, msgspec.structs.replace(counters(round_number), model=model, guard=state)).number


def test_what_another_model_learned_is_kept_for_when_it_is_chosen_again(store: CheckpointStore) -> None:
    for number in (1, 2, 3):
        write_of(store, number, "a", best=2)
    for number in (4, 5, 6, 7):
        write_of(store, number, "b")
    assert store.prune(2) == [1, 4, 5]
    found = store.newest_of("a")
    assert found is not None and (found.number, found.counters.model) == (3, "a")
    assert store.newest_of("c") is None
    assert [summary.model for summary in store.summaries()] == ["a", "a", "b", "b"]
    (store.folder / "00000003" / "adapter.safetensors").write_bytes(b"?")
    found = store.newest_of("a")
    assert found is not None and found.number == 2, "a damaged one is passed over, and left for who looks into it"

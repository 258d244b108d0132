"""A data folder of the version before the big step of the house (commit 2233060) is opened, and its node goes on.

`data/node_of_2233060.tar.xz` was made by that version; control channel, logs and older checkpoints were left out, and
the base's path in adapter_config.json was made relative:

    sapo-desktop settings set lora_rank=1 validate_every=2 low_priority=off questions=4 answers=4 treatment=positive \
        mix=6/2 tasks=gcd/middle,chain_sum/middle label=before --data node
    sapo-desktop run --silo --data node --rounds 4 --seed 3
"""

import tarfile
from pathlib import Path

import pytest

from sapo_desktop.core import settings_file
from sapo_desktop.learning.asking import Asking
from sapo_desktop.learning.heldout import Standing
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.worker.store.checkpoints import CheckpointStore
from sapo_desktop.worker.store.history import History
from tests.builders import round_report, run_manifest
from tests.whole.nodes import reports, sapo

FORMER = Path(__file__).with_name("data") / "node_of_2233060.tar.xz"


@pytest.fixture
def node(tmp_path: Path) -> DataFolder:
    with tarfile.open(FORMER) as archive:
        archive.extractall(tmp_path, filter="data")
    return DataFolder.at(tmp_path / "node")


def test_its_settings_are_taken_as_they_were_set(node: DataFolder) -> None:
    read = settings_file.read(node.settings, now=0)
    assert (read.settings.lora_rank, read.settings.mix, read.settings.label) == (1, "6/2", "before")
    assert read.settings.tasks == "gcd/middle,chain_sum/middle"
    assert "treatment = positive (now guarded)" in str(read.said), "a value that went is not taken back in silence"


def test_its_checkpoint_verifies_and_the_next_one_follows(node: DataFolder) -> None:
    store = CheckpointStore(node.checkpoints)
    newest = store.newest_valid()
    assert newest.checkpoint is not None and not newest.damaged
    counters = newest.checkpoint.counters
    assert (counters.round, counters.seed, counters.asking, counters.standing) == (4, 3, Asking(), Standing())
    assert counters.guard.best_checkpoint == 0 and len(counters.guard.best_solved) == 169
    assert store.next_number(5) == 5


def test_its_history_is_read_and_goes_on(node: DataFolder) -> None:
    history = History(node.history)
    assert [(report.round, report.checkpoint) for report in history.rounds().rounds] == [(n, n) for n in range(1, 5)]
    assert [report.round for report in history.evals("validation")] == [0, 2, 4]
    assert len(history.rollouts().items) == 64 and history.totals().rounds == 4
    history.record_round(history.begin_run(run_manifest()), round_report(5), [], [])
    assert [report.round for report in history.rounds().rounds] == [1, 2, 3, 4, 5]
    history.note_joules(7)
    history.note_claims({"aa": 0, "bb": 2}, 2)
    assert history.totals().joules == 7 and history.helped() == {"bb"}
    history.close()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_its_node_goes_on_from_what_it_had_learned(node: DataFolder) -> None:
    done = sapo(node.root, "run", "--rounds", "1")
    assert [report.round for report in reports(node.root)] == [1, 2, 3, 4, 5], done.stderr
    assert (node.checkpoints / "00000005" / "adapter_model.safetensors").is_file()

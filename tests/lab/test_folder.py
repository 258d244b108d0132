"""An arm's folder: other versions and conditions, cut lines, a full disk."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import msgspec
import pytest

from sapo_desktop.core.errors import HistoryError
from sapo_desktop.lab import folder as lab_folder
from sapo_desktop.lab.folder import ArmFolder
from tests.lab.runs import arm, manifest, played, score, write


def reached(folder: ArmFolder, number: int) -> None:
    made = folder.fresh_state()
    (made / "adapter").write_text(str(number))
    folder.keep(made, number)


def test_lines_beyond_the_kept_state_are_dropped(tmp_path: Path) -> None:
    rows = [played(number, 0, 0.5) for number in (1, 2, 3)]
    folder = write(tmp_path, arm(), rows, [score(0, -1, 0.5, 0.5), score(3, 0, 0.5, 0.5)])
    reached(folder, 2)
    with (folder.path / "rounds.csv").open("a") as file:
        file.write("4,0,tr")  # a kill
    folder.begin(manifest(arm()))
    assert [row.round for row in folder.rounds()] == [1, 2]
    assert [line.round for line in folder.scores()] == [0]


def test_without_a_state_it_begins_again(tmp_path: Path) -> None:
    folder = write(tmp_path, arm(), [played(1, 0, 0.5)], [score(0, -1, 0.5, 0.5)])
    folder.begin(manifest(arm()))
    assert folder.rounds() == [] and folder.scores() == [] and folder.reached == 0


def test_a_kill_between_two_states_keeps_the_older(tmp_path: Path) -> None:
    folder = write(tmp_path, arm(), [played(1, 0, 0.5)], [score(0, -1, 0.5, 0.5)])
    reached(folder, 1)
    shutil.move(folder.path / "state", folder.path / "state.old")
    folder.begin(manifest(arm()))
    assert folder.reached == 1 and len(folder.rounds()) == 1
    reached(folder, 2)
    assert (folder.path / "state" / "adapter").read_text() == "2"
    assert not (folder.path / "state.old").exists()


def test_other_conditions_are_refused_with_what_changed(tmp_path: Path) -> None:
    folder = write(tmp_path, arm(), [played(1, 0, 0.5)], [score(0, -1, 0.5, 0.5)])
    with pytest.raises(HistoryError, match=r"threads: 2 instead of 1.*--out"):
        folder.begin(manifest(arm(), threads=2))


def test_under_another_commit_it_goes_on_and_says_from_where(tmp_path: Path) -> None:
    folder = write(tmp_path, arm(), [played(1, 0, 0.5)], [score(0, -1, 0.5, 0.5)])
    reached(folder, 1)
    for commit in ("", "newer", "newer", ""):
        folder.begin(msgspec.structs.replace(manifest(arm()), commit=commit))
    assert folder.manifest().commit == ""
    assert folder.manifest().later == ((1, "newer"), (1, ""))


def test_another_version_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path, arm(), [played(1, 0, 0.5)], [score(0, -1, 0.5, 0.5)])
    newer = msgspec.json.decode((folder.path / "manifest.json").read_bytes()) | {"format": 2}
    (folder.path / "manifest.json").write_bytes(msgspec.json.encode(newer))
    with pytest.raises(HistoryError, match="another version of the lab"):
        folder.begin(manifest(arm()))


@pytest.mark.parametrize("file", ["manifest.json", "rounds.csv"])
def test_what_cannot_be_read_is_said(tmp_path: Path, file: str) -> None:
    folder = write(tmp_path, arm(), [played(1, 0, 0.5)], [score(0, -1, 0.5, 0.5)])
    (folder.path / file).write_text("round\nno number\n")
    with pytest.raises(HistoryError, match="cannot be read"):
        _ = (folder.manifest(), folder.rounds())


def test_a_full_disk_is_a_sentence_and_the_state_before_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(tmp_path, arm(), [played(1, 0, 0.5)], [score(0, -1, 0.5, 0.5)])
    reached(folder, 1)
    made = folder.fresh_state()

    def full(tree: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(lab_folder, "sync_tree", full)
    with pytest.raises(HistoryError, match="the disk is full: free some space"):
        folder.keep(made, 2)
    assert folder.reached == 1

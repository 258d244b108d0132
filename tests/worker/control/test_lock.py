"""One worker per folder; leftovers of a killed one do no harm."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sapo_desktop.core.errors import FolderInUse
from sapo_desktop.system.folders import DataFolder, FolderError
from sapo_desktop.system.processes import python_environment
from sapo_desktop.worker.control.lock import FolderLock, holder

HOLD = """
import sys
from pathlib import Path
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.worker.control.lock import FolderLock
with FolderLock(DataFolder.open(Path(sys.argv[1]))):
    print("held", flush=True)
    input()
"""


def test_a_second_worker_learns_who_holds_the_folder(tmp_path: Path) -> None:
    folder = DataFolder.open(tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=python_environment({}),
    )
    assert process.stdout is not None and process.stdout.readline() == b"held\n"
    with pytest.raises(FolderInUse, match=rf"Process {process.pid} already runs.*--data"), FolderLock(folder):
        pass
    process.kill()
    process.communicate()
    assert holder(folder) == process.pid, "kill -9 leaves its file"
    with FolderLock(folder):
        pass


def test_it_is_free_again_after(tmp_path: Path) -> None:
    folder = DataFolder.open(tmp_path)
    for _ in range(2):
        with FolderLock(folder):
            assert holder(folder) is not None
        assert holder(folder) is None


def test_other_folders_are_other_nodes(tmp_path: Path) -> None:
    first, second = DataFolder.open(tmp_path / "a"), DataFolder.open(tmp_path / "b")
    with FolderLock(first), FolderLock(second):
        assert holder(first) == holder(second) == os.getpid()


@pytest.mark.skipif(os.name == "nt", reason="opening knows no O_NOFOLLOW there")
def test_a_lock_file_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("kept")
    folder = DataFolder.open(tmp_path / "node")
    folder.lock.symlink_to(precious)
    with pytest.raises(FolderError, match="cannot be used"):
        FolderLock(folder).__enter__()
    assert precious.read_text() == "kept"

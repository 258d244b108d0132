"""The next start knows how the previous process ended."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from sapo_desktop.system import ends

MARKED = "import sys, time\nfrom pathlib import Path\nfrom sapo_desktop.system.ends import marked\n"
WAITS = MARKED + "with marked(Path(sys.argv[1])):\n    print('in', flush=True)\n    time.sleep(60)\n"


def test_one_that_ends_by_itself_or_fails_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "worker.run"
    with ends.marked(path) as died:
        assert died == "" and path.exists()
    with pytest.raises(ValueError, match="bug"), ends.marked(path) as died:
        raise ValueError("bug")
    with ends.marked(path) as died:
        assert died == ""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX's")
@pytest.mark.parametrize(("seen", "words"), [(True, "SIGKILL"), (False, "killed, or crashed")])
def test_one_that_was_killed_is_reported_with_what_its_parent_saw(tmp_path: Path, seen: bool, words: str) -> None:
    path = tmp_path / "worker.run"
    process = subprocess.Popen([sys.executable, "-c", WAITS, str(path)], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline()
    process.kill()
    code = process.wait()
    process.stdout.close()
    if seen:
        assert "SIGKILL" in str(ends.died(path, process.pid, code))
    with ends.marked(path) as died:
        assert words in str(died)


def left(path: Path, **changes: object) -> str:
    """The report about a process that left this mark."""
    with ends.marked(path):
        mark = msgspec.json.decode(path.read_bytes(), type=ends.Mark)
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(mark, **changes)))
    with ends.marked(path) as died:
        return str(died)


def test_a_lost_power_and_a_full_memory_are_kept_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "worker.run"
    assert "or lost power" in left(path, boot="another")
    monkeypatch.setattr(ends, "memory_kills", lambda: 3)
    assert "out of memory" in left(path, memory_kills=2)


def test_a_strangers_mark_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "worker.run"
    with ends.marked(path):
        before = path.read_bytes()
        assert "SIGKILL" in str(ends.died(path, os.getpid() + 1, -9))
        assert path.read_bytes() == before


def test_a_mark_that_cannot_be_read_or_written_stops_no_start(tmp_path: Path) -> None:
    (tmp_path / "damaged.run").write_bytes(b"\x00")
    with ends.marked(tmp_path / "damaged.run") as died:
        assert died == ""
    with ends.marked(tmp_path / "no folder" / "worker.run") as died:
        assert died == ""

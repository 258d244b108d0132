"""After power loss at any step, everything promised is there, and everything there can be read.

What a whole node writes is cut in tests/attack/node/power.py; here it is the files that are written by Python alone.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from sapo_desktop.core.files.durable import write_atomically
from sapo_desktop.worker.store.checkpoints import CheckpointStore
from tests.attack.node.disk import Cut, Disk, Op
from tests.worker.store.test_checkpoints import counters, write

CUTS: tuple[Cut, ...] = ("dropped", "chance")


class Recorder:
    """Follows the calls by which Python changes a folder; contents are looked at before each of them."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ops: list[Op] = []
        self._folder = folder
        self._seen: dict[str, bytes | None] = {}
        for name in ("rename", "replace"):
            self._follow(monkeypatch, name, lambda path, to: Op("rename", self._name(path), to=self._name(to)))
        for name in ("unlink", "rmdir"):
            self._follow(monkeypatch, name, lambda path: Op("remove", self._name(path)))
        self._follow(
            monkeypatch, "fsync", lambda number: Op("sync", self._name(Path(f"/proc/self/fd/{number}").readlink()))
        )

    def look(self) -> None:
        """Note what was made or written since the last look, folders before what is in them."""
        for path in sorted(self._folder.rglob("*")):
            name = self._name(path)
            content = None if path.is_dir() else path.read_bytes()
            if name not in self._seen:
                self.ops.append(Op("folder" if content is None else "file", name))
                self._seen[name] = None if content is None else b""
            if content is not None and content != self._seen[name]:
                self.ops += [Op("truncate", name), Op("write", name, data=content)]
                self._seen[name] = content

    def _follow(self, monkeypatch: pytest.MonkeyPatch, name: str, as_op: Callable[..., Op]) -> None:
        real = getattr(os, name)

        def following(*arguments: object, dir_fd: int | None = None, **options: object) -> object:
            if dir_fd is not None:  # rmtree names what it deletes by its folder's descriptor
                arguments = (Path(f"/proc/self/fd/{dir_fd}").readlink() / str(arguments[0]), *arguments[1:])
            self.look()
            op = as_op(*arguments)
            done = real(*arguments, **options)
            self.ops.append(op)
            self._forget(op)
            return done

        monkeypatch.setattr(os, name, following)

    def _forget(self, op: Op) -> None:
        if op.kind not in ("rename", "remove"):
            return
        for name in [one for one in self._seen if one == op.path or one.startswith(f"{op.path}/")]:
            content = self._seen.pop(name)
            if op.kind == "rename":
                self._seen[op.to + name.removeprefix(op.path)] = content

    def _name(self, path: object) -> str:
        return str(Path(str(path)).relative_to(self._folder))


def cuts(ops: list[Op], to: Path) -> Iterator[tuple[int, Path]]:
    """What cuts after each of these leave, with how many of them were done."""
    disk, rng = Disk(), Random(1)
    for number, op in enumerate(ops, 1):
        disk.take(op)
        for cut in CUTS:
            left = to / f"{number}-{rng.random()}"
            disk.leave(left, cut, rng)
            yield number, left


linux = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="the names behind descriptors are Linux'")


@linux
@pytest.mark.allowed_skip("the order of the calls is the same elsewhere")
def test_a_cut_after_any_step_loses_no_committed_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "node"
    folder.mkdir()
    with monkeypatch.context() as patch:
        recorder = Recorder(folder, patch)
        store = CheckpointStore(folder)
        promised = []
        for number in (1, 2):
            write(store, number)
            promised += [number - 1] * (len(recorder.ops) - len(promised))
            store.prune(1)
        recorder.look()
    promised += [2] * (len(recorder.ops) - len(promised))
    (tmp_path / "left").mkdir()
    seen = set()
    for number, left in cuts(recorder.ops, tmp_path / "left"):
        after = CheckpointStore(left)
        found = after.newest_valid()
        reached = found.checkpoint.number if found.checkpoint else 0
        assert reached >= promised[number - 1] and found.damaged == []
        assert found.checkpoint is None or found.checkpoint.counters == counters(reached)
        assert not list(left.glob(".*")), "nothing half-written stays"
        seen.add(reached)
    assert seen == {0, 1, 2}


@linux
@pytest.mark.allowed_skip("the order of the calls is the same elsewhere")
def test_a_file_that_is_replaced_is_the_old_or_the_new_and_then_the_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Writes of settings, wishes and used numbers."""
    folder = tmp_path / "node"
    folder.mkdir()
    contents = [bytes([number]) * 2000 for number in range(3)]
    done = []
    with monkeypatch.context() as patch:
        recorder = Recorder(folder, patch)
        for content in contents:
            write_atomically(folder / "settings.toml", content)
            done.append(len(recorder.ops))
    (tmp_path / "left").mkdir()
    for number, left in cuts(recorder.ops, tmp_path / "left"):
        path = left / "settings.toml"
        written = sum(count <= number for count in done)
        content = path.read_bytes() if path.exists() else b""
        assert content in [b"", *contents][written : written + 2]


@linux
@pytest.mark.allowed_skip("the order of the calls is the same elsewhere")
def test_what_is_not_synced_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "node"
    folder.mkdir()
    with monkeypatch.context() as patch:
        recorder = Recorder(folder, patch)
        (folder / "new").write_bytes(b"x" * 2000)
        (folder / "new").replace(folder / "file")
    disk, contents = Disk(), set()
    for op in recorder.ops:
        disk.take(op)
    for seed in range(50):
        disk.leave(tmp_path / str(seed), "chance", Random(seed))
        path = tmp_path / str(seed) / "file"
        contents.add(path.read_bytes() if path.exists() else None)
    assert {None, b"", b"x" * 512, b"x" * 2000} <= contents, "gone, empty, torn, whole"

"""An arm on disk: a folder with its description, a line per node and round, and the state for continuing.

```
manifest.json   the arm, the program, its commit, the computer: everything that its numbers depend on
rounds.csv      node.py, Played          scores.csv   Score, below
state/          after its last kept round: counters, adapters, pools; replaced as a whole
```
Lines beyond the state are of rounds that a kill cut off: they are dropped and played again.
"""

from __future__ import annotations

import csv
import io
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

import msgspec

import sapo_desktop
from sapo_desktop.core.errors import HistoryError
from sapo_desktop.core.files.durable import disk_errors_as, remove_tree, sync_folder, sync_tree, write_atomically
from sapo_desktop.core.files.reading import read_json, read_text
from sapo_desktop.core.records import Record
from sapo_desktop.lab.arm import Arm
from sapo_desktop.lab.node import Played
from sapo_desktop.worker.store.manifest import RunManifest, differs

FORMAT = 1
_MANIFEST, _ROUNDS, _SCORES, _STATE, _REACHED = "manifest.json", "rounds.csv", "scores.csv", "state", "reached.json"
_LONGEST = 1 << 30
"""Bytes of a CSV file that are read; 8 nodes write some 200 KB in 300 rounds."""
Row = TypeVar("Row", Played, "Score")
Read = TypeVar("Read")


class Manifest(Record, frozen=True):
    """The conditions under which an arm was played."""

    format: int
    arm: Arm
    run: RunManifest
    commit: str
    """The commit of the program's checkout; empty for an installation."""
    later: tuple[tuple[int, str], ...] = ()
    """Continuations under another commit: after which round, and which commit."""


class Score(Record, frozen=True):
    """A line of scores.csv. For the base, before any round, there is one for each temperature."""

    round: int
    node: int
    """The round. Below 0, the base: -1 for the first model, -2 for the second."""
    temperature: float
    greedy: float
    """Share solved by the most likely answers."""
    sampled: float
    pass_at_k: float
    """Share of the questions that at least one of the `samples` answers solves."""
    samples: int
    questions: int


class ArmFolder:
    """One arm's folder, open for reading or for its only writer. Raises HistoryError if the disk fails."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def state(self) -> Path | None:
        """The state after the last kept round, a folder per node; None before the first."""
        found = self.path / _STATE
        return found if found.exists() else None

    @property
    def reached(self) -> int:
        """The last kept round."""
        return 0 if self.state is None else int(self._read(lambda: read_json(self.path / _STATE / _REACHED, int)))

    def manifest(self) -> Manifest:
        """The manifest with which it was begun."""
        found = self._read(lambda: read_json(self.path / _MANIFEST, dict[str, Any]))
        if found.get("format") != FORMAT:
            raise HistoryError(f"{self.path} was written by another version of the lab. Choose another folder.")
        return self._read(lambda: msgspec.convert(found, Manifest))

    def begin(self, manifest: Manifest) -> None:
        """Make the folder, or continue from its state, if it is the same arm under the same conditions."""
        with self._writing():
            self.path.mkdir(parents=True, exist_ok=True)
        if not (self.path / _MANIFEST).exists():
            self._write_manifest(manifest)
        before = self.manifest()
        if before.arm != manifest.arm or (changed := differs(before.run, manifest.run)):
            what = "the arm" if before.arm != manifest.arm else "; ".join(map(str, changed))
            raise HistoryError(
                f"{self.path} was begun under other conditions ({what}), so results would not be comparable. "
                "Choose another folder with --out."
            )
        with self._writing():
            # A kill between the two renames of `keep` leaves the state under its old name.
            old = self.path / f"{_STATE}.old"
            if self.state is None and old.exists():
                old.rename(self.path / _STATE)
        if manifest.commit != [before.commit, *(commit for _, commit in before.later)][-1]:
            self._write_manifest(
                msgspec.structs.replace(before, later=(*before.later, (self.reached, manifest.commit)))
            )
        self._cut(_ROUNDS, Played, self.reached)
        self._cut(_SCORES, Score, self.reached)

    def add(self, rows: Sequence[Played | Score]) -> None:
        """Append lines of one kind."""
        name = _SCORES if isinstance(rows[0], Score) else _ROUNDS
        with self._writing(), (self.path / name).open("a", encoding="utf-8", newline="") as file:
            file.write("".join(map(_line, rows)))

    def fresh_state(self) -> Path:
        """An empty folder for the next state."""
        with self._writing():
            made = self.path / f"{_STATE}.new"
            remove_tree(made)
            made.mkdir()
            return made

    def keep(self, made: Path, reached: int) -> None:
        """Replace the last state by a complete new one."""
        with self._writing():
            (made / _REACHED).write_text(str(reached), encoding="ascii")
            sync_tree(made)
            state, old = self.path / _STATE, self.path / f"{_STATE}.old"
            remove_tree(old)
            if state.exists():
                state.rename(old)
            made.rename(state)
            sync_folder(self.path)
            remove_tree(old)

    def rounds(self) -> list[Played]:
        """All lines of rounds.csv."""
        return self._rows(_ROUNDS, Played)

    def scores(self) -> list[Score]:
        return self._rows(_SCORES, Score)

    def _write_manifest(self, manifest: Manifest) -> None:
        with self._writing():
            write_atomically(self.path / _MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)))

    def _cut(self, name: str, kind: type[Row], reached: int) -> None:
        """Keep the lines up to a round; before the first round none, not even those of the base."""
        kept = [row for row in self._rows(name, kind) if row.round <= reached] if reached else []
        with self._writing():
            write_atomically(self.path / name, (_header(kind) + "".join(map(_line, kept))).encode())

    def _rows(self, name: str, kind: type[Row]) -> list[Row]:
        """The complete lines; a kill may have cut the last one."""
        try:
            text = read_text(self.path / name, _LONGEST)
        except FileNotFoundError:
            return []
        except (OSError, UnicodeDecodeError) as error:
            raise self._unreadable(error) from error
        lines = csv.DictReader(io.StringIO(text[: text.rfind("\n") + 1]))
        return self._read(lambda: [msgspec.convert(line, kind, strict=False) for line in lines])

    def _read(self, read: Callable[[], Read]) -> Read:
        try:
            return read()
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> HistoryError:
        return HistoryError(
            f"The lab's folder {self.path} cannot be read ({error}). Choose another folder, or remove this one."
        )

    def _writing(self) -> AbstractContextManager[None]:
        return disk_errors_as(HistoryError, f"The lab's folder {self.path} could not be written")


def arm_folders(out: Path) -> list[ArmFolder]:
    """All arms below a folder. Raises HistoryError if there is none."""
    found = [ArmFolder(path.parent) for path in sorted(out.glob(f"*/{_MANIFEST}"))]
    if not found:
        below = sorted({path.parents[1].name for path in out.glob(f"*/*/{_MANIFEST}")})
        if below:
            raise HistoryError(f"There is no arm directly in {out}. Choose one of its folders: {', '.join(below)}.")
        raise HistoryError(f"There is no arm in {out}. Play some with `lab paper`.")
    return found


def commit() -> str:
    """The commit of the checkout that this program runs from, with a + where it was changed since; empty of an
    installation."""
    root = Path(sapo_desktop.__file__).resolve().parents[1]
    try:
        printed = [
            subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=True, timeout=20)
            for words in (["rev-parse", "HEAD"], ["status", "--porcelain", "--untracked-files=no", "sapo_desktop"])
        ]
    except (OSError, subprocess.SubprocessError):
        return ""
    return printed[0].stdout.strip() + "+" * bool(printed[1].stdout.strip())


def _header(kind: type[Record]) -> str:
    return ",".join(kind.__struct_fields__) + "\n"


def _line(row: Record) -> str:
    values: Mapping[str, object] = msgspec.to_builtins(row)
    return ",".join(str(value).lower() if isinstance(value, bool) else str(value) for value in values.values()) + "\n"

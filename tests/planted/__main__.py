"""Plants each fault of faults.py in a copy of the tree, and reports whether the quick tests catch it.

    python -m tests.planted                        all forty, an area at a time: half an hour on a quiet core
    python -m tests.planted --area swarm           one area's
    python -m tests.planted --only clip-one-bound-for-both
    python -m tests.planted --list                 only look whether each is still found, once
    python -m tests.planted --record FILE          keep the verdicts; those of other areas in it stay

First the tests of an area are run without a fault: where they fail, nothing can be said. Then each fault is planted in
a fresh copy, and the tests are run that its entry names, then all quick ones of its area, until one fails.

caught: a test failed. survived: all passed. broken: the text is not there exactly once, or the tests could not be run.
Exits 0 whatever comes out: the closing line counts.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from tests.planted.faults import FAULTS, FOLDERS, Area, Fault

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = "sapo_desktop"
PATIENCE = 1200.0
"""Seconds for one run of an area's tests; one test has pytest's own time limit."""
_PASSED, _FAILED, _NONE_CHOSEN = 0, 1, 5


class Verdict(NamedTuple):
    """What came of one fault. `by`: the test that failed, or why nothing can be said."""

    fault: Fault
    result: Literal["caught", "survived", "broken"]
    by: str
    seconds: float


class Run(NamedTuple):
    """One run of pytest. `said`: the first test that failed, or pytest's last words."""

    code: int
    said: str


def main() -> None:
    parser = argparse.ArgumentParser(description="Do the quick tests catch the planted faults?")
    parser.add_argument("--only", default="", choices=[fault.name for fault in FAULTS], metavar="NAME")
    parser.add_argument("--area", choices=get_args(Area))
    parser.add_argument("--list", action="store_true", help="run nothing: where is each found?")
    parser.add_argument("--record", type=Path, metavar="FILE", help="keep the verdicts in this file")
    given = parser.parse_args()
    chosen = [f for f in FAULTS if given.only in ("", f.name) and given.area in (None, f.area)]
    if given.list:
        return _list(chosen)
    verdicts = []
    for verdict in judged(chosen):
        verdicts.append(verdict)
        print(f"{verdict.result:9} {verdict.fault.name:32} {verdict.seconds:5.0f} s  {verdict.by}".rstrip(), flush=True)
    if given.record:
        _record(given.record, verdicts)
    caught = sum(verdict.result == "caught" for verdict in verdicts)
    print(f"{caught} of {len(verdicts)} caught")


def judged(faults: Sequence[Fault]) -> Iterator[Verdict]:
    """The verdict on each, area by area."""
    with tempfile.TemporaryDirectory(prefix="planted-") as scratch:
        plain = Path(scratch) / "plain"
        _copy_tree(plain)
        for area in get_args(Area):
            mine = [fault for fault in faults if fault.area == area]
            if not mine:
                continue
            # The copy's compiled modules go along with the copies that are made of it.
            without = _pytest(plain, [*FOLDERS[area]])
            for fault in mine:
                began = time.monotonic()
                if without.code != _PASSED:
                    result, by = "broken", f"fails without a fault: {without.said}"
                else:
                    result, by = _judge(fault, plain, Path(scratch) / "planted")
                yield Verdict(fault, result, by, time.monotonic() - began)


def _judge(fault: Fault, plain: Path, folder: Path) -> tuple[Literal["caught", "survived", "broken"], str]:
    shutil.copytree(plain, folder, ignore=shutil.ignore_patterns(".hypothesis", ".pytest_cache"))
    try:
        plant(fault, folder)
        where = [*FOLDERS[fault.area]]
        for words in ([*where, "-k", fault.first], where) if fault.first else (where,):
            run = _pytest(folder, words)
            if run.code == _FAILED:
                return "caught", run.said
            if run.code not in (_PASSED, _NONE_CHOSEN):
                return "broken", run.said
    except (LookupError, SyntaxError) as error:
        return "broken", str(error)
    finally:
        shutil.rmtree(folder)
    return "survived", ""


def plant(fault: Fault, tree: Path) -> None:
    """Put the fault into this copy.

    Raises:
        LookupError: its text is not there, or more than once.
        SyntaxError: what comes of it is no Python, which every test would notice.
    """
    path = find(fault, tree)
    text = path.read_text(encoding="utf-8").replace(fault.before, fault.after)
    compile(text, str(path), "exec")
    path.write_text(text, encoding="utf-8")


def find(fault: Fault, tree: Path) -> Path:
    """The file with the fault's text. Raises LookupError unless it is there exactly once."""
    counts = {path: path.read_text(encoding="utf-8").count(fault.before) for path in (tree / PRODUCT).rglob("*.py")}
    places = [path for path, count in counts.items() for _ in range(count)]
    if len(places) != 1:
        raise LookupError(f"its text is there {len(places)} times; reword the entry in faults.py")
    return places[0]


def _pytest(tree: Path, words: Sequence[str]) -> Run:
    line = [sys.executable, "-m", "pytest", "-x", "-q", "-rfE", "--tb=no", "-p", "no:cacheprovider"]
    # Seeded, so that a fault which only random examples find is found or not, each time.
    line += ["--hypothesis-seed=1", *words]
    environment = os.environ | {"PYTHONPATH": str(tree)}
    try:
        done = subprocess.run(line, cwd=tree, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return Run(-1, f"the tests did not end within {PATIENCE:.0f} s")
    lines = done.stdout.strip().splitlines() or done.stderr.strip().splitlines() or ["nothing was said"]
    failed = [text.split(" ", 1)[1].partition(" - ")[0] for text in lines if text.startswith(("FAILED ", "ERROR "))]
    if done.returncode < 0:
        return Run(done.returncode, f"pytest was ended by {signal.Signals(-done.returncode).name} after {lines[-1]}")
    return Run(done.returncode, (failed or lines[-1:])[0])


def _copy_tree(to: Path) -> None:
    """All that git knows of, as it is on the disk, and what is new and not ignored."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)


def _list(faults: Sequence[Fault]) -> None:
    for fault in faults:
        try:
            where = str(find(fault, ROOT).relative_to(ROOT))
        except LookupError as error:
            where = f"NOT FOUND: {error}"
        print(f"{fault.area:9} {fault.name:32} {where}")


def _record(path: Path, verdicts: Sequence[Verdict]) -> None:
    """Keep the verdicts by name, in the order of the list."""
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    known |= {verdict.fault.name: _fields(verdict) for verdict in verdicts}
    ordered = {fault.name: known[fault.name] for fault in FAULTS if fault.name in known}
    path.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")


def _fields(verdict: Verdict) -> dict[str, str | float]:
    fault = verdict.fault
    return {"name": fault.name, "area": fault.area, "harm": fault.harm, "result": verdict.result, "by": verdict.by}


if __name__ == "__main__":
    main()

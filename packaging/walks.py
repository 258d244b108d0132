"""Counts the files that the product passes through on its usual ways: what a person reads to understand one of them.

    python packaging/walks.py                       all of them, about three minutes on two cores
    python packaging/walks.py --only peer --files   one, with the names
    python packaging/walks.py --record docs/data/walks.json

Real nodes are run, with the starter; every process of theirs tells which files under sapo_desktop/ it calls a function
of (walk_hook.py). Imports do not count, nor does what the processes do to start. The walks:

round       a round in silo, in worker, engine and examiner: from its first phase to the next round's. Files entered in
            two of three rounds: what happens only now and then is left out, a round without a step hides nothing.
peer        a peer's group, between two nodes and a relay: what is called by and under PEER's functions, from the frame
            that holds it to the trainer's step.
setting     a changed setting that acts at once (low_priority), in the worker: from the request to its reply and event.
renewal     one that a node is put together by (micro_batch): from the request until the new node stands.
contribute  a click on the large button, which says Learn alone in silo: window, worker, and back until it says Pause.
            What the worker does in the round that then begins (under ROUND) is left out.
sentence    files in which a text of the window stands: the code's and the translations'. The number that is usual, over
            all literals of `tr` and `sentence`.
add         a new setting: files in which nearly every one of today's settings is named or described.

What a worker does again and again, whatever is asked (under BESIDE), is left out of its walks.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import contextlib
import html
import itertools
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
PACKAGE = ROOT / "sapo_desktop"

PEER = {
    "worker": (
        "Session._on_groups",
        "Exchange._take_in",
        "Member.draw",
        "mix_groups",
        "advantages",
        "training_sequences",
        "Engine.step",
    ),
    "examiner": ("Service.handle",),
    "engine": ("ModelTokenizer.encode_foreign", "GrpoTrainer.step"),
}
"""By process, the functions that deal with a peer's group. Each must be met, or the walk says which was not."""
ROUND = ("Node.run", "Node._prepared_round")
"""What plays rounds."""
BESIDE = (
    "Guest.run",
    "Guest._see",
    "Guest.keep_to_share",
    "Ceiling.follow",
    "FolderLock.until_lost",
    "Updates.run",
    "_keep_bounded",
)
"""What a worker does again and again, whatever is asked: how often it falls into a walk is chance."""
HOSTS = ("examiner", "engine", "generator", "librarian")
NEARLY_EVERY = 0.8
PATIENCE = 300.0
QUIET = {"low_priority": "off", "validate_every": "0", "questions": "8", "seed": "1", "curriculum": "off"}
"""Settings that keep a walk short."""


class Step(NamedTuple):
    """A file entered by a process at a moment (in walk_hook's unit), with these marked functions under way."""

    pid: int
    moment: int
    within: int
    file: str


class Walk(NamedTuple):
    """What a walk came to. `files`: by process; or, where nothing is run, by what they are. `lines`: of those that are
    run through, all lines counted."""

    name: str
    count: int
    files: dict[str, list[str]]
    lines: int = 0


class Traces:
    """What traced processes tell. `marks`: the functions of which each record says whether they are under way."""

    def __init__(self, scratch: Path, marks: Iterable[str] = ()) -> None:
        self.marks = list(marks)
        self.steps: list[Step] = []
        self.roles: dict[int, str] = {}
        self._pipe = scratch / "pipe"
        self._hook = scratch / "hook"
        self._hook.mkdir()
        shutil.copy(ROOT / "packaging" / "walk_hook.py", self._hook / "sitecustomize.py")
        os.mkfifo(self._pipe)

    @contextlib.contextmanager
    def on(self) -> Iterator[None]:
        """Processes that are started inside are traced, and those that they start."""
        before = os.environ.copy()
        reading = os.open(self._pipe, os.O_RDWR)  # for writing too, so that it never ends
        threading.Thread(target=self._read, args=(reading,), daemon=True).start()
        os.environ |= {
            "PYTHONPATH": os.pathsep.join(filter(None, [str(self._hook), before.get("PYTHONPATH")])),
            "SAPO_WALK_PIPE": str(self._pipe),
            "SAPO_WALK_PACKAGE": str(PACKAGE),
            "SAPO_WALK_MARKS": ",".join(self.marks),
        }
        try:
            yield
        finally:
            os.environ.clear()
            os.environ |= before

    def _read(self, descriptor: int) -> None:
        with os.fdopen(descriptor, "rb", buffering=1 << 20) as lines:
            for line in lines:
                pid, first, *rest = line.decode().rstrip("\n").split("\t")
                if first == "argv":
                    self.roles[int(pid)] = _role(rest[0].split())
                else:
                    self.steps.append(Step(int(pid), int(first), int(rest[0]), rest[1]))

    def entered(
        self,
        roles: Collection[str],
        *,
        window: tuple[float, float] = (0.0, float("inf")),
        inside: Collection[str] | None = None,
        outside: Collection[str] = (),
    ) -> dict[str, set[str]]:
        """Files by process. `window`: monotonic seconds. `inside`: only under one of these marks; `outside`: none."""
        from walk_hook import MOMENT

        wanted, unwanted = self._bits(inside or ()), self._bits(outside)
        found: defaultdict[str, set[str]] = defaultdict(set)
        for step in self.steps:
            role = self.roles.get(step.pid, "")
            if (
                role in roles
                and window[0] <= (step.moment + 1) * MOMENT
                and step.moment * MOMENT <= window[1]
                and (inside is None or step.within & wanted)
                and not step.within & unwanted
            ):
                found[role].add(step.file)
        return found

    def require(self, role: str, names: Collection[str]) -> None:
        """End the program where a marked function was never met: it has another name by now."""
        seen = 0
        for step in self.steps:
            if self.roles.get(step.pid) == role:
                seen |= step.within
        if missing := [name for name in names if not seen & self._bits([name])]:
            sys.exit(f"never met in the {role}: {', '.join(missing)}. Name in walks.py what took their place.")

    def _bits(self, names: Collection[str]) -> int:
        return sum(1 << self.marks.index(name) for name in names)


def _role(words: list[str]) -> str:
    """What a process is, by its command line."""
    for kind in HOSTS:
        if kind in words:
            return kind
    return "worker" if any(word.startswith("sapo_desktop.worker") for word in words) else "client"


# -- walks that are run --------------------------------------------------------------------------------------------


def a_round(scratch: Path) -> Walk:
    """Files that two of three rounds in silo enter."""
    from sapo_desktop.worker.control.messages.events import PhaseChanged

    traces = Traces(scratch, BESIDE)

    async def play() -> list[float]:
        async with _node(scratch / "node", ["--rounds", "5"]) as client:
            begins = []
            async with asyncio.timeout(PATIENCE):
                async for event in client.events():
                    if isinstance(event, PhaseChanged) and event.phase == "questions":
                        begins.append(time.monotonic())
                    if len(begins) == 5:
                        break
            return begins[1:]

    with traces.on():
        begins = asyncio.run(play())
    return _walk("round", usual_files(traces, begins))


def usual_files(traces: Traces, begins: list[float]) -> dict[str, set[str]]:
    """Files by process that at least two rounds enter. `begins`: seconds; of each, and of the next."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for window in itertools.pairwise(begins):
        for role, files in traces.entered(["worker", "engine", "examiner"], window=window, outside=BESIDE).items():
            counts[role].update(files)
    return {role: {file for file, times in seen.items() if times > 1} for role, seen in counts.items()}


def a_setting(scratch: Path, key: str, value: str, *, renews: bool) -> Walk:
    """From a client's request until the setting has had its effect and the client was told."""
    from sapo_desktop.worker.control.messages.events import SettingsChanged, Snapshot, StateChanged
    from sapo_desktop.worker.control.messages.requests import SetSettings

    traces = Traces(scratch, BESIDE)

    async def change() -> tuple[float, float]:
        async with _node(scratch / "node", ["--idle"]) as client:
            await _until(client, lambda event: isinstance(event, Snapshot) and event.status.state == "idle")
            await asyncio.sleep(1)
            begin = time.monotonic()
            await client.call(SetSettings(values={key: value}))
            await _until(client, lambda event: isinstance(event, SettingsChanged))
            if renews:
                await _until(client, lambda event: isinstance(event, StateChanged) and event.state == "starting")
                await _until(client, lambda event: isinstance(event, StateChanged) and event.state == "idle")
            return begin, time.monotonic()

    with traces.on():
        window = asyncio.run(change())
    return _walk("renewal" if renews else "setting", traces.entered(["worker"], window=window, outside=BESIDE))


def a_click(scratch: Path) -> Walk:
    """From the click on Contribute until the button says Pause."""
    traces = Traces(scratch, (*ROUND, *BESIDE))
    _settle(scratch / "node")
    line = [sys.executable, __file__, "--click", str(scratch / "node")]
    with traces.on():
        screen = os.environ | {"QT_QPA_PLATFORM": "offscreen"}
        done = subprocess.run(line, env=screen, stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=True)
    begin, end = json.loads(done.stdout.splitlines()[-1])
    traces.require("worker", ROUND)
    found = traces.entered(["client", "worker"], window=(begin, end), outside=(*ROUND, *BESIDE))
    return _walk("contribute", {"window" if role == "client" else role: files for role, files in found.items()})


def click(folder: Path) -> None:
    """The click itself, in the window's own process; prints when it began and when it had had its effect."""
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QAbstractButton

    from sapo_desktop.gui.shell.app import App, Desktop
    from sapo_desktop.gui.shell.remembered import WELCOME, Remembered, remember
    from sapo_desktop.system.folders import DataFolder
    from tests.display import let_run

    data = DataFolder.open(folder)
    remember(data, Remembered(welcomed=WELCOME))
    app = App([])
    desktop = Desktop(app, data)
    desktop.begin()

    def button(text: str) -> QAbstractButton | None:
        named = (one for one in desktop.window.findChildren(QAbstractButton) if one.isVisible() and one.isEnabled())
        return next((one for one in named if text in (one.text(), one.accessibleName())), None)

    def wait(text: str) -> QAbstractButton:
        deadline = time.monotonic() + PATIENCE
        while (found := button(text)) is None:
            if time.monotonic() > deadline:
                sys.exit(f"no button says {text}")
            let_run(0.01)
        return found

    contribute = wait("Learn alone")
    let_run(3)  # what the window asks for when it is new has come
    begin = time.monotonic()
    QTest.mouseClick(contribute, Qt.MouseButton.LeftButton)
    wait("Pause")
    print(json.dumps([begin, time.monotonic()]), flush=True)
    desktop.bridge.link.quit_worker().result(PATIENCE)
    desktop.bridge.link.stop()
    os._exit(0)


def a_peers_group(scratch: Path) -> Walk:
    """What a peer's groups pass through in the node that learns from them."""
    from tests.whole.swarm.test_swarm import SHORT, Program, address, until

    traces = Traces(scratch, sorted({name for names in PEER.values() for name in names}))
    started = [Program(scratch / "relay", "relay", "--listen", "127.0.0.1:0")]
    try:
        url = address(started[0])
        started.append(Program(scratch / "giver", "run", "--share", "--peer", url, "--seed", "1", *SHORT))
        with traces.on():
            started.append(Program(scratch / "taker", "run", "--share", "--peer", url, "--seed", "2", *SHORT))
        taker = started[-1]
        until(lambda: sum(bool(event["external_groups"]) for event in taker.events("round")) >= 3)
    finally:
        for program in started:
            program.end()
    found = {}
    for role, names in PEER.items():
        traces.require(role, names)
        found |= traces.entered([role], inside=names)
    return _walk("peer", found)


def _settle(folder: Path) -> None:
    """Write the settings of a node that is to be walked through."""
    from sapo_desktop.core import settings_file
    from sapo_desktop.core.settings import Settings

    folder.mkdir(parents=True)
    settings_file.write(folder / "settings.toml", settings_file.apply(Settings(), QUIET))


@contextlib.asynccontextmanager
async def _node(folder: Path, words: list[str]):  # type: ignore[no-untyped-def]
    """A client of a worker of its own."""
    from sapo_desktop.worker.control.client import connect, start_worker
    from sapo_desktop.worker.control.messages.requests import Quit

    _settle(folder)
    await start_worker(folder, words)
    client = await connect(folder, owner=True)
    try:
        yield client
    finally:
        await client.call(Quit())
        await client.close()


async def _until(client, holds: Callable[[object], bool]) -> None:  # type: ignore[no-untyped-def]
    async with asyncio.timeout(PATIENCE):
        async for event in client.events():
            if holds(event):
                return


# -- walks that are read -------------------------------------------------------------------------------------------


def a_sentence() -> Walk:
    """Files in which one text stands: the number that most texts have, and a text as an example."""
    catalogues = [(path, _texts_of(path)) for path in sorted((ROOT / "resources" / "translations").glob("*.ts"))]
    places: defaultdict[str, set[str]] = defaultdict(set)
    for path, tree in _modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("tr", "sentence"):
                first = node.args[0] if node.args else None
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    places[first.value].add(str(path.relative_to(ROOT)))
    for path, texts in catalogues:
        for text in texts & places.keys():
            places[text].add(str(path.relative_to(ROOT)))
    usual, _ = Counter(map(len, places.values())).most_common(1)[0]
    example = min(text for text, files in places.items() if len(files) == usual)
    return Walk("sentence", usual, {example: sorted(places[example])})


def a_new_setting() -> Walk:
    """Files that name or describe nearly every setting: whoever adds one edits them."""
    from sapo_desktop.core import settings_file

    known = [settings_file.describe(key) for key in settings_file.known_keys()]
    found = []
    for path, tree in _modules():
        words = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        words |= {node.target.id for node in ast.walk(tree) if _is_field(node)}
        if _names_nearly_every([info.key in words or info.description in words for info in known]):
            found.append(path)
    for path in sorted((ROOT / "resources" / "translations").glob("*.ts")):
        texts = _texts_of(path)
        if _names_nearly_every([info.description in texts for info in known]):
            found.append(path)
    for path in [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"]:
        text = path.read_text(encoding="utf-8")
        if _names_nearly_every([re.search(rf"\b{info.key}\b", text) is not None for info in known]):
            found.append(path)
    return Walk("add", len(found), {"places": [str(path.relative_to(ROOT)) for path in found]})


def _is_field(node: ast.AST) -> bool:
    return isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)


def _names_nearly_every(named: list[bool]) -> bool:
    return sum(named) >= NEARLY_EVERY * len(named)


def _modules() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def _texts_of(catalogue: Path) -> set[str]:
    """The texts that a translation file translates."""
    return {
        html.unescape(text)
        for text in re.findall(r"<source>(.*?)</source>", catalogue.read_text(encoding="utf-8"), re.DOTALL)
    }


# -- together ------------------------------------------------------------------------------------------------------


def _walk(name: str, files: dict[str, set[str]]) -> Walk:
    entered = set().union(*files.values())
    lines = sum(len((PACKAGE / file).read_text(encoding="utf-8").splitlines()) for file in entered)
    return Walk(name, len(entered), {role: sorted(files[role]) for role in sorted(files)}, lines)


WALKS: dict[str, Callable[[Path], Walk]] = {
    "round": a_round,
    "peer": a_peers_group,
    "setting": lambda scratch: a_setting(scratch, "low_priority", "on", renews=False),
    "renewal": lambda scratch: a_setting(scratch, "micro_batch", "8", renews=True),
    "contribute": a_click,
    "sentence": lambda _: a_sentence(),
    "add": lambda _: a_new_setting(),
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Count the files that the product's usual ways pass through.")
    parser.add_argument("--only", choices=WALKS)
    parser.add_argument("--files", action="store_true", help="name them")
    parser.add_argument("--record", type=Path, metavar="FILE", help="keep the walks in this file; others in it stay")
    parser.add_argument("--click", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.click:
        return click(given.click)
    walks = []
    for name in [given.only] if given.only else WALKS:
        with tempfile.TemporaryDirectory(prefix="walk-", ignore_cleanup_errors=True) as scratch:
            walks.append(WALKS[name](Path(scratch)))
        _show(walks[-1], files=given.files)
    sizes = [len(path.read_text(encoding="utf-8").splitlines()) for path in PACKAGE.rglob("*.py")]
    print(f"the median file has {statistics.median(sizes):.0f} lines")
    if given.record:
        known = json.loads(given.record.read_text(encoding="utf-8")) if given.record.exists() else {}
        known |= {walk.name: {"count": walk.count, "lines": walk.lines, "files": walk.files} for walk in walks}
        given.record.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _show(walk: Walk, *, files: bool) -> None:
    parts = ", ".join(f"{role} {len(names)}" for role, names in walk.files.items()) if len(walk.files) > 1 else ""
    lines = f"of {walk.lines:,} lines" if walk.lines else ""
    print(f"{walk.name:12} {walk.count:4} files  {lines}  {parts}".rstrip(), flush=True)
    for role, names in walk.files.items() if files else ():
        print("".join(f"    {role:10} {name}\n" for name in names), end="")


if __name__ == "__main__":
    main()

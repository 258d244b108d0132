"""Which package may import which, where each library may be imported, and how many modules a folder may have. The
tables are the rule; the code obeys.

Imports are read with `ast`, those inside functions and those through importlib included, so nothing is loaded and
nothing can hide.
"""

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "sapo_desktop"

# Part -> the parts it may import, besides itself and the version in `sapo_desktop`. The longest name wins.
MESSAGES = "worker.control.messages"
HOSTS = ("worker.hosts.hosting", "worker.hosts.protocol", "worker.hosts.patience")
DOOR = (
    *(MESSAGES, "worker.control.channel", "worker.control.proof", "worker.control.lock", "worker.control.parent"),
    "worker.hosts.patience",
)
NOTICES = "worker.control.notices"
UNSTARTED = "worker.control.unstarted"
CLIENT = ("worker.control.client", UNSTARTED, NOTICES, MESSAGES)
LIBRARIAN = "worker.hosts.librarian"
STORED = ("worker.store.database", "worker.store.rows")
UPDATES = "worker.hosts.updates"
TEMPLATE = "engines.chat_template"
ARROWS: dict[str, tuple[str, ...]] = {
    "core": (),
    "system": ("core",),
    "tasks": ("core",),
    "learning": ("tasks", "core"),
    "models": (TEMPLATE, "system", "core"),
    "swarm": ("core",),
    TEMPLATE: ("core",),
    "engines": (TEMPLATE, "core"),
    MESSAGES: ("core",),
    "worker.hosts.hosting": (*HOSTS, "system", "core"),
    "worker.hosts.protocol": ("system", "core"),
    "worker.hosts.patience": ("system", "core"),
    LIBRARIAN: (*HOSTS, MESSAGES, "system", "core"),
    UPDATES: (LIBRARIAN, MESSAGES, "system", "core"),
    "worker.control.client": (*DOOR, "system", "core"),
    NOTICES: (MESSAGES, "system", "core"),
    UNSTARTED: (*CLIENT, *STORED, LIBRARIAN, "worker.control.lock", "system", "core"),
    STORED[0]: ("core",),
    STORED[1]: (MESSAGES, "core"),
    "worker.control.channel": (*DOOR, "system", "core"),
    "worker.control.proof": ("system", "core"),
    "worker.control.parent": ("core",),
    "worker.control.lock": ("system", "core"),
    "worker": (
        *(*DOOR, *STORED),
        *HOSTS,
        LIBRARIAN,
        UPDATES,
        NOTICES,
        "learning",
        "engines",
        "swarm",
        "tasks",
        "models",
        "system",
        "core",
    ),
    # Many nodes in one process, each of the worker's own engine, examiner, member and intake: to write these again
    # would measure something else.
    "lab": (
        *("worker", "worker.hosts.hosting", "worker.control.lock"),
        *("learning", "engines", "swarm", "tasks", "models", "system", "core"),
    ),
    "view": (MESSAGES, "core"),
    "terminal": ("view", MESSAGES, "core"),
    "gui": ("view", *CLIENT, "system", "core"),
    "commands": (*CLIENT, LIBRARIAN, UPDATES, "view", "terminal", "system", "core"),
    "cli": ("commands", "gui", *CLIENT, "terminal", "system", "core"),
    "__main__": ("cli",),
}

# Library -> where it may be imported. What is not named here is not a library of ours.
LIBRARIES: dict[str, tuple[str, ...]] = {
    "msgspec": ("",),
    "torch": ("engines.torch", "engines.gguf", "engines.exporting"),
    "transformers": ("engines",),
    "peft": ("engines.torch", "engines.exporting"),
    "safetensors": ("engines",),
    "tokenizers": ("engines",),
    "gguf": ("engines", "models.files.gguf_file"),
    "llama_cpp": ("engines.llama_cpp",),
    "numpy": ("engines", "gui", "view"),
    "minijinja": ("engines.chat_template",),
    "huggingface_hub": ("engines", "models.files.hub"),
    "h11": ("worker.serving.http",),
    "httpx2": ("engines.remote.http", "models.files.client", "models.files.hub"),
    "reasoning_gym": ("tasks.examiner",),
    "charset_normalizer": ("tasks.own.table",),
    "zeroconf": ("swarm.addresses.lan",),
    "websockets": ("worker.control.channel", "swarm.sockets"),
    "nats": ("swarm.sockets.backbone",),
    "prometheus_client": ("worker.relaying.metrics",),
    "tomlkit": ("core.settings_file",),
    "platformdirs": ("system",),
    "psutil": ("system",),
    "jeepney": ("system.presence.bus",),
    "pynvml": ("system.hardware",),
    "keyring": ("system",),
    "filelock": ("worker.control.lock", "models.files.store"),
    "nacl": ("swarm.protocol.signing", "swarm.sockets.nkey", "system.identity", "core.updates.decision"),
    "cryptography": ("swarm.sockets.certificate",),
    "rich": ("terminal",),
    "segno": ("gui.peers.link_box",),
    "PySide6": ("gui",),
    "shiboken6": ("gui",),
    "matplotlib": ("lab.plot",),
}

DISTRIBUTIONS = {
    "llama_cpp": "llama_cpp_python",
    "nacl": "pynacl",
    "nats": "nats_py",
    "PySide6": "pyside6_essentials",
    "shiboken6": "pyside6_essentials",
    "pynvml": "nvidia_ml_py",
}
"""Library -> what installs it, where that has another name."""

LOADERS = {"import_module", "__import__", "resolve_name", "run_module", "run_path", "exec_module", "load_module"}
"""Functions that import what a text names."""
HIDDEN = "a name that only shows when it runs"
LOADED_BY_NAME = {"worker.hosts.protocol"}
"""Modules that may import what nobody can read off them: the services of hosts, each in its own process."""

MOST_MODULES = 16
"""In one folder, tests and scripts included: more are rooms of their own."""
BUILT = {"build", "dist"}


@cache
def modules(root: Path) -> dict[str, Path]:
    """Module name without the package (`core.records`; `` for the package itself) -> file."""
    found = {}
    for path in sorted((root / PACKAGE).rglob("*.py")):
        parts = path.relative_to(root / PACKAGE).with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__")] = path
    return found


@cache
def imports(root: Path, module: str) -> tuple[str, ...]:
    """Full dotted names that a module imports; of `from x import y`, `x.y` where that is a module."""
    return tuple(_imports(modules(root)[module], module, modules(root)))


def _imports(path: Path, module: str, known: dict[str, Path]) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    yield from named_by_text(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                inside = path.name == "__init__.py"
                above = f"{PACKAGE}.{module}".split(".")
                above = above[: len(above) - node.level + inside]
                base = ".".join([*above, *([base] if base else [])])
            for alias in node.names:
                name = f"{base}.{alias.name}"
                yield name if name.removeprefix(f"{PACKAGE}.") in known else base


def named_by_text(tree: ast.AST) -> Iterator[str]:
    """What is imported through a function: the constant name; of `f"{PACKAGE}.part.{name}"` the constant beginning,
    which is a package; HIDDEN for all else, a function that is only forwarded included."""
    calls = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name) if name in LOADERS:
                call = calls.get(id(node))
                yield constant(call.args[0]) if call is not None and call.args else HIDDEN
            case ast.ImportFrom(names=names):
                yield from (HIDDEN for alias in names if alias.name in LOADERS and alias.asname)


def constant(argument: ast.expr) -> str:
    """The name that a loader is given, as far as it can be read."""
    match argument:
        case ast.Constant(value=str(name)) if not name.startswith("."):
            return name
        case ast.JoinedStr(values=[ast.Constant(value=str(start)), *_]) if start.count(".") > 1 and start[-1] == ".":
            return start.rstrip(".")
    return HIDDEN


def is_within(module: str, part: str) -> bool:
    return not part or module == part or module.startswith(f"{part}.")


def part_of(module: str) -> str | None:
    return max((part for part in ARROWS if is_within(module, part)), key=len, default=None)


def violations(root: Path) -> list[str]:
    """One line for each import that the tables forbid."""
    found = []
    for module in modules(root):
        part = part_of(module)
        if module and part is None:
            found.append(f"{module}: no arrow says what it may import")
            continue
        for name in imports(root, module):
            if reason := forbidden(module, part or "", name):
                found.append(f"{module} imports {name}: {reason}")
    return found


def forbidden(module: str, part: str, name: str) -> str | None:
    """Why `module` may not import `name`, or None where it may."""
    if name == HIDDEN:
        return None if module in LOADED_BY_NAME else "only a module of LOADED_BY_NAME may"
    top = name.partition(".")[0]
    if top in sys.stdlib_module_names:
        return "pickle runs whatever it is given" if top in {"pickle", "shelve", "marshal"} else None
    if top != PACKAGE:
        places = LIBRARIES.get(top)
        if places is None:
            return "not one of our libraries"
        return None if any(is_within(module, place) for place in places) else f"only {' and '.join(places)} may"
    target = part_of(name.removeprefix(PACKAGE).removeprefix("."))
    return None if target in {None, part, *ARROWS[part]} else f"{part} may not import {target}"


def full_folders(root: Path) -> dict[str, int]:
    """Folder -> its modules (`__init__` is none), where they are more than MOST_MODULES. Hidden folders and what builds
    leave are not looked at."""
    counts: Counter[str] = Counter()
    for part in root.iterdir():
        if part.is_dir() and not part.name.startswith(".") and part.name not in BUILT:
            found = (path for path in part.rglob("*.py") if path.name != "__init__.py")
            counts.update(path.parent.relative_to(root).as_posix() for path in found)
    return {folder: count for folder, count in counts.items() if count > MOST_MODULES}


def reached(root: Path, start: str) -> set[str]:
    """Every module that is loaded, at once or later, when `start` is."""
    known = modules(root)
    seen: set[str] = set()
    todo = [start]
    while todo:
        module = todo.pop()
        if module in seen or module not in known:
            continue
        seen.add(module)
        for name in imports(root, module):
            if is_within(name, PACKAGE):
                todo.append(name.removeprefix(PACKAGE).removeprefix("."))
    return seen


def test_every_import_follows_the_arrows() -> None:
    assert violations(ROOT) == []


def test_no_folder_has_more_modules_than_one_looks_over() -> None:
    assert full_folders(ROOT) == {}


def test_a_folder_that_grew_too_full_is_found(tmp_path: Path) -> None:
    for folder, count in (("tests/full", MOST_MODULES + 1), ("tests/just", MOST_MODULES), (".venv/all", 99)):
        (tmp_path / folder).mkdir(parents=True)
        for name in ("__init__", *map(str, range(count))):
            (tmp_path / folder / f"{name}.py").touch()
    assert full_folders(tmp_path) == {"tests/full": MOST_MODULES + 1}


@pytest.mark.parametrize(
    ("starts", "passed", "never"),
    [
        (("cli", "commands"), "worker.control.client", {"engines", "tasks", "models", "swarm"}),
        (("engines.llama_cpp.service",), "engines.drawing", {"torch", "transformers", "peft", "safetensors"}),
        (("view.viewmodel", "gui.link.attachment"), "view.curves", {"PySide6", "shiboken6"}),
    ],
    ids=["clients do without what the worker works with", "llama.cpp's host without torch", "the view without Qt"],
)
def test_what_starts_there_never_loads_that(starts: tuple[str, ...], passed: str, never: set[str]) -> None:
    entries = [module for module in modules(ROOT) if any(is_within(module, start) for start in starts)]
    loaded = {module for entry in entries for module in reached(ROOT, entry)}
    assert passed in loaded
    assert [module for module in loaded if module.split(".")[0] in never] == []
    assert [module for module in loaded if never & {name.partition(".")[0] for name in imports(ROOT, module)}] == []


def declared(root: Path) -> set[str]:
    """What `pip install` of the project brings, extras included; names as in DISTRIBUTIONS."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["llama"], *extras["lab"], *extras["relay"]]
    return {re.split(r"[^A-Za-z0-9._-]", one)[0].lower().replace("-", "_") for one in wanted}


def test_every_library_of_the_table_is_declared() -> None:
    assert [name for name in LIBRARIES if DISTRIBUTIONS.get(name, name).lower() not in declared(ROOT)] == []


def test_every_library_of_the_table_is_imported() -> None:
    found = {name.partition(".")[0] for module in modules(ROOT) for name in imports(ROOT, module)}
    assert LIBRARIES.keys() - found == set()


@pytest.mark.parametrize(
    ("file", "line", "complaint"),
    [
        ("core/records.py", "import torch", "only engines.torch and engines.gguf"),
        ("core/records.py", "from sapo_desktop.worker.control import messages", f"core may not import {MESSAGES}"),
        (
            "worker/node.py",
            "from websockets.asyncio.client import connect",
            "only worker.control.channel and swarm.sockets",
        ),
        ("tasks/scoring.py", "def late() -> None:\n    import reasoning_gym", "only tasks.examiner may"),
        ("cli.py", "from sapo_desktop.worker.node import Node", "cli may not import worker"),
        ("engines/torch/grpo.py", "from ...tasks import catalogue", "engines may not import tasks"),
        ("terminal/live.py", "import requests", "not one of our libraries"),
        ("engines/torch/grpo.py", "import pickle", "pickle runs whatever it is given"),
        ("helpers/odd.py", "import os", "no arrow says"),
        ("core/why.py", "import importlib\nimportlib.import_module('torch.nn')", "only engines.torch and engines.gguf"),
        ("core/why.py", "from importlib import import_module\nimport_module('pynvml')", "only system.hardware may"),
        ("system/power.py", "def late():\n    return __import__('requests')", "not one of our libraries"),
        ("cli.py", "import importlib\nimportlib.import_module(f'sapo_desktop.engines.{x}')", "cli may not import eng"),
        ("core/why.py", "import importlib\nimportlib.import_module(name)", HIDDEN),
        ("core/why.py", "import importlib\nimportlib.import_module(f'{name}.x')", HIDDEN),
        ("core/why.py", "import importlib\nimportlib.import_module('.x', 'torch')", HIDDEN),
        ("core/why.py", "import importlib\nload = importlib.import_module", HIDDEN),
        ("core/why.py", "from importlib import import_module as load", HIDDEN),
        ("core/why.py", "import runpy\nrunpy.run_module('torch')", "only engines.torch and engines.gguf"),
    ],
)
def test_a_planted_violation_is_found(tmp_path: Path, file: str, line: str, complaint: str) -> None:
    package = tmp_path / PACKAGE
    planted = {
        "__init__.py",
        "tasks/catalogue.py",
        "worker/control/messages/__init__.py",
        "worker/node.py",
        "core/records.py",
    }
    for name in planted | {file}:
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(line if name == file else "", encoding="utf-8")
    found = violations(tmp_path)
    assert len(found) == 1 and complaint in found[0], found

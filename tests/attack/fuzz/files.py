"""Fuzz targets for files and for input from this computer: settings, control channel, catalogues, templates, models,
history."""

import contextlib
import json
import shutil
import struct
import tomllib
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import tomlkit

from sapo_desktop.core import schedule, settings_file
from sapo_desktop.core.errors import HistoryError, ModelError, SettingsError, TaskError, UsageError
from sapo_desktop.core.files.reading import UNREADABLE
from sapo_desktop.core.link.requests import Call, Cancel, Failed, Note, Reply, packed
from sapo_desktop.core.resources import resource
from sapo_desktop.core.settings import Settings
from sapo_desktop.engines.chat_template import ChatTemplate
from sapo_desktop.models.catalogue import read_catalogue
from sapo_desktop.models.files.gguf_file import check_gguf
from sapo_desktop.models.files.safetensors_file import count_numbers
from sapo_desktop.tasks.catalogue import load_catalogue, parse_tasks
from sapo_desktop.worker.control import channel
from sapo_desktop.worker.control.client import EVENT
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.facts import Notice
from sapo_desktop.worker.control.messages.requests import Finish, GetSettings, SetSettings, Watch
from sapo_desktop.worker.control.proof import Attach, ClientProof, Greeting, WorkerProof
from sapo_desktop.worker.store.history import History
from tests import builders
from tests.attack.fuzz.target import Target, patch, patched

WRITTEN = 16
"""One in so many files of settings is written again: that takes as long as a hundred that are read."""
_CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] | trim + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
_OTHER = (
    "{%- if messages[0].role == 'system' -%}{%- set rest = messages[1:] -%}{%- else -%}{%- set rest = messages -%}"
    "{%- endif -%}{%- set ns = namespace(n=0) -%}{%- for m in rest -%}{%- if loop.index0 > 9 -%}"
    "{{ raise_exception('no') }}{%- endif -%}[{{ m | tojson(indent=2) }}]{%- set ns.n = ns.n + loop.length // 2 -%}"
    "{%- generation -%}{{ strftime_now('%Y') ~ ns.n }}{%- endgeneration -%}{%- endfor -%}"
)


# -- settings, catalogues --------------------------------------------------------------------------------------------


def _settings(folder: Path) -> Callable[[bytes], None]:
    """Read the file as at a start, and write it after a change; remove the set-aside copy."""
    path = folder / "settings.toml"

    def one(data: bytes) -> None:
        path.write_bytes(data)
        try:
            found = settings_file.read(path, 1.0)
            if not found.said and not zlib.crc32(data) % WRITTEN:
                settings_file.write(path, found.settings)
                assert settings_file.read(path, 1.0).settings == found.settings, "settings are not what was written"
        finally:
            for left in folder.iterdir():
                left.unlink()

    return one


def _typed(folder: Path) -> Callable[[bytes], None]:
    """KEY=VALUE, as typed by a person."""

    def one(data: bytes) -> None:
        key, _, text = data.decode("utf-8", "surrogateescape").partition("=")
        settings_file.apply(Settings(), {key: text})
        schedule.parse(text)

    return one


def _file(name: str, read: Callable[[Path], object]) -> Callable[[Path], Callable[[bytes], None]]:
    """A target that reads a file of this name."""

    def opened(folder: Path) -> Callable[[bytes], None]:
        path = folder / name

        def one(data: bytes) -> None:
            path.write_bytes(data)
            read(path)

        return one

    return opened


def _task_list(folder: Path) -> Callable[[bytes], None]:
    catalogue = load_catalogue(resource("tasks.toml"))

    def one(data: bytes) -> None:
        parse_tasks(catalogue, data.decode("utf-8", "surrogateescape"))

    return one


def _models_seeds() -> Sequence[bytes]:
    """The catalogue with its first model, and with two; the whole is too long a start for fuzzing."""
    whole = tomllib.loads(resource("models.toml").read_text("utf-8"))
    return [tomlkit.dumps(whole | {"models": whole["models"][:count]}).encode() for count in (1, 2)]


def _tasks_seeds() -> Sequence[bytes]:
    """The first families."""
    whole = list(tomllib.loads(resource("tasks.toml").read_text("utf-8")).items())
    return [tomlkit.dumps(dict(whole[start : start + 2])).encode() for start in (0, 2)]


def _settings_seeds() -> Sequence[bytes]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "settings.toml"
        settings_file.write(path, Settings())
        whole = path.read_bytes()
    bare = tomlkit.dumps({key: getattr(Settings(), key) for key in settings_file.known_keys()[::3]}).encode()
    return [
        whole[:2000].rpartition(b"\n")[0],
        b"version = 1\nkl_weight = 0.1\ntreatment = 'guarded'\n",
        b"version = 2\n" + bare,
    ]


# -- control channel -------------------------------------------------------------------------------------------------


def _control(folder: Path) -> Callable[[bytes], None]:
    """Messages to either end, before the proof and after it."""
    proofs = [msgspec.msgpack.Decoder(kind) for kind in (Greeting, ClientProof, WorkerProof, Attach)]
    decoders = [*proofs, channel.TO_WORKER, channel.TO_CLIENT, channel.REQUEST, EVENT]

    def one(data: bytes) -> None:
        for decoder in decoders:
            with contextlib.suppress(*UNREADABLE):
                decoder.decode(data)

    return one


def _control_seeds() -> Sequence[bytes]:
    nonce = b"n" * 32
    said = [
        *(Greeting(nonce), ClientProof(nonce), WorkerProof(nonce, nonce), Attach(owner=True)),
        *(GetSettings(), SetSettings(values={"label": "a"}), Watch(closely=True), Notice(level="info", text="a")),
        *(Call(id=1, body=packed(Finish())), Cancel(id=1), Reply(id=1, body=packed(Ok(text="a")))),
        *(Failed(id=1, error="SapoError", text="a"), Note(body=packed(Notice(level="info", text="a")))),
    ]
    return [msgspec.msgpack.encode(message) for message in said]


# -- templates -------------------------------------------------------------------------------------------------------


def _template(folder: Path) -> Callable[[bytes], None]:
    def one(data: bytes) -> None:
        template = ChatTemplate(data.decode("utf-8", "replace"), {"bos_token": "<s>", "eos_token": "</s>"})
        with contextlib.suppress(ModelError):  # of a template that takes no system message, say
            template.pieces("2 + 2?", "Be brief.", [("1 + 1?", "2")])

    return one


# -- models' files ---------------------------------------------------------------------------------------------------


def _gguf_seeds() -> Sequence[bytes]:
    """A model of two tensors, and one with more metadata."""

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    def entry(key: str, kind: int, value: bytes) -> bytes:
        return text(key) + struct.pack("<I", kind) + value

    def file(entries: Sequence[bytes]) -> bytes:
        tensors = b"".join(
            text(name) + struct.pack("<IQQIQ", 2, 8, 4, 0, place * 128)
            for place, name in enumerate(("token_embd.weight", "output.weight"))
        )
        head = b"GGUF" + struct.pack("<IQQ", 3, 2, len(entries)) + b"".join(entries) + tensors
        return head + bytes(-len(head) % 32) + bytes(256)

    name = entry("general.architecture", 8, text("llama"))
    tokenizer = entry("tokenizer.ggml.model", 8, text("gpt2"))
    tokens = entry("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, 2) + text("a") + text("b"))
    scores = entry("tokenizer.ggml.scores", 9, struct.pack("<IQ2f", 6, 2, 0.0, 1.0))
    sizes = ("block_count", "embedding_length", "feed_forward_length", "attention.head_count", "context_length")
    numbers = [entry(f"llama.{key}", 4, struct.pack("<I", 4)) for key in sizes]
    template = entry("tokenizer.chat_template", 8, text(_CHATML[:40]))
    return [file([name, tokenizer]), file([name, tokenizer, tokens, scores, template, *numbers])]


def _safetensors_seeds() -> Sequence[bytes]:
    tensors = {
        "__metadata__": {"format": "pt"},
        "a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
        "b": {"dtype": "BF16", "shape": [], "data_offsets": [16, 18]},
    }
    raw = json.dumps(tensors).encode()
    return [struct.pack("<Q", len(raw)) + raw + bytes(18)]


# -- history ---------------------------------------------------------------------------------------------------------


def _played(folder: Path) -> Path:
    """A history of two rounds, closed."""
    path = folder / "good.sqlite"
    history = History(path, lambda: 1e9)
    run = history.begin_run(builders.run_manifest())
    for number in (1, 2):
        groups = [builders.group(1, 0, texts=("3", ""), origin="own", author="", seed=number)]
        history.record_round(run, builders.round_report(number), groups, [[0.5, -0.5]])
        history.record_checkpoint(number, number, 100)
        history.record_eval(run, builders.eval_report(str(number), 0.5))
    history.note_claims({"ab" * 32: 3}, 3)
    history.close()
    return path


def read_all(history: History) -> None:
    """Every query that the product makes."""
    history.last_manifest()
    history.latest()
    history.rounds()
    history.rollouts()
    history.curve()
    history.ahas()
    history.sources()
    history.evals()
    history.task_totals(20)
    history.checkpoints_written(0.0)
    history.claims()
    history.helped()


def _history_file(folder: Path) -> Callable[[bytes], None]:
    """The database with some bytes replaced."""
    good = _played(folder).read_bytes()
    path = folder / "history.sqlite"

    def one(data: bytes) -> None:
        path.write_bytes(patched(good, data))
        try:
            with contextlib.closing(History.for_node(path)) as history:
                read_all(history)
        finally:
            for left in folder.glob("history*"):
                left.unlink()

    return one


_CELLS = (
    ("rounds", "report"),
    ("evals", "report"),
    ("runs", "manifest"),
    ("evals", "score"),
    ("totals", "value"),
    ("totals", "name"),
    ("task_marks", "solved"),
    ("rollouts", "text"),
    ("groups", "weight"),
    ("claims", "used"),
    ("names", "name"),
    ("checkpoints", "written"),
    ("rounds", "reward"),
)


def _history_rows(folder: Path) -> Callable[[bytes], None]:
    """The database with one cell replaced by a text or bytes."""
    good, path = _played(folder), folder / "rows.sqlite"
    shutil.copyfile(good, path)
    history = History(path, lambda: 1e9)

    def one(data: bytes) -> None:
        table, column = _CELLS[sum(data[:1]) % len(_CELLS)]
        value: str | bytes = data[2:]
        with contextlib.suppress(UnicodeDecodeError):
            value = data[2:].decode() if sum(data[1:2]) % 8 else value
        db = history._database._connection
        db.execute("BEGIN")
        try:
            with contextlib.suppress(Exception):  # a value that a constraint refuses is no case
                db.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = (SELECT max(rowid) FROM {table})", (value,))
            read_all(history)
        finally:
            db.execute("ROLLBACK")

    return one


def _row_seeds() -> Sequence[bytes]:
    said = [msgspec.json.encode(one) for one in (builders.round_report(2), builders.eval_report("2", 0.5))]
    said.append(msgspec.json.encode(builders.run_manifest()))
    return [bytes([place, 1]) + text for place, text in enumerate([*said, b"0.5", b"3"])]


_TOML = ("sapo_desktop.core", "sapo_desktop.models", "sapo_desktop.tasks", "tomllib")
_KEYS = tuple(key.encode() for key in settings_file.known_keys())
FILES = {
    "settings": Target(_settings, _settings_seeds, (*_TOML, "tomlkit"), (SettingsError,), (*_KEYS, b"version")),
    "typed": Target(
        _typed, lambda: [b"label=a", b"schedule=mon-fri 8-18", b"questions=8"], _TOML, (SettingsError,), _KEYS
    ),
    "models": Target(_file("models.toml", read_catalogue), _models_seeds, _TOML, (ModelError,)),
    "tasks": Target(_file("tasks.toml", lambda path: load_catalogue(path).tasks()), _tasks_seeds, _TOML, (TaskError,)),
    "list": Target(
        _task_list, lambda: [b"gcd,lcm/middle,paper", b"all", b"easy"], ("sapo_desktop.tasks",), (UsageError, TaskError)
    ),
    "control": Target(_control, _control_seeds, ("sapo_desktop.worker.control",)),
    "templates": Target(
        _template,
        lambda: [_CHATML.encode(), _OTHER.encode()],
        ("sapo_desktop.engines.chat_template",),
        (ModelError,),
        (
            b"{%- set ",
            b"{%- for ",
            b"{%- if ",
            b"{%- endif -%}",
            b"namespace(",
            b"range(",
            b" | tojson",
            b"loop.index0",
        ),
    ),
    "gguf": Target(
        _file("model.gguf", lambda path: check_gguf([path])), _gguf_seeds, ("sapo_desktop.models.files",), (ModelError,)
    ),
    "safetensors": Target(
        _file("model.safetensors", count_numbers),
        _safetensors_seeds,
        ("sapo_desktop.models.files",),
        (ModelError,),
        (b"F64", b"__metadata__"),
    ),
    "history": Target(
        _history_file,
        lambda: [patch((9, b"\0")), patch((2500, b"\xa5" * 8))],
        ("sapo_desktop.worker.store",),
        (HistoryError,),
    ),
    "rows": Target(_history_rows, _row_seeds, ("sapo_desktop.worker.store",), (HistoryError,)),
}

"""Frames and envelopes between the worker and a host, the kinds of host, and how each is started.

A frame is four bytes of length, most significant first, then so many bytes. After a length above the limit, or an end
in the middle of a frame, the next frame cannot be found: the reader raises, and its owner closes the stream.

A service is what a host process runs. Its module has `create()`, which returns an object with

- `handle(request, progress) -> reply`: does the work on the main thread; `progress(message)` may be called from it;
- optionally `cancelled: threading.Event`: set to cancel a request; `handle` then raises HostCancelled or
  returns early (the caller gets HostCancelled either way). The host clears it before each request;
- optionally `versions: dict[str, str]`: names and versions of the libraries its results depend on.

Errors under SapoError keep their class; MemoryError becomes OutOfMemory, and anything else a HostError, with the
traceback in the log. A kind names its service's module and its message types. Nothing is imported before it is needed,
because a service's libraries are heavy and the worker must not load them.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import struct
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from sapo_desktop.core.errors import HostError
from sapo_desktop.core.records import Confined
from sapo_desktop.core.sentences import Text
from sapo_desktop.system import processes

MAX_FRAME = 64 * 1024 * 1024
"""Maximum payload in bytes, either way."""

_LENGTH = struct.Struct(">I")


class FrameError(HostError):
    """The data of a pipe is not a frame."""


def pack(payload: bytes) -> bytes:
    """The frame that carries `payload`.

    Raises:
        FrameError: the payload is too large.
    """
    if len(payload) > MAX_FRAME:
        raise FrameError(f"A message of {len(payload)} bytes is larger than the {MAX_FRAME} of a frame.")
    return _LENGTH.pack(len(payload)) + payload


def next_frame(stream: BinaryIO) -> bytes | None:
    """The next payload from a blocking stream, or None if it ended between two frames.

    Raises:
        FrameError: the stream ended inside a frame, or a frame is too large.
    """
    header = stream.read(_LENGTH.size)
    if not header:
        return None
    length = _length(header)
    payload = stream.read(length)
    if len(payload) != length:
        raise FrameError(f"A frame of {length} bytes ended after {len(payload)}.")
    return payload


class FrameWriter:
    """Writes whole frames to a binary stream, from any thread."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def write(self, payload: bytes) -> None:
        frame = pack(payload)
        with self._lock:
            self._stream.write(frame)
            self._stream.flush()


async def read_frame(reader: asyncio.StreamReader) -> bytes | None:
    """Like `next_frame`, from an asyncio stream."""
    try:
        header = await reader.readexactly(_LENGTH.size)
    except asyncio.IncompleteReadError as error:
        if not error.partial:
            return None
        raise FrameError("The stream ended inside the length of a frame.") from error
    length = _length(header)
    try:
        return await reader.readexactly(length)
    except asyncio.IncompleteReadError as error:
        raise FrameError(f"A frame of {length} bytes ended after {len(error.partial)}.") from error


def _length(header: bytes) -> int:
    if len(header) != _LENGTH.size:
        raise FrameError("The stream ended inside the length of a frame.")
    (length,) = _LENGTH.unpack(header)
    if length > MAX_FRAME:
        raise FrameError(f"A frame claims {length} bytes; at most {MAX_FRAME} are allowed.")
    return int(length)


class HostKind(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of host: `module:name` of its service's factory and of its message types."""

    name: str
    create: str
    request: str
    reply: str
    progress: str | None = None
    environment: dict[str, str] = {}
    """Set for the process before Python starts."""
    variables: tuple[str, ...] = ()
    """Prefixes of the worker's variables that this kind gets in addition to the usual ones."""
    network: bool = False
    """Whether it uses the network. If not, it is confined (system/confinement.py): no network, only the given files."""
    permissions: bool = False
    """Whether it may change file permissions although it is confined."""
    loads: bool = False
    """Whether it must load something before it can work (`Host.call(..., loading=True)`)."""
    computes: bool = False
    """Whether its work may take as long as it makes progress: a call's limit is on time without any activity."""


KINDS = {
    "examiner": HostKind(
        name="examiner",
        create="sapo_desktop.tasks.service:create",
        request="sapo_desktop.tasks.service:ExaminerRequest",
        reply="sapo_desktop.tasks.service:ExaminerReply",
        # Six of reasoning_gym's datasets depend on the hash seed; one question at a time needs no threads.
        environment={"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    ),
    "engine": HostKind(
        name="engine",
        permissions=True,  # of its exports
        loads=True,
        computes=True,
        create="sapo_desktop.engines.torch.service:create",
        request="sapo_desktop.engines.protocols:EngineRequest",
        reply="sapo_desktop.engines.protocols:EngineReply",
        progress="sapo_desktop.engines.protocols:EngineProgress",
        # Models come from local folders only; the tokenizers' threads would compete with torch's. numpy's library would
        # start its own threads at import, too early for them to be confined.
        environment={"TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1", "OPENBLAS_NUM_THREADS": "1"},
    ),
    "remote": HostKind(
        name="remote",
        network=True,
        loads=True,
        computes=True,
        create="sapo_desktop.engines.remote.engine:create",
        request="sapo_desktop.engines.protocols:RemoteRequest",
        reply="sapo_desktop.engines.protocols:GeneratorReply",
        progress="sapo_desktop.engines.protocols:EngineProgress",
        environment={"TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
    ),
    "generator": HostKind(
        name="generator",
        loads=True,
        computes=True,
        create="sapo_desktop.engines.llama_cpp.service:create",
        request="sapo_desktop.engines.protocols:GeneratorRequest",
        reply="sapo_desktop.engines.protocols:GeneratorReply",
        progress="sapo_desktop.engines.protocols:EngineProgress",
        # numpy's; llama.cpp's threads are separate and set by request.
        environment={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    ),
    "librarian": HostKind(
        name="librarian",
        network=True,
        create="sapo_desktop.models.service:create",
        # pip's settings, and other programs' model folders.
        variables=("PIP_", "XDG_", "LLAMA_CACHE", "OLLAMA_MODELS"),
        request="sapo_desktop.core.models:StoreRequest",
        reply="sapo_desktop.core.models:StoreReply",
        progress="sapo_desktop.core.models:StoreProgress",
        # Only what a download needs is requested from a hub, and only our own token is used.
        environment={
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_UPDATE_CHECK": "1",
            "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
            "HF_HUB_OFFLINE": "0",
        },
    ),
}


def kind_of_service(create: str) -> HostKind:
    """A kind for `module:function`, a service outside the table; its module has REQUEST, REPLY, PROGRESS."""
    module = create.partition(":")[0]
    return HostKind(
        name=module.rpartition(".")[2],
        create=create,
        request=f"{module}:REQUEST",
        reply=f"{module}:REPLY",
        progress=f"{module}:PROGRESS",
    )


def find(path: str) -> Any:
    """The object named `module:name`; its module is imported now."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def decoder(path: str | None) -> msgspec.msgpack.Decoder[Any]:
    """A decoder for the type named `module:name`; without a path, one that accepts only nil."""
    return msgspec.msgpack.Decoder(find(path) if path else None)


class Envelope(msgspec.Struct, frozen=True, kw_only=True, tag=True, forbid_unknown_fields=True):
    """Base of a frame's content. A body is decoded with the kind's own types."""


class Request(Envelope, frozen=True):
    id: int
    body: msgspec.Raw
    aside: bool = False
    """Urgent: the service answers it between two steps of its current work if it can."""


class Cancel(Envelope, frozen=True):
    """Cancel request `id`; ignored if it is already answered."""

    id: int


class Ready(Envelope, frozen=True):
    """The first frame of a host: it is ready for requests."""

    kind: str
    pid: int
    versions: dict[str, str]
    confined: Confined | None = None
    """None: no restrictions were requested."""


class Reply(Envelope, frozen=True):
    id: int
    body: msgspec.Raw


class Progress(Envelope, frozen=True):
    id: int
    body: msgspec.Raw


class Failed(Envelope, frozen=True):
    """The request failed (id 0: the host cannot start). `error`: name of a class in core/errors.py."""

    id: int
    error: str
    text: Text


ToHost = Request | Cancel
FromHost = Ready | Reply | Progress | Failed

encode = msgspec.msgpack.Encoder().encode


def pack_body(message: msgspec.Struct) -> msgspec.Raw:
    return msgspec.Raw(encode(message))


THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")


PASSED_ON = {
    *("PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP", "LD_LIBRARY_PATH", "PYTHONPATH"),
    *("PYTHONHOME", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "PYTHONHASHSEED", "PYTHONWARNINGS"),
    *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "NUMBER_OF_PROCESSORS"),
    *("NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES", "PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"),
}
PASSED_ON_KINDS = ("LC_", "CUDA_", "OMP_", "KMP_", "MKL_", "OPENBLAS_", "GGML_", "MALLOC_")
"""The worker's variables that each host gets, by name and prefix. They contain no secret."""
FOR_NETWORK = {
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "HF_ENDPOINT", "HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE"),
    *("HF_HUB_DOWNLOAD_TIMEOUT", "HUGGINGFACE_HUB_CACHE", "XDG_CACHE_HOME"),
}
"""Additional variables for hosts that use the network."""


class HostOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a host process is started and restarted."""

    kind: HostKind
    log: Path
    env: Mapping[str, str] = {}
    """Set on top of the kind's."""
    writes: Sequence[Path] = ()
    """Folders in which a confined host may write."""
    reads: Sequence[Path] = ()
    """What it may read besides these, its program and the system."""
    card: bool = False
    """Whether a confined host may use a graphics card."""
    threads: int | None = None
    """For computing libraries; None: the kind's choice or theirs."""
    low_priority: bool = False
    """Whether it has low priority after it is loaded and `haste` is over."""
    haste: float = 120.0
    """Seconds after loading with normal priority, while somebody waits for a first answer and a first round."""
    start_timeout: float = 180.0
    """Seconds without any activity before its start fails."""


def command(options: HostOptions) -> list[str]:
    """The command line of a host."""
    line = [*processes.python_command("sapo_desktop.worker.hosts.host"), "--parent", str(os.getpid())]
    kind = options.kind
    line += [kind.name] if KINDS.get(kind.name) is kind else ["--service", kind.create]
    return [*line, *_places(options), *(["--card"] if options.card else [])]


def _places(options: HostOptions) -> list[str]:
    return [*(f"--writes={one}" for one in options.writes), *(f"--reads={one}" for one in options.reads)]


def environment(options: HostOptions) -> dict[str, str]:
    """The environment of a host: the necessary variables of the worker, without secrets, then the kind's, the number
    of threads, `options.env`."""
    names = PASSED_ON | FOR_NETWORK if options.kind.network else PASSED_ON
    passed = {
        name: value
        for name, value in os.environ.items()
        if name.upper() in names or name.upper().startswith((*PASSED_ON_KINDS, *options.kind.variables))
    }
    values = dict(options.kind.environment)
    if options.threads is not None:
        values |= dict.fromkeys(THREAD_VARIABLES, str(options.threads))
    return processes.python_environment(values | dict(options.env), passed)

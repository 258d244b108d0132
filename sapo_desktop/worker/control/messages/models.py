"""Messages about models: stored ones, and which fit the memory here.

A download or import belongs to the worker: the request starts it and is answered at once, events report its progress,
and it continues when the client leaves. Only one runs at a time.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from sapo_desktop.core.fitting import Estimate, Fit, ModelBadge
from sapo_desktop.core.link.requests import Message, Request
from sapo_desktop.core.models import MOST_WORDS, Contents, Found, HubModel, Installed, Transfer
from sapo_desktop.core.sentences import Text
from sapo_desktop.worker.control.messages.base import Ok


class ModelsAre(Message, frozen=True, kw_only=True):
    """Reply to GetModels."""

    folder: str
    contents: Contents
    working: ModelProgressed | None = None
    """The running download or import."""


class FoundAre(Message, frozen=True, kw_only=True):
    """Reply to FindModels."""

    models: list[Found]
    notes: list[Text] = msgspec.field(default_factory=list)
    """What could not be used, a sentence each."""


class HubModelsAre(Message, frozen=True, kw_only=True):
    """Reply to SearchHub."""

    models: list[HubModel]
    left_out: int = 0
    """Results left out because their kind or layout does not run here."""


class ModelRemoved(Message, frozen=True, kw_only=True):
    name: str
    bytes: int


# -- events ------------------------------------------------------------------------------------------------


class ModelProgressed(Message, frozen=True, kw_only=True):
    """Progress of the work, a few times a second."""

    model: str
    """The requested reference or path."""
    transfer: Transfer


class ModelInstalled(Message, frozen=True, kw_only=True):
    """The download or import is complete."""

    model: str
    installed: Installed
    path: str
    notes: list[Text] = msgspec.field(default_factory=list)


class ModelFailed(Message, frozen=True, kw_only=True):
    """The download or import ended without a model."""

    model: str
    kind: str
    """Name of the error class in core/errors.py."""
    text: Text


ModelEvent = ModelProgressed | ModelInstalled | ModelFailed


Gibibytes = Annotated[float, Meta(ge=0, le=1_000_000)]


class FitIs(Message, frozen=True, kw_only=True):
    fit: Fit


class CatalogueIs(Message, frozen=True, kw_only=True):
    models: list[ModelBadge]
    disk_free: int = 0
    """Free bytes on the disk of the models."""


class EstimatesAre(Message, frozen=True, kw_only=True):
    """Reply to GetEstimates."""

    estimates: dict[str, Estimate]
    """Estimates by the name of a local model, or its repository. Unreadable ones are left out."""


# -- requests ----------------------------------------------------------------------------------------------


class DownloadModel(Request[Ok], frozen=True, kw_only=True):
    """Start or continue a download. Answered with Ok when it has started."""

    model: str
    """A name of the catalogue, or `OWNER/NAME`, or `OWNER/NAME@REVISION`."""
    files: list[str] = msgspec.field(default_factory=list)
    """Only these files of a repository."""


class ImportModel(Request[Ok], frozen=True, kw_only=True):
    """Start to import a folder or GGUF file of this computer. Answered with Ok when it has started."""

    path: str
    """The full path."""
    name: str | None = None
    """None: the name of the folder or file."""


class CancelModelWork(Request[Ok], frozen=True, kw_only=True):
    """End the running download or import; complete files of a download are kept."""


class RemoveModel(Request[ModelRemoved], frozen=True, kw_only=True):
    """Delete an installed model, or the rest of an unfinished download."""

    name: str


class GetModels(Request[ModelsAre], frozen=True, kw_only=True):
    """List installed and running models."""


class FindModels(Request[FoundAre], frozen=True, kw_only=True):
    """List the models of other programs on this computer."""


class SearchHub(Request[HubModelsAre], frozen=True, kw_only=True):
    """Search the hub by words. Refused in silo."""

    words: Annotated[str, Meta(min_length=1, max_length=MOST_WORDS)]


class SetHubToken(Request[Ok], frozen=True, kw_only=True):
    """Store a token for the hub in the keyring; None: delete it."""

    token: str | None

    def __repr__(self) -> str:
        return "SetHubToken()"  # tokens must not appear in logs or tracebacks


class GetFit(Request[FitIs], frozen=True, kw_only=True):
    """What would run here, or on a computer with so much main and card memory (GiB)."""

    ram: Gibibytes | None = None
    vram: Gibibytes | None = None


class GetCatalogue(Request[CatalogueIs], frozen=True, kw_only=True):
    """Every model of the catalogue, and whether it fits here."""


class GetEstimates(Request[EstimatesAre], frozen=True, kw_only=True):
    """What models outside the catalogue need here."""

    models: list[str] = msgspec.field(default_factory=list)
    """Local models, by the value of the setting `model`."""
    hub: list[HubModel] = msgspec.field(default_factory=list)


FitRequest = GetFit | GetCatalogue | GetEstimates
FitReply = FitIs | CatalogueIs | EstimatesAre

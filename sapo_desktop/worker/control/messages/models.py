"""What clients and the worker say to each other about models: those that are kept, and which fit the memory here.

A download or import belongs to the worker: the request begins it and is answered at once, events tell how it goes, and
it goes on when the client leaves. One is under way at a time.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from sapo_desktop.core.fitting import Estimate, Fit, ModelBadge
from sapo_desktop.core.models import MOST_WORDS, Contents, Found, HubModel, Installed, Transfer
from sapo_desktop.core.sentences import Text
from sapo_desktop.worker.control.messages.base import Message, Ok, Request


class ModelsAre(Message, frozen=True, kw_only=True):
    """Reply to GetModels."""

    folder: str
    contents: Contents
    working: ModelProgressed | None = None
    """The download or import that is under way."""


class FoundAre(Message, frozen=True, kw_only=True):
    """Reply to FindModels."""

    models: list[Found]
    notes: list[Text] = msgspec.field(default_factory=list)
    """What could not be used, a sentence each."""


class HubModelsAre(Message, frozen=True, kw_only=True):
    """Reply to SearchHub."""

    models: list[HubModel]
    left_out: int = 0
    """Found, but of a kind or layout that does not run here."""


class ModelRemoved(Message, frozen=True, kw_only=True):
    name: str
    bytes: int


# -- events ------------------------------------------------------------------------------------------------


class ModelProgressed(Message, frozen=True, kw_only=True):
    """How far the work is; a few times a second."""

    model: str
    """As it was asked for: the reference, or the path."""
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
    """Bytes on the disk that models are kept on."""


class EstimatesAre(Message, frozen=True, kw_only=True):
    """Reply to GetEstimates."""

    estimates: dict[str, Estimate]
    """By the name of a model here, or its repository. Those that cannot be read are left out."""


# -- requests ----------------------------------------------------------------------------------------------


class DownloadModel(Request[Ok], frozen=True, kw_only=True):
    """Begin a download, or go on with one that was cut short. Answered with Ok when it has begun."""

    model: str
    """A name of the catalogue, or `OWNER/NAME`, or `OWNER/NAME@REVISION`."""
    files: list[str] = msgspec.field(default_factory=list)
    """Of a repository: these, and no others."""


class ImportModel(Request[Ok], frozen=True, kw_only=True):
    """Begin to take in a folder or GGUF file of this computer. Answered with Ok when it has begun."""

    path: str
    """In full."""
    name: str | None = None
    """None: as the folder or file is named."""


class CancelModelWork(Request[Ok], frozen=True, kw_only=True):
    """End the download or import that is under way; complete files of a download are kept."""


class RemoveModel(Request[ModelRemoved], frozen=True, kw_only=True):
    """Delete an installed model, or what an unfinished download left."""

    name: str


class GetModels(Request[ModelsAre], frozen=True, kw_only=True):
    """What is installed, and what is under way."""


class FindModels(Request[FoundAre], frozen=True, kw_only=True):
    """Which models other programs have on this computer."""


class SearchHub(Request[HubModelsAre], frozen=True, kw_only=True):
    """Which models the hub has by words. Refused in silo."""

    words: Annotated[str, Meta(min_length=1, max_length=MOST_WORDS)]


class SetHubToken(Request[Ok], frozen=True, kw_only=True):
    """Keep a token for the hub in the keyring; None: forget it."""

    token: str | None

    def __repr__(self) -> str:
        return "SetHubToken()"  # a token has no business in a log or a traceback


class GetFit(Request[FitIs], frozen=True, kw_only=True):
    """What would run here, or on a machine with so much memory (GiB) of its own and on its card."""

    ram: Gibibytes | None = None
    vram: Gibibytes | None = None


class GetCatalogue(Request[CatalogueIs], frozen=True, kw_only=True):
    """Every model of the catalogue, and whether it fits here."""


class GetEstimates(Request[EstimatesAre], frozen=True, kw_only=True):
    """What models take here that the catalogue does not have."""

    models: list[str] = msgspec.field(default_factory=list)
    """Of this computer, as the setting `model` names them."""
    hub: list[HubModel] = msgspec.field(default_factory=list)


FitRequest = GetFit | GetCatalogue | GetEstimates
FitReply = FitIs | CatalogueIs | EstimatesAre

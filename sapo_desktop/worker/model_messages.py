"""What clients and the worker say to each other about the models that are kept: requests, replies and events.

A download or import belongs to the worker: the request begins it and is answered at once, events tell how it goes, and
it goes on when the client leaves. One is under way at a time.
"""

from __future__ import annotations

import msgspec

from sapo_desktop.core.models import Contents, Installed, Transfer


class ModelMessage(msgspec.Struct, frozen=True, kw_only=True, tag=True, forbid_unknown_fields=True):
    """Base of the messages here."""


# -- requests ----------------------------------------------------------------------------------------------


class DownloadModel(ModelMessage, frozen=True):
    """Begin a download, or go on with one that was cut short. Answered with Ok when it has begun."""

    model: str
    """A name of the catalogue, or `OWNER/NAME`, or `OWNER/NAME@REVISION`."""
    files: list[str] = []
    """Of a repository: these, and no others."""


class ImportModel(ModelMessage, frozen=True):
    """Begin to take in a folder or GGUF file of this computer. Answered with Ok when it has begun."""

    path: str
    """In full."""
    name: str | None = None
    """None: as the folder or file is named."""
    copy: bool = False


class CancelModelWork(ModelMessage, frozen=True):
    """End the download or import that is under way; what has arrived of a download is kept."""


class RemoveModel(ModelMessage, frozen=True):
    """Delete an installed model, or what an unfinished download left."""

    name: str


class GetModels(ModelMessage, frozen=True):
    """What is installed, and what is under way."""


class SetHubToken(ModelMessage, frozen=True):
    """Keep a token for the hub in the keyring; None: forget it."""

    token: str | None

    def __repr__(self) -> str:
        return "SetHubToken()"  # a token has no business in a log or a traceback


ModelRequest = DownloadModel | ImportModel | CancelModelWork | RemoveModel | GetModels | SetHubToken

# -- replies -----------------------------------------------------------------------------------------------


class ModelsAre(ModelMessage, frozen=True):
    """Reply to GetModels."""

    folder: str
    contents: Contents
    working: ModelProgressed | None = None
    """The download or import that is under way."""


class ModelRemoved(ModelMessage, frozen=True):
    name: str
    bytes: int


# -- events ------------------------------------------------------------------------------------------------


class ModelProgressed(ModelMessage, frozen=True):
    """How far the work is; a few times a second."""

    model: str
    """As it was asked for: the reference, or the path."""
    transfer: Transfer


class ModelInstalled(ModelMessage, frozen=True):
    """The download or import is complete."""

    model: str
    installed: Installed
    path: str
    notes: list[str] = []


class ModelFailed(ModelMessage, frozen=True):
    """The download or import ended without a model."""

    model: str
    kind: str
    """Name of the error class in core/errors.py."""
    text: str


ModelReply = ModelsAre | ModelRemoved
ModelEvent = ModelProgressed | ModelInstalled | ModelFailed

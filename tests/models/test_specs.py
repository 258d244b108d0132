"""Names of the catalogue are names of downloads."""

from sapo_desktop.core.models import Fetch
from sapo_desktop.models.catalogue import model_catalogue
from sapo_desktop.models.service import create
from sapo_desktop.models.specs import catalogue_specs


def test_every_model_but_the_one_that_ships_can_be_downloaded_by_its_id() -> None:
    specs, models = catalogue_specs(), model_catalogue().models
    assert "starter" not in specs
    assert {model.id for model in models if not model.shipped} <= set(specs)
    assert specs["smollm2-135m"].repository == "HuggingFaceTB/SmolLM2-135M-Instruct"


def test_published_gguf_versions_have_names_of_their_own() -> None:
    specs = catalogue_specs()
    versions = {f"{model.id}-{file.quantisation.lower()}" for model in model_catalogue().models for file in model.gguf}
    assert versions and versions <= set(specs)
    assert all(specs[name].quantisation for name in versions)


def test_an_approximate_size_is_held_against_no_file() -> None:
    spec = catalogue_specs()["smollm2-360m-q8_0"]
    assert all(file.bytes is None for file in spec.files)


def test_the_process_that_downloads_knows_them() -> None:
    request = Fetch(folder="/nowhere", reference="smollm2-135m")
    assert create()._spec(request) == catalogue_specs()["smollm2-135m"]

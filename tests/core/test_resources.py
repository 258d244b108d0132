import pytest

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.resources import resource


def test_a_shipped_file_is_found() -> None:
    assert resource("tasks.toml").is_file()


def test_a_missing_file_says_that_the_installation_is_incomplete() -> None:
    with pytest.raises(SapoError, match="starter/none is missing from this installation"):
        resource("starter/none")

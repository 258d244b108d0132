"""The error that a worker ends with, as whoever started it reads it in the log."""

import pytest

from sapo_desktop.core.errors import ModelError, SapoError, SettingsError
from sapo_desktop.core.sentences import sentence
from sapo_desktop.worker.control.last_words import last_words, named_error


def test_an_error_keeps_its_kind_and_its_sentence() -> None:
    error = ModelError(sentence("There is no model '{name}'.", name="x\ny"))
    read = named_error("2026-11-22 INFO loading\n" + last_words(error))
    assert type(read) is ModelError and read.text == error.text
    assert last_words(error).endswith("ModelError: There is no model 'x\ny'.")


@pytest.mark.parametrize("cut", [10, 25])
def test_where_the_data_was_cut_off_the_words_are_left(cut: int) -> None:
    read = named_error(last_words(SettingsError(sentence("{key} is wrong.", key="model")))[cut:])
    assert type(read) is SettingsError and str(read) == "model is wrong."


def test_what_names_no_error_of_ours_is_none() -> None:
    assert named_error("Traceback (most recent call last):\nValueError: no") is None
    assert named_error("told as data: {}\nnothing else") is None
    read = named_error("SapoError: The starter is missing.")
    assert type(read) is SapoError and str(read) == "The starter is missing."

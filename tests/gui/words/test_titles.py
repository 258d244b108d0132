"""Tasks and models by their titles."""

from sapo_desktop.core.resources import resource
from sapo_desktop.core.sentences import sentence
from sapo_desktop.gui.words import titles
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.tasks.catalogue import load_catalogue


def test_a_task_is_called_by_its_title_and_level() -> None:
    assert titles.task_name("gcd/easy") == "Greatest common divisor, easy"
    assert titles.task_name("gcd") == "Greatest common divisor"


def test_what_is_not_known_here_is_called_plainly() -> None:
    assert titles.task_name("brand_new/paper") == "brand new, paper"
    assert titles.task_name("gcd/odd") == "Greatest common divisor, odd"
    assert titles.task_name("3f9a" * 16) == "unknown task 3f9a3f9a"
    assert titles.task_name("\x1b[31mred/<b>x</b>") == "red, <b>x</b>"


def test_the_families_are_those_of_the_catalogue() -> None:
    catalogue = load_catalogue(resource("tasks.toml"))
    assert dict(titles.families()) == {family.name: family.title for family in catalogue.families}


def test_a_model_is_called_by_its_title_wherever_it_is_named() -> None:
    assert titles.model_title("qwen3-0.6b") == "Qwen3 0.6B"
    assert titles.model_title("owner--own") == "owner--own"
    assert in_words(sentence("Downloading {model}.", model="qwen3-0.6b")) == "Downloading Qwen3 0.6B."

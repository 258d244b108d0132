"""Tasks by their titles."""

from sapo_desktop.core.resources import resource
from sapo_desktop.gui.words import tasks as task_names
from sapo_desktop.tasks.catalogue import load_catalogue


def test_a_task_is_called_by_its_title_and_level() -> None:
    assert task_names.task_name("gcd/easy") == "Greatest common divisor, easy"
    assert task_names.task_name("gcd") == "Greatest common divisor"


def test_what_is_not_known_here_is_called_plainly() -> None:
    assert task_names.task_name("brand_new/paper") == "brand new, paper"
    assert task_names.task_name("gcd/odd") == "Greatest common divisor, odd"
    assert task_names.task_name("3f9a" * 16) == "unknown task 3f9a3f9a"
    assert task_names.task_name("\x1b[31mred/<b>x</b>") == "red, <b>x</b>"


def test_the_families_are_those_of_the_catalogue() -> None:
    catalogue = load_catalogue(resource("tasks.toml"))
    assert dict(task_names.families()) == {family.name: family.title for family in catalogue.families}

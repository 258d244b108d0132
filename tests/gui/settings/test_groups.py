"""Every setting has its place, its words and a control, and a search finds it."""

from sapo_desktop.core import settings_file
from sapo_desktop.gui.settings.groups import (
    GROUPS,
    Number,
    OneOf,
    OnOff,
    Typed,
    as_typed,
    control,
    found,
)
from sapo_desktop.gui.words import settings as setting_words

KEYS = settings_file.known_keys()


def test_no_two_settings_have_one_name() -> None:
    assert len(set(setting_words.titles().values())) == len(KEYS)


def test_every_group_has_a_name_and_a_sentence() -> None:
    assert set(setting_words.group_titles()) == set(setting_words.group_sentences()) == set(GROUPS)


def test_controls_follow_the_types() -> None:
    assert control("silo") == OnOff()
    assert control("theme") == OneOf(("system", "light", "dark"))
    assert control("mix") == OneOf(("auto", "8/0", "6/2", "4/4", "2/6"))
    assert control("text_size") == Number(80, 200, 10, whole=True)
    assert control("threads") == Number(0, 1024, 1, whole=True)
    assert control("memory_most") == Number(0.0, 10_000.0, 0.5)
    assert control("learning_rate") == Typed(number=True)
    assert control("listen") == Typed()


def test_names_of_choices_are_of_choices_that_there_are() -> None:
    for key in KEYS:
        kind = control(key)
        values = kind.values if isinstance(kind, OneOf) else ()
        assert set(setting_words.choices(key)) <= set(values), key


def test_every_default_can_be_typed_back() -> None:
    for key in KEYS:
        value = settings_file.describe(key).default
        assert settings_file.parse_value(key, as_typed(value)) == value
    assert as_typed(1e-5) == "1e-05"


TEXTS = {key: (title, setting_words.sentence(key)) for key, title in setting_words.titles().items()}


def test_a_search_finds_by_name_sentence_and_key_in_any_order_of_words() -> None:
    assert found("colours", TEXTS)["window"] == ["theme"]
    assert found("on_battery", TEXTS) == {"when": ["on_battery"]}
    assert found("  BATTERY   working ", TEXTS) == {"when": ["on_battery"]}
    assert found("no such thing", TEXTS) == {}
    assert sum(map(len, found("", TEXTS).values())) == len(KEYS)

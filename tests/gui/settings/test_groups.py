"""Every setting has its place, its words and a control, and a search finds it."""

import msgspec

from sapo_desktop.core import settings_file
from sapo_desktop.core.settings import Settings
from sapo_desktop.gui.settings.groups import (
    GROUPS,
    Number,
    OneOf,
    OnOff,
    Typed,
    Wanted,
    as_typed,
    control,
    found,
    may_hold_a_login,
)
from sapo_desktop.gui.words import settings as setting_words
from sapo_desktop.worker.control.messages.replies import SettingsAre

KEYS = settings_file.known_keys()


def test_no_two_settings_have_one_name() -> None:
    assert len(set(setting_words.titles().values())) == len(KEYS)


def test_every_group_has_a_name_and_a_sentence() -> None:
    assert set(setting_words.group_titles()) == set(setting_words.group_sentences()) == set(GROUPS)


def test_controls_follow_the_types() -> None:
    assert control("silo") == OnOff()
    assert control("theme") == OneOf(("system", "light", "dark"))
    assert control("mix") == OneOf(("8/0", "6/2", "4/4", "2/6"))
    assert control("text_size") == Number(80, 200, 10, whole=True)
    assert control("threads") == Number(0, 1024, 1, whole=True)
    assert control("memory_reserve") == Number(0.0, 1000.0, 0.5)
    assert control("temperature") == Number(0.001, 5.0, 0.1)
    assert control("learning_rate") == Typed(number=True)
    assert control("peers") == Typed()


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
    assert found("  LOSES   computer ", TEXTS) == {"when": ["on_battery"]}
    assert found("no such thing", TEXTS) == {}
    assert sum(map(len, found("", TEXTS).values())) == len(KEYS)


def test_a_login_is_masked_and_nothing_else() -> None:
    assert may_hold_a_login("proxy", "socks5h://me:secret@host:1080")
    assert not may_hold_a_login("proxy", "http://host:3128")
    assert not may_hold_a_login("label", "me@home")


def are(settings: Settings, waiting: tuple[str, ...] = (), overridden: tuple[str, ...] = ()) -> SettingsAre:
    return SettingsAre(settings=settings, changed=[], overridden=list(overridden), waiting=list(waiting))


def test_what_waits_is_shown_in_another_window_too() -> None:
    told = msgspec.structs.replace(are(Settings(), waiting=("model",)), wanted=Settings(model="smollm2-135m"))
    assert Wanted().value("model", told) == "smollm2-135m"


def test_what_the_command_line_holds_is_shown_as_it_was_typed() -> None:
    wanted = Wanted()
    wanted.note("answers", "16")
    assert wanted.value("answers", are(Settings(answers=4), overridden=("answers",))) == 16
    wanted.forget(["answers"])
    assert wanted.value("answers", are(Settings(answers=4), overridden=("answers",))) == 8


def test_what_takes_effect_at_once_is_shown_as_it_is() -> None:
    wanted = Wanted()
    wanted.note("label", "mine")
    assert wanted.value("label", are(Settings(label="other"))) == "other"

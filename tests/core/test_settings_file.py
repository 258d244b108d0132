"""What is written is read back, a person's comments stay, and nothing wrong is taken."""

import errno
import os
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from sapo_desktop.core.errors import SettingsError
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.settings_file import (
    apply,
    changed_keys,
    describe,
    known_keys,
    parse_value,
    read,
    reset,
    shown,
    write,
)

TEXT = st.text(st.characters(codec="utf-8"), max_size=80).filter(lambda t: t.isprintable() and t == t.strip())
SETTINGS = st.builds(
    Settings,
    model=TEXT.filter(str.strip),
    seed=st.integers(0, 2**31 - 1),
    tasks=TEXT,
    curriculum=st.booleans(),
    answers=st.integers(2, 64),
    temperature=st.floats(0, 5, exclude_min=True),
    reward=st.sampled_from(["strict", "partial"]),
    mix=st.sampled_from(["8/0", "6/2", "4/4", "2/6"]),
    learning_rate=st.floats(0, 0.1),
    silo=st.booleans(),
    write_gigabytes_a_day=st.floats(0, 1000, exclude_min=True),
    device=st.sampled_from(["auto", "cpu", "cuda", "mps"]),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


def test_without_a_file_the_defaults_hold(path: Path) -> None:
    assert read(path, 0.0).settings == Settings()
    assert not path.exists()


@examples(deadline=None, max_examples=40)  # it waits for the disk
@given(SETTINGS)
def test_what_is_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, settings: Settings) -> None:
    path = tmp_path_factory.mktemp("settings") / "settings.toml"
    write(path, Settings())
    write(path, settings)
    assert read(path, 0.0).settings == settings


@examples(deadline=None)
@given(SETTINGS)
def test_what_is_shown_can_be_typed(settings: Settings) -> None:
    texts = {key: str(getattr(settings, key)) for key in known_keys()}
    assert apply(Settings(), texts) == settings


def test_each_key_stands_under_its_description(path: Path) -> None:
    write(path, Settings())
    lines = path.read_text().splitlines()
    assert "version = 5" in lines
    for key in known_keys():
        place = next(i for i, line in enumerate(lines) if line.startswith(f"{key} = "))
        assert lines[place - 1].startswith(f"# {describe(key).description}")


def test_comments_order_and_other_values_stay(path: Path) -> None:
    path.write_text("# mine\nanswers = 4   # few\nversion = 5\nsilo = false\n")
    settings = read(path, 0.0).settings
    assert (settings.answers, settings.silo) == (4, False)
    write(path, msgspec.structs.replace(settings, answers=5))
    assert path.read_text().startswith("# mine\nanswers = 5   # few\nversion = 5\nsilo = false\n")
    assert read(path, 0.0).settings.answers == 5


def test_an_unknown_key_is_refused_with_the_nearest(path: Path) -> None:
    path.write_text("anwsers = 4\n")
    with pytest.raises(SettingsError, match=r"no setting 'anwsers' in .*settings\.toml; did you mean answers\?"):
        read(path, 0.0)
    assert path.read_text() == "anwsers = 4\n"
    with pytest.raises(SettingsError, match="there are: model, generator"):
        describe("zzzzzz")


@pytest.mark.parametrize(
    "line",
    [
        "answers = 1",
        "answers = 65",
        "answers = 4.5",
        "answers = true",
        "answers = '4'",
        "silo = 1",
        "temperature = nan",
        "temperature = inf",
        "temperature = 0",
        "mix = '3/5'",
        "tasks = 4",
        'model = "a\\nb"',
        "seed = [1]",
        "answers = 1979-05-27",
    ],
)
def test_a_value_out_of_range_is_refused(path: Path, line: str) -> None:
    path.write_text(line)
    with pytest.raises(SettingsError, match="is not possible: it has to be"):
        read(path, 0.0)


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        ("http://user:s3cret@proxy.example:3128", "http://***@proxy.example:3128"),
        ("user:s3@cret@proxy.example:3128", "***@proxy.example:3128"),
        ("socks5h://127.0.0.1:9050", "socks5h://127.0.0.1:9050"),
        ("off", "off"),
    ],
)
def test_the_login_of_a_proxy_is_not_shown(value: str, seen: str) -> None:
    assert shown("proxy", value) == seen
    assert shown("label", value) == value


@pytest.mark.parametrize("value", [f"'http://u:s3cret@h:1{1000 * '/'}'", "['http://u:s3cret@h:1']", '"u:s3cret@h\\n"'])
def test_nor_where_it_is_refused(path: Path, value: str) -> None:
    path.write_text(f"proxy = {value}")
    with pytest.raises(SettingsError, match="is not possible: it has to be") as refused:
        read(path, 0.0)
    assert "s3cret" not in str(refused.value)
    with pytest.raises(SettingsError, match="cannot be") as refused:
        parse_value("proxy", "http://u:s3cret@h:1" + 1000 * "/")
    assert "s3cret" not in str(refused.value)


def test_an_editor_may_mark_its_encoding(path: Path) -> None:
    """Windows' editors may; TOML knows no such mark."""
    path.write_bytes(b"\xef\xbb\xbftemperature = 2.0\r\n")
    assert read(path).settings.temperature == 2.0


def test_a_whole_number_will_do_for_a_number(path: Path) -> None:
    path.write_text("temperature = 2")
    assert read(path, 0.0).settings.temperature == 2.0


@pytest.mark.parametrize(
    "data", [b"answers = = 4", b"\xff\xfe\x00", b"[unclosed", b"answers = 4\nanswers = 5", b"\0" * 64]
)
def test_a_damaged_file_is_set_aside_and_said(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    with pytest.raises(SettingsError, match="left as it is"):
        read(path)
    assert path.read_bytes() == data, "only who says so sets it aside"
    found = read(path, 77.0)
    assert found.settings == Settings()
    assert "moved to settings.damaged-77.toml" in str(found.said)
    assert path.with_name("settings.damaged-77.toml").read_bytes() == data
    assert not path.exists()


def test_a_newer_version_is_refused(path: Path) -> None:
    path.write_text("version = 9\nnew_key = 1\n")
    with pytest.raises(SettingsError, match="newer SAPO Desktop"):
        read(path, 0.0)
    path.write_text("version = 'x'")
    with pytest.raises(SettingsError, match="names the version 'x'"):
        read(path, 0.0)


@pytest.mark.parametrize(
    ("version", "key", "chosen", "then"),
    [
        (1, "questions", 0, 8),
        (2, "questions", 32, 32),
        (1, "treatment", "shaped", "guarded"),
        (1, "treatment", "paper", "paper"),
        (4, "weighting", "positive", "guarded"),
        (4, "weighting", "capable", "guarded"),
        (1, "mix", "adaptive", "4/4"),
        (4, "mix", "2/6", "2/6"),
    ],
)
def test_settings_of_older_versions_may_name_what_is_gone(
    path: Path, version: int, key: str, chosen: object, then: object
) -> None:
    path.write_text(f"version = {version}\n{key} = {chosen!r}\n")
    found = read(path, 0.0)
    assert getattr(found.settings, "weighting" if key == "treatment" else key) == then
    assert (f"{key} = {chosen} (now {then})" in str(found.said)) == (chosen != then)
    write(path, found.settings)
    assert not read(path, 0.0).said


@pytest.mark.parametrize("value", ["[]", "{}", "[1, {a = 2}]"])
def test_an_older_file_may_hold_whatever_toml_can(path: Path, value: str) -> None:
    path.write_text(f"version = 1\nmix = {value}\nquestions = {value}\ntreatment = {value}\n")
    with pytest.raises(SettingsError):
        read(path, 1.0)


def test_settings_of_version_1_that_are_gone_or_have_another_name(path: Path) -> None:
    path.write_text("version = 1\nkl_weight = [1]\ntreatment = 'positive'\n")
    assert read(path, 0.0).settings == Settings()
    path.write_text("version = 1\nkl_weight = 0.1\ntreatment = 'paper'\nanswers = 4\n")
    settings = read(path, 0.0).settings
    assert (settings.answers, settings.weighting) == (4, "paper")
    write(path, settings)
    assert "kl_weight" not in path.read_text() and "treatment" not in path.read_text()
    assert read(path, 0.0).settings == settings


def test_a_full_disk_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(path, Settings())
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SettingsError, match="disk is full"):
        write(path, Settings(answers=4))
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["settings.toml"]


def test_what_a_kill_left_behind_is_removed(path: Path) -> None:
    write(path, Settings())
    path.with_name(".settings.toml-x1").write_bytes(b"half")
    read(path, 0.0)
    assert [p.name for p in path.parent.iterdir()] == ["settings.toml"]


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("silo", "on", True),
        ("silo", "OFF", False),
        ("silo", "true", True),
        ("silo", "no", False),
        ("answers", " 16 ", 16),
        ("temperature", "1e-1", 0.1),
        ("temperature", "2", 2.0),
        ("mix", "8/0", "8/0"),
        ("processor_percent_away", "0", 0),
        ("processor_percent_away", "5", 5),
        ("tasks", "gcd, legs/easy", "gcd, legs/easy"),
    ],
)
def test_values_as_a_person_types_them(key: str, text: str, value: object) -> None:
    found = parse_value(key, text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("key", "text", "sentence"),
    [
        ("answers", "99", "a whole number from 2 to 64"),
        ("answers", "4.0", "a whole number from 2 to 64"),
        ("answers", "9" * 5000, "a whole number from 2 to 64"),
        ("temperature", "0", "a number above 0, to 5"),
        ("temperature", "nan", "a number above 0, to 5"),
        ("temperature", "warm", "a number above 0, to 5"),
        ("silo", "maybe", "on or off"),
        ("mix", "3/5", "one of 2/6, 4/4, 6/2, 8/0"),
        ("tasks", "x" * 2001, "text on one line, at most 2000 characters"),
        ("model", "a\u202eb", "text on one line"),
        ("processor_percent_away", "4", "0 (the same as otherwise) or from 5 to 100"),
    ],
)
def test_what_a_setting_allows_is_named(key: str, text: str, sentence: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_value(key, text)
    assert sentence in str(caught.value)
    assert len(str(caught.value)) < 6000


def test_all_or_nothing() -> None:
    with pytest.raises(SettingsError) as caught:
        apply(Settings(), {"answers": "4", "mix": "9/9", "anwsers": "4"})
    assert len(str(caught.value).splitlines()) == 2
    assert apply(Settings(), {"answers": "4", "silo": "off"}) == Settings(answers=4, silo=False)


def test_changed_and_back() -> None:
    settings = Settings(answers=4, silo=False)
    assert changed_keys(settings) == ["answers", "silo"]
    assert reset(settings, ["silo"]) == Settings(answers=4)
    assert reset(settings, []) == Settings()
    with pytest.raises(SettingsError, match="no setting"):
        reset(settings, ["x"])

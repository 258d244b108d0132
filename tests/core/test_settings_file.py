"""Written settings are read back, comments stay, and invalid values are refused."""

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
    ReadSettings,
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
    memory_most=st.floats(0, 10_000),
    reward=st.sampled_from(["strict", "partial"]),
    mix=st.sampled_from(["8/0", "6/2", "4/4", "2/6"]),
    learning_rate=st.floats(0, 0.1),
    silo=st.booleans(),
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
    assert "version = 6" in lines
    for key in known_keys():
        place = next(i for i, line in enumerate(lines) if line.startswith(f"{key} = "))
        assert lines[place - 1].startswith(f"# {describe(key).description}")


def test_comments_order_and_other_values_stay(path: Path) -> None:
    path.write_text("# mine\nanswers = 4   # few\nversion = 6\nsilo = false\n")
    settings = read(path, 0.0).settings
    assert (settings.answers, settings.silo) == (4, False)
    write(path, msgspec.structs.replace(settings, answers=5))
    assert path.read_text().startswith("# mine\nanswers = 5   # few\nversion = 6\nsilo = false\n")
    assert read(path, 0.0).settings.answers == 5


def test_an_unknown_key_is_refused_with_the_nearest(path: Path) -> None:
    path.write_text("anwsers = 4\n")
    with pytest.raises(SettingsError, match=r"no setting 'anwsers' in .*settings\.toml; did you mean answers\?"):
        read(path, 0.0)
    assert path.read_text() == "anwsers = 4\n"
    with pytest.raises(SettingsError, match=r"there are: .*model, generator"):
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
        "memory_most = nan",
        "memory_most = inf",
        "memory_most = -1",
        "mix = '3/5'",
        "tasks = 4",
        'model = "a\\nb"',
        "seed = [1]",
        "answers = 1979-05-27",
    ],
)
def test_a_value_out_of_range_is_refused(path: Path, line: str) -> None:
    path.write_text(line)
    with pytest.raises(SettingsError, match="is not possible"):
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
    with pytest.raises(SettingsError, match="is not possible") as refused:
        read(path, 0.0)
    assert "s3cret" not in str(refused.value)
    with pytest.raises(SettingsError, match="cannot be") as refused:
        parse_value("proxy", "http://u:s3cret@h:1" + 1000 * "/")
    assert "s3cret" not in str(refused.value)


def test_an_editor_may_mark_its_encoding(path: Path) -> None:
    """Windows' editors may; TOML knows no such mark."""
    path.write_bytes(b"\xef\xbb\xbfmemory_most = 2.0\r\n")
    assert read(path).settings.memory_most == 2.0


def test_a_whole_number_will_do_for_a_number(path: Path) -> None:
    path.write_text("memory_most = 2")
    assert read(path, 0.0).settings.memory_most == 2.0


@pytest.mark.parametrize(
    "data", [b"answers = = 4", b"\xff\xfe\x00", b"[unclosed", b"answers = 4\nanswers = 5", b"\0" * 64]
)
def test_a_damaged_file_is_set_aside_and_said(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    with pytest.raises(SettingsError, match="or move it away to use the defaults"):
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
    with pytest.raises(SettingsError, match="has the version 'x'"):
        read(path, 0.0)


def test_settings_that_are_gone_are_named_once_and_the_rest_of_an_older_file_holds(path: Path) -> None:
    path.write_text("# mine\nversion = 5\nanswers = 4\nmemory_reserve = 3.0\ntemperature = 0.5\nquiet_hours = []\n")
    first = read(path, 0.0)
    assert first.settings == Settings(answers=4)
    assert "memory_reserve = 3.0, temperature = 0.5, quiet_hours = []" in str(first.said)
    assert "memory_reserve" not in path.read_text() and path.read_text().startswith("# mine")
    assert read(path, 0.0) == ReadSettings(settings=first.settings)


def test_an_older_file_that_cannot_be_written_holds_all_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_text("version = 5\nanswers = 4\nthreads_away = 8\n")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    found = read(path, 0.0)
    assert found.settings == Settings(answers=4) and "threads_away = 8" in str(found.said)


def test_the_lab_varies_what_a_node_does_not(path: Path) -> None:
    assert apply(Settings(), {"temperature": "0.5", "answers": "4"}, lab=True) == Settings(temperature=0.5, answers=4)
    with pytest.raises(SettingsError, match="no setting 'temperature'"):
        apply(Settings(), {"temperature": "0.5"})


def test_there_are_no_more_settings_than_a_person_reads() -> None:
    assert len(known_keys()) <= 50 and not {"peers", "admission"} & set(known_keys())
    assert apply(Settings(), {"peers": "wss://a.example:1"}).peers, "what commands keep is set like a setting"


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
        ("memory_most", "1e-1", 0.1),
        ("memory_most", "2", 2.0),
        ("mix", "8/0", "8/0"),
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
        ("memory_most", "-1", "a number from 0 to 10000"),
        ("memory_most", "nan", "a number from 0 to 10000"),
        ("memory_most", "much", "a number from 0 to 10000"),
        ("silo", "maybe", "on or off"),
        ("mix", "3/5", "one of 2/6, 4/4, 6/2, 8/0"),
        ("tasks", "x" * 2001, "text on one line, at most 2000 characters"),
        ("model", "a\u202eb", "text on one line"),
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

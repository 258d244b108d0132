"""A bug report contains no personal data, but everything that helps to find the bug."""

from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.records import Check
from sapo_desktop.core.settings import Settings
from sapo_desktop.system import diagnosis
from sapo_desktop.system.diagnosis import private_words, report, save_report, scrub, shown_settings

PRIVATE = {"/home/anna": "~", "anna": "<user>", "annas-laptop": "<computer>", "/data/secret": "<data folder>"}
CHECK = Check(name="disk", state="bad", found="100 MB free for /home/anna/node.", advice="Make room, anna.")
MADE = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("cannot read /home/anna/models/x", "cannot read ~/models/x"),
        ("anna at annas-laptop, not johanna", "<user> at <computer>, not johanna"),
        ("/data/secret/history.sqlite", "<data folder>/history.sqlite"),
        ("from 192.168.1.20:8765 to 10.0.0.7", "from <address> to <address>"),
        ("to [2001:db8::1]:8765 and fe80::1%eth0.", "to <address> and <address>."),
        ("::1 said so", "<address> said so"),
        ("wss://u:pw@peer.example:8765#" + "ab" * 32, "wss://<address>"),
        ("'http://127.0.0.1:8000/v1'", "'http://<address>'"),
        ("sapo://join?swarm=5a&peer=wss://a.example:1", "<invite>"),
        ("key " + "0F" * 32 + ".", "key <key>."),
        ("came from one source (0123456789abcdef).", "came from one source (<key>)."),
        ("token hf_abcdefghijklmnop", "token <token>"),
        ("mail anna.b@mail.example now", "mail <address> now"),
        ("resolved relay.example.org:443 late", "resolved <address> late"),
        ("2026-01-02 03:04:05,678 INFO round 41", "2026-01-02 03:04:05,678 INFO round 41"),
        ("torch 2.13.0, llama-cpp-python 0.3.36", "torch 2.13.0, llama-cpp-python 0.3.36"),
        ('File "worker/node.py", line 3, in run', 'File "worker/node.py", line 3, in run'),
        ("ratio 3:4, x::y, x: y", "ratio 3:4, x::y, x: y"),
    ],
)
def test_scrubbing(text: str, scrubbed: str) -> None:
    assert scrub(text, PRIVATE) == scrubbed


def test_no_setting_that_a_person_typed_is_reported() -> None:
    typed = {
        key: "Zz9"
        for key in (*settings_file.known_keys(), *settings_file.keys_of("kept"))
        if settings_file.describe(key).text and key not in ("tasks", "model")
    }
    settings = msgspec.structs.replace(Settings(), **typed)
    shown = shown_settings(settings)
    assert "Zz9" not in str(shown) and shown["peers"] == "(set)"
    assert shown_settings(Settings())["peers"] == "(empty)"
    assert (shown["answers"], shown["tasks"], shown["mix"], shown["silo"]) == ("8", "all", "4/4", "True")
    assert shown_settings(Settings(model="/home/anna/model"))["model"] == "(set)"
    assert shown_settings(Settings(model="starter"))["model"] == "starter"


def test_a_report_has_facts_settings_and_the_end_of_the_log() -> None:
    log = [f"line {number}" for number in range(1000)]
    said = ["2026-01-02 error   The engine was killed at 10.0.0.7."]
    text = report([CHECK], {"version": "0.1.0"}, Settings(), log, PRIVATE, MADE, said=said)
    assert "\nNotices\n2026-01-02 error   The engine was killed at <address>.\n" in text
    assert text.startswith("SAPO Desktop report, 2026-01-02T03:04:05+00:00\n")
    assert "Look through this file" in text and "version: 0.1.0" in text and "\nanswers = 8\n" in text
    assert "bad      disk           100 MB free for ~/node.\n         to do:         Make room, <user>." in text
    assert "line 999" in text and f"line {999 - diagnosis.LOG_LINES}\n" not in text


def test_the_words_that_name_this_user_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnosis.getpass, "getuser", lambda: "bo")
    monkeypatch.setattr(diagnosis.platform, "node", lambda: "annas-laptop")
    words = private_words(tmp_path)
    monkeypatch.setattr(diagnosis.getpass, "getuser", lambda: "root")
    assert private_words(tmp_path) == words
    assert words == {str(tmp_path): "<data folder>", str(Path.home()): "~", "annas-laptop": "<computer>"}
    monkeypatch.setattr(diagnosis.platform, "node", lambda: "annas-laptop.home.example")
    monkeypatch.setenv("SAPO_PASSPHRASE", "correct horse")
    monkeypatch.setenv("HF_TOKEN", "my-own-token")
    said = scrub("correct horse, my-own-token, annas-laptop.home.example, annas-laptop", private_words(tmp_path))
    assert said == "<secret>, <secret>, <computer>, <computer>"


def test_what_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SapoError, match="could not be written"):
        save_report(tmp_path / "no" / "report.txt", "")


def test_what_was_typed_in_a_setting_is_found_in_the_log_too() -> None:
    settings = Settings(label="Violet", models_folder="/media/bigdisk/violets_models")
    log = [
        "Cannot read /media/bigdisk/violets_models/x: bigdisk is gone",
        "Violet shares",
        r"OSError: 'C:\\Users\\Violet Beauregarde\\sapo'",
        "The starter model answers",
    ]
    private = {r"C:\Users\Violet Beauregarde": "~"}
    text = report([], {}, settings, log, private, datetime.now(UTC))
    assert not any(word in text for word in ("Violet", "bigdisk", "violets_models", "Beauregarde"))
    assert "The starter model answers" in text and "<models_folder>/x" in text

"""A manifest names what a bit-for-bit repetition needs, and says what changed."""

import msgspec

from sapo_desktop.core.settings import Settings
from sapo_desktop.worker.store.manifest import _WITHOUT_EFFECT, RunManifest, differs
from tests.builders import run_manifest as manifest


def test_it_names_versions_and_machine() -> None:
    made = manifest()
    assert made.versions["torch"] == "2.13.0"
    assert made.versions["reasoning_gym"] == "0.1.25"
    assert {"sapo_desktop", "python", "numpy", "transformers", "peft"} <= made.versions.keys()
    assert made.processor
    assert made.cores >= 1
    assert msgspec.json.decode(msgspec.json.encode(made), type=RunManifest) == made


def test_what_changed_is_named_and_nothing_else() -> None:
    assert differs(manifest(), manifest()) == []
    changed = differs(manifest(threads=2), manifest(threads=1, torch="2.14.0", answers=4))
    assert [str(text) for text in changed] == [
        "threads: 1 instead of 2",
        "version of torch: 2.14.0 instead of 2.13.0",
        "setting answers: 4 instead of 8",
    ]
    (hashed,) = differs(manifest(), msgspec.structs.replace(manifest(), catalogue="ab" * 32))
    assert str(hashed).startswith("catalogue: abababab instead of ")
    switched = differs(manifest(), manifest(silo=False, peers="wss://a:1"))  # said as they are typed
    assert [str(text) for text in switched] == [
        "setting silo: off instead of on",
        "setting peers: wss://a:1 instead of nothing",
    ]


def test_settings_that_change_no_number_do_not_count() -> None:
    assert differs(manifest(), manifest(low_priority=False, theme="dark", text_size=150)) == []
    assert {field.name for field in msgspec.structs.fields(Settings)} >= _WITHOUT_EFFECT


def test_a_setting_that_is_gone_hides_no_change() -> None:
    before = manifest()
    old = msgspec.structs.replace(before, settings={**before.settings, "mix": "adaptive", "gone": 1})
    read = msgspec.json.decode(msgspec.json.encode(old), type=RunManifest)
    assert [str(text) for text in differs(read, before)] == ["setting mix: 4/4 instead of adaptive"]

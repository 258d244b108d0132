"""The signed manifest of a release: repeatable, accepted by the product, refused with one byte changed."""

import datetime
import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

import sapo_desktop
from sapo_desktop.core.updates.decision import Seen, judge
from sapo_desktop.core.updates.manifest import NAME, SIGNATURE_NAME, Release, read_release

ROOT = Path(__file__).resolve().parents[2]
PASSPHRASE = b"correct horse battery"
DATE = datetime.date(2026, 6, 14)
NOON = datetime.datetime(2026, 6, 14, 12, tzinfo=datetime.UTC).timestamp()


@pytest.fixture
def updates(scripts: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, for a build that believes nobody yet."""
    found = importlib.import_module("updates")
    build = tmp_path / "updates.toml"
    build.write_text('address = ""\nkeys = []   # two\n')
    monkeypatch.setattr(found, "BUILD", build)
    return found


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    for name in ("b_1_amd64.deb", "a-setup.exe", "c-1.whl", "SHA256SUMS"):
        (folder / name).write_text(name)
    return folder


@pytest.fixture
def key_file(tmp_path: Path, updates: ModuleType) -> Path:
    updates.make_key(tmp_path / "first.pem", PASSPHRASE)
    return tmp_path / "first.pem"


def signed(updates: ModuleType, out: Path, key_file: Path, number: int = 1) -> tuple[bytes, bytes, Release]:
    key = updates.open_key(key_file, PASSPHRASE)
    updates.sign(out, key, number, "0.0.1", DATE)
    release = Release(keys=[updates.public(key)])
    return (out / NAME).read_bytes(), (out / SIGNATURE_NAME).read_bytes(), release


def test_it_is_made_alike_twice_and_taken(updates: ModuleType, out: Path, key_file: Path) -> None:
    document, signature, release = signed(updates, out, key_file)
    assert signed(updates, out, key_file) == (document, signature, release)
    found, _ = judge(document, signature, release, "0.0.9", NOON, Seen())
    assert found.state == "newer" and found.version == sapo_desktop.__version__
    assert [(file.name, file.system, file.bytes) for file in found.files] == [
        ("a-setup.exe", "windows", 11),
        ("b_1_amd64.deb", "linux", 13),
        ("c-1.whl", "any", 7),
    ]
    assert len(found.changelog) > 100 and not any(mark in found.changelog for mark in ("**", "](", "\n## "))


def test_one_byte_more_or_less_is_refused(updates: ModuleType, out: Path, key_file: Path) -> None:
    document, signature, release = signed(updates, out, key_file)
    for at in range(0, len(document), max(1, len(document) // 50)):
        other = document[:at] + bytes([document[at] ^ 1]) + document[at + 1 :]
        assert judge(other, signature, release, "0.0.9", NOON, Seen())[0].state == "refused"
    other_signature = (b"1" if signature[:1] != b"1" else b"2") + signature[1:]
    for changed, by in ((document + b" ", signature), (document, other_signature), (document, signature[:-2])):
        assert judge(changed, by, release, "0.0.9", NOON, Seen())[0].state == "refused"


def test_the_second_key_takes_the_firsts_place(updates: ModuleType, out: Path, key_file: Path, tmp_path: Path) -> None:
    second = updates.make_key(tmp_path / "second.pem", PASSPHRASE)
    document, signature, release = signed(updates, out, key_file)
    updates.pin([*release.keys, second])
    pinned = read_release(updates.BUILD)
    assert pinned.keys == [*release.keys, second]
    _, seen = judge(document, signature, pinned, "0.0.9", NOON, Seen())
    later, by_second, _ = signed(updates, out, tmp_path / "second.pem", number=2)
    found, seen = judge(later, by_second, pinned, "0.0.9", NOON, seen)
    assert found.state == "newer"
    third, by_first, _ = signed(updates, out, key_file, number=3)
    assert judge(third, by_first, pinned, "0.0.9", NOON, seen)[0].state == "refused"
    for keys in ([second, second], ["odd", second]):
        with pytest.raises(SystemExit):
            updates.pin(keys)
    assert read_release(updates.BUILD) == pinned


def test_a_key_that_no_build_believes_signs_nothing(updates: ModuleType, out: Path, key_file: Path) -> None:
    updates.pin(["a" * 64, "b" * 64])
    with pytest.raises(SystemExit, match="No build of this commit trusts"):
        signed(updates, out, key_file)
    assert not (out / NAME).exists()


def test_what_is_wrong_with_a_key_is_said(updates: ModuleType, key_file: Path, tmp_path: Path) -> None:
    assert b"ENCRYPTED PRIVATE KEY" in key_file.read_bytes() and key_file.stat().st_mode & 0o077 == 0
    (tmp_path / "odd").write_text("odd")
    for path, words in ((key_file, b"another passphrase"), (tmp_path / "odd", PASSPHRASE), (tmp_path / "no", b"x")):
        with pytest.raises(SystemExit, match="could not be opened"):
            updates.open_key(path, words)
    with pytest.raises(SystemExit, match="could not be made"):
        updates.make_key(key_file, PASSPHRASE)
    with pytest.raises(SystemExit, match="is in the repository"):
        updates.make_key(ROOT / "first.pem", PASSPHRASE)
    with pytest.raises(SystemExit, match="needs 12 characters"):
        updates.make_key(tmp_path / "short.pem", b"short")


def test_a_manifest_that_would_do_harm_is_not_made(updates: ModuleType, out: Path, key_file: Path) -> None:
    key = updates.open_key(key_file, PASSPHRASE)
    for number, least, days in ((0, "0.0.1", 9), (1, "99.0", 9), (1, "odd", 9), (1, "0.0.1", -1)):
        with pytest.raises(SystemExit, match="would refuse it"):
            updates.sign(out, key, number, least, DATE, days)
    with pytest.raises(SystemExit, match="nothing of 9"):
        updates.changes("## 9.0.1\nx\n## 1.0\n", "9.0")
    assert updates.changes("## 9.0.1\nx\n\n## 9.0 (of today)\n\ny\n## 8\n", "9.0") == "y\n"
    assert (
        updates.changes("## 9.0\n**a** ([x](y.md)): b\nc `d`\n\n### e\n\n- **f**:\n  g\n- h\n", "9.0")
        == "a (x): b c `d`\n\ne\n\n- f: g\n- h\n"
    )
    for path in out.iterdir():
        path.unlink()
    with pytest.raises(SystemExit, match="nothing in"):
        updates.sign(out, key, 1, "0.0.1", DATE)


def test_the_commands(
    updates: ModuleType, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["updates.py", *words])
        updates.main()
        return capsys.readouterr().out.strip()

    monkeypatch.setenv("SAPO_RELEASE_PASSPHRASE", PASSPHRASE.decode())
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1781438400")  # 2026-06-14
    first, second = run("key", str(tmp_path / "1.pem")), run("key", str(tmp_path / "2.pem"))
    run("pin", first, second)
    said = run(
        "sign", str(out), "--key", str(tmp_path / "2.pem"), "--number", "3", "--least", "0.0.1", "--days", "36500"
    )
    assert said == f"updates.json number 3: {sapo_desktop.__version__}, 3 files, valid until 2126-05-21"
    found, _ = judge(
        (out / NAME).read_bytes(),
        (out / SIGNATURE_NAME).read_bytes(),
        read_release(updates.BUILD),
        "0.0.9",
        NOON,
        Seen(),
    )
    assert found.state == "newer"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    with pytest.raises(SystemExit, match="has expired already"):
        run("sign", str(out), "--key", str(tmp_path / "2.pem"), "--number", "4", "--least", "0.0.1")

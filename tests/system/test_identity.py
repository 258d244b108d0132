"""The identity in a keyring, behind a passphrase, or for one session.

With a real keyring service: test_secret_service.py.
"""

from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked
from nacl import pwhash

from sapo_desktop.core.errors import IdentityError, PassphraseNeeded
from sapo_desktop.system import identity
from sapo_desktop.system.identity import Keeper, seal, unseal
from sapo_desktop.system.secrets import system_keyring

PASSPHRASE = "correct horse"
LOCKED = [KeyringLocked("locked"), OSError(1312, "A specified logon session does not exist")]
"""What keyrings raise, and what Windows' does over SSH, where there is none."""


class Memory(KeyringBackend):
    """A keyring that takes what it is given, and may be locked."""

    priority = 1.0  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}
        self.locked: Exception | None = None

    def get_password(self, service: str, username: str) -> str | None:
        if self.locked:
            raise self.locked
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


def in_memory(monkeypatch: pytest.MonkeyPatch) -> Memory:
    """A keyring in memory, taken for a good one; and cheap hashing."""
    ring = Memory()
    monkeypatch.setattr(keyring, "get_keyring", lambda: ring)
    monkeypatch.setattr(system_keyring, "SEALED", (*system_keyring.SEALED, __name__))
    monkeypatch.setattr(identity, "_OPERATIONS", pwhash.argon2id.OPSLIMIT_MIN)
    monkeypatch.setattr(identity, "_MEMORY", pwhash.argon2id.MEMLIMIT_MIN)
    return ring


memory = pytest.fixture(in_memory, autouse=True)


def keeper(folder: Path, node: str = "node") -> Keeper:
    return Keeper(node, folder / "identity")


def test_it_is_kept_in_the_keyring_under_the_folders_name(tmp_path: Path) -> None:
    assert keeper(tmp_path).load() is None
    made = keeper(tmp_path).create()
    assert made.where == "keyring" and keeper(tmp_path).load() == made
    assert keeper(tmp_path, "another node").load() is None
    assert list(tmp_path.iterdir()) == []


def test_two_secrets_of_one_folder_are_kept_apart(tmp_path: Path, memory: Memory) -> None:
    other = Keeper("node", tmp_path / "admission-key", "admission key")
    mine, founded = keeper(tmp_path).create(), other.create()
    assert (keeper(tmp_path).load(), other.load()) == (mine, founded) and mine.seed != founded.seed
    keeper(tmp_path).create(PASSPHRASE)
    assert other.load() == founded
    memory.kept["sapo-desktop", "node admission key"] = "hello"
    with pytest.raises(IdentityError, match="is not a valid admission key"):
        other.load()
    other.create(PASSPHRASE)
    with pytest.raises(PassphraseNeeded, match="The admission key in "):
        other.load()


def test_a_keyring_that_keeps_plain_text_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_keyring, "SEALED", ("keyring.backends.SecretService",))
    made = keeper(tmp_path).create()
    assert made.where == "session" and keeper(tmp_path).load() is None
    assert list(tmp_path.iterdir()) == [], "never silently in the open"


def test_behind_a_passphrase_it_is_in_a_file_and_nowhere_else(tmp_path: Path, memory: Memory) -> None:
    keeper(tmp_path).create()
    made = keeper(tmp_path).create(PASSPHRASE)
    assert made.where == "file" and memory.kept == {}
    assert made.seed not in (tmp_path / "identity").read_bytes()
    assert keeper(tmp_path).needs_passphrase
    assert keeper(tmp_path).load(PASSPHRASE) == made


@pytest.mark.parametrize(
    ("given", "complaint"), [(None, "Enter its passphrase"), ("wrong horse", "passphrase is wrong")]
)
def test_without_the_passphrase_the_file_stays_closed(tmp_path: Path, given: str | None, complaint: str) -> None:
    keeper(tmp_path).create(PASSPHRASE)
    with pytest.raises(IdentityError, match=complaint):
        keeper(tmp_path).load(given)


def test_a_short_passphrase_is_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    before = keeper(tmp_path).create()
    with pytest.raises(IdentityError, match="8 characters"):
        keeper(tmp_path).create("short")
    assert keeper(tmp_path).load() == before


@pytest.mark.parametrize("error", LOCKED)
def test_a_locked_keyring_is_said(tmp_path: Path, memory: Memory, error: Exception) -> None:
    keeper(tmp_path).create()
    memory.locked = error
    with pytest.raises(IdentityError, match="Unlock it"):
        keeper(tmp_path).load()


def test_what_is_no_seed_is_not_used(tmp_path: Path, memory: Memory) -> None:
    memory.kept["sapo-desktop", "node"] = "hello"
    with pytest.raises(IdentityError, match="not a valid identity"):
        keeper(tmp_path).load()


def test_a_damaged_file_is_said() -> None:
    for content in (b"", b"rubbish", b"\x80", b"\x81\xa1\xff\1", b"\x81\xa1a" * 2000, seal(bytes(32), PASSPHRASE)[:-1]):
        with pytest.raises(IdentityError, match="damaged"):
            unseal(content, PASSPHRASE)


def test_another_key_takes_the_place_of_the_one_before_wherever_it_was(tmp_path: Path, memory: Memory) -> None:
    keeper(tmp_path).create()
    keeper(tmp_path).create(PASSPHRASE)
    assert memory.kept == {} and keeper(tmp_path).needs_passphrase
    keeper(tmp_path).create()
    assert not keeper(tmp_path).needs_passphrase


def test_a_seed_is_not_shown(tmp_path: Path) -> None:
    made = keeper(tmp_path).create()
    assert made.seed.hex() not in repr(made) and str(made.seed) not in str(made)

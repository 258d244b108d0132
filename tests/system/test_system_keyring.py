"""A keyring that does not answer, or waits for its password, holds nobody up."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest

from sapo_desktop.core.errors import IdentityError, KeyringClosed
from sapo_desktop.system.identity import Keeper
from sapo_desktop.system.secrets import system_keyring
from sapo_desktop.system.secrets.kept_secrets import hub_token
from tests.system.test_identity import PASSPHRASE, Memory, in_memory

TOKEN = "hf_abcdefgh"


class Asking(Memory):
    """Waits until somebody answers its question."""

    def __init__(self) -> None:
        super().__init__()
        self.answered = threading.Event()
        self.asked = 0

    def get_password(self, service: str, username: str) -> str | None:
        self.asked += 1
        assert self.answered.wait(30)
        return super().get_password(service, username)


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch) -> Iterator[Asking]:
    in_memory(monkeypatch)
    asking = Asking()
    monkeypatch.setattr(keyring, "get_keyring", lambda: asking)
    monkeypatch.setattr(system_keyring, "SEALED", (__name__,))
    monkeypatch.setattr(system_keyring, "SECONDS", 0.5)
    monkeypatch.setattr(system_keyring, "_LINE", system_keyring._Line())
    monkeypatch.delenv("HF_TOKEN", raising=False)
    yield asking
    asking.answered.set()


def test_every_call_ends_and_says_what_to_do(tmp_path: Path, ring: Asking) -> None:
    began = time.monotonic()
    with pytest.raises(KeyringClosed, match=r"waits for its password.*identity protect"):
        Keeper("node", tmp_path / "identity").load()
    for ask in (lambda: hub_token.keep("https://hub.example", TOKEN), lambda: hub_token.forget("https://hub.example")):
        with pytest.raises(IdentityError, match=r"waits for its password.*HF_TOKEN"):
            ask()
    assert time.monotonic() - began < 10
    assert ring.asked == 1, "no second question is put while the first one is on the screen"


def test_once_its_question_is_answered_it_is_open_and_nothing_was_kept_behind_anybodys_back(ring: Asking) -> None:
    with pytest.raises(KeyringClosed):
        hub_token.keep("https://hub.example", TOKEN)
    late = system_keyring.late_call()
    assert late is not None
    ring.answered.set()
    assert late.result(10) is None and system_keyring.late_call() is None
    assert ring.kept == {}
    hub_token.keep("https://hub.example", TOKEN)
    assert hub_token.load("https://hub.example") == TOKEN


def test_a_file_behind_a_passphrase_takes_the_place_of_a_keyring_that_stays_closed(
    tmp_path: Path, ring: Asking
) -> None:
    keeper = Keeper("node", tmp_path / "identity")
    made = keeper.create(PASSPHRASE)
    assert made.where == "file" and keeper.load(PASSPHRASE) == made


def test_services_that_do_not_answer_are_waited_for_as_long(ring: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring, "get_keyring", lambda: ring.answered.wait(30))
    with pytest.raises(KeyringClosed, match="does not answer"):
        hub_token.load("https://hub.example")

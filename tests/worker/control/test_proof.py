"""The mutual proof without sockets: only a side that knows the secret passes."""

import hashlib
import hmac
from pathlib import Path

import msgspec
import pytest

from sapo_desktop.core.errors import NotRunning
from sapo_desktop.system.folders import DataFolder, FolderError
from sapo_desktop.worker.control.proof import (
    FILE,
    ClientProof,
    ClientSide,
    Greeting,
    WorkerSide,
    read_control_file,
    remove_control_file,
    write_control_file,
)

SECRET = b"s" * 32


def test_proofs_are_hmac_sha256_over_role_and_both_nonces() -> None:
    client, worker = ClientSide(SECRET), WorkerSide(SECRET)
    greeting = client.greet()
    shown = worker.prove(greeting)
    nonces = greeting.nonce + shown.nonce
    expected = hmac.new(SECRET, b"sapo-desktop control worker v1\0" + nonces, hashlib.sha256).digest()
    assert shown.proof == expected
    expected = hmac.new(SECRET, b"sapo-desktop control client v1\0" + nonces, hashlib.sha256).digest()
    assert client.prove(shown).proof == expected


def test_neither_proof_works_twice_or_for_the_other_side() -> None:
    client, worker = ClientSide(SECRET), WorkerSide(SECRET)
    shown = worker.prove(client.greet())
    answer = client.prove(shown)
    assert not worker.accepts(ClientProof(shown.proof))
    assert not WorkerSide(SECRET).accepts(answer), "no nonces were exchanged"
    worker.prove(client.greet())
    assert not worker.accepts(answer), "an old proof against a fresh nonce"


@pytest.mark.parametrize("length", [0, 31, 33])
def test_nonces_have_one_length(length: int) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.msgpack.decode(msgspec.msgpack.encode(Greeting(b"x" * length)), type=Greeting)


def test_the_file_is_written_read_and_removed(tmp_path: Path) -> None:
    control = DataFolder.open(tmp_path).control
    with pytest.raises(NotRunning):
        read_control_file(control)
    first = write_control_file(control, 1234)
    assert read_control_file(control) == first and first.port == 1234
    second = write_control_file(control, 1235)
    assert second.secret != first.secret
    remove_control_file(control, first)
    assert read_control_file(control) == second, "a later worker's file is not ours to remove"
    remove_control_file(control, second)
    assert not (control / FILE).exists()


def test_a_folder_that_cannot_hold_it_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    control = DataFolder.open(tmp_path).control

    def full(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sapo_desktop.worker.control.proof.write_private", full)
    with pytest.raises(FolderError, match="is full"):
        write_control_file(control, 1)

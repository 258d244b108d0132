"""How both ends of the control channel prove that they know one secret, without sending it.

The worker writes port and secret into a file that only its user can read. On a connection, each side sends a fresh
nonce and HMAC-SHA256(secret, role, client's nonce, worker's nonce). The worker proves itself first, so a stranger on
the port of a dead worker learns nothing that another worker would accept. The roles prevent returning one side's proof
as the other's, and the nonces prevent replays. No sockets here.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path
from typing import Annotated

import msgspec

from sapo_desktop.core.errors import ControlError, NotRunning
from sapo_desktop.core.files.reading import UnfitFile, read_json
from sapo_desktop.core.sentences import sentence
from sapo_desktop.system.folders import check_private, explained, write_private

FILE = "channel.json"
NONCE_BYTES = 32
_CLIENT = b"sapo-desktop control client v1\0"
_WORKER = b"sapo-desktop control worker v1\0"

Nonce = Annotated[bytes, msgspec.Meta(min_length=NONCE_BYTES, max_length=NONCE_BYTES)]
Proof = Annotated[bytes, msgspec.Meta(min_length=32, max_length=32)]


class ControlFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The worker's port, and the secret that it shares with everybody who may read this."""

    port: Annotated[int, msgspec.Meta(ge=1, le=65535)]
    secret: Nonce
    pid: int


class Greeting(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """The client's first message."""

    nonce: Nonce


class WorkerProof(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    nonce: Nonce
    proof: Proof


class ClientProof(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    proof: Proof


class Attach(msgspec.Struct, frozen=True, kw_only=True, tag=True, forbid_unknown_fields=True):
    """A client's first message after the proof. An `owner` is the window or terminal that started the worker. With
    `stay`, a worker that runs for a single command then stays, in its previous mode."""

    owner: bool = False
    events: bool = True
    stay: bool = False


class WorkerSide:
    """The worker's half of one connection."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._nonces = b""

    def prove(self, greeting: Greeting) -> WorkerProof:
        nonce = secrets.token_bytes(NONCE_BYTES)
        self._nonces = greeting.nonce + nonce
        return WorkerProof(nonce, _proof(self._secret, _WORKER, self._nonces))

    def accepts(self, answer: ClientProof) -> bool:
        return hmac.compare_digest(answer.proof, _proof(self._secret, _CLIENT, self._nonces))


class ClientSide:
    """The client's half of one connection."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._nonce = secrets.token_bytes(NONCE_BYTES)

    def greet(self) -> Greeting:
        return Greeting(self._nonce)

    def prove(self, worker: WorkerProof) -> ClientProof:
        """Check the worker and only then answer.

        Raises:
            ControlError: the listener does not know the secret.
        """
        nonces = self._nonce + worker.nonce
        if not hmac.compare_digest(worker.proof, _proof(self._secret, _WORKER, nonces)):
            raise ControlError(
                sentence(
                    "The program at the worker's port is not the worker: it does not know the secret. The worker "
                    "has probably stopped, and another program uses its port. Start the worker again."
                )
            )
        return ClientProof(_proof(self._secret, _CLIENT, nonces))


def write_control_file(folder: Path, port: int) -> ControlFile:
    """Draw a secret and write it with the port, replacing an old file.

    Raises:
        FolderError: others could read it, or it cannot be written.
    """
    check_private(folder)
    content = ControlFile(port=port, secret=secrets.token_bytes(NONCE_BYTES), pid=os.getpid())
    try:
        write_private(folder / FILE, msgspec.json.encode(content))
    except OSError as error:
        raise explained(error, folder.parent) from error
    return content


def read_control_file(folder: Path) -> ControlFile:
    """Port and secret of the worker that uses this folder.

    Raises:
        NotRunning: there is no file.
        FolderError: others could have written it.
        ControlError: it is damaged.
    """
    try:
        check_private(folder)
        return read_json(folder / FILE, ControlFile)
    except FileNotFoundError as error:
        raise NotRunning(
            "No node is running in {folder}.", in_terminal="sapo-desktop run --data {folder}", folder=str(folder.parent)
        ) from error
    except (msgspec.DecodeError, UnfitFile) as error:
        raise ControlError(
            "{path} is damaged ({error}). End the worker and start it again.", path=str(folder / FILE), error=str(error)
        ) from error


def remove_control_file(folder: Path, content: ControlFile) -> None:
    """Remove the file at exit, unless another worker has replaced it."""
    try:
        if read_control_file(folder) == content:
            (folder / FILE).unlink(missing_ok=True)
    except (NotRunning, ControlError):
        return


def _proof(secret: bytes, role: bytes, nonces: bytes) -> bytes:
    return hmac.new(secret, role + nonces, hashlib.sha256).digest()

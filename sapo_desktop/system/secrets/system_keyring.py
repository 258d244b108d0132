"""The system's keyring, which may wait for its password: each call has a time limit.

An abandoned call continues, because the system may be showing its question. Until that is answered, no other call
starts, which would only ask again.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import TypeVar

import keyring
from keyring.backend import KeyringBackend

from sapo_desktop.core.errors import KeyringClosed
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.system.bounded import begun

SERVICE = "sapo-desktop"
SECONDS = 8.0
SEALED = (
    "keyring.backends.SecretService",
    "keyring.backends.libsecret",
    "keyring.backends.kwallet",
    "keyring.backends.macOS",
    "keyring.backends.Windows",
)
"""Backends that protect secrets with the user's login. Others, including plain-text ones, are not used."""
WAITS = sentence("it does not answer, or waits for its password")
Answer = TypeVar("Answer")


class _Line:
    """One call at a time."""

    def __init__(self) -> None:
        self._one = threading.Lock()
        self.late: Future[object] | None = None
        """The abandoned call, until it ends."""

    def call(self, work: Callable[[], Answer]) -> Answer:
        with self._one:
            if self.late is not None and not self.late.done():
                raise TimeoutError
            call: Future[Answer] = begun(work)
            try:
                return call.result(SECONDS)
            except TimeoutError:
                self.late = call  # type: ignore[assignment]  # whatever it answers
                raise


_LINE = _Line()


class SystemKeyring:
    """Secrets by name. Each call may raise KeyringClosed, after a few seconds at most.

    Args:
        advice: what to do if it stays locked, in one or two sentences.
    """

    def __init__(self, backend: KeyringBackend, advice: Text) -> None:
        self._backend, self._advice = backend, advice

    @property
    def name(self) -> str:
        """The kind of keyring."""
        return type(self._backend).__module__.rpartition(".")[2]

    def load(self, user: str) -> str | None:
        """The secret of that name; None where there is none."""
        with _explained(self._advice):
            return _LINE.call(lambda: self._backend.get_password(SERVICE, user))

    def keep(self, user: str, secret: str) -> None:
        """Store it under that name, once the keyring is known to be open: an abandoned call must not store it later."""
        self.load(user)
        with _explained(self._advice):
            _LINE.call(lambda: self._backend.set_password(SERVICE, user, secret))

    def forget(self, user: str) -> bool:
        """Delete it; False if there was none."""
        if self.load(user) is None:
            return False
        with _explained(self._advice):
            _LINE.call(lambda: self._backend.delete_password(SERVICE, user))
        return True


def opened(advice: Text) -> SystemKeyring | None:
    """The system's keyring if it encrypts its secrets. `advice`: see SystemKeyring.

    Raises:
        KeyringClosed: the possible services do not answer.
    """
    with _explained(advice):
        chosen = _LINE.call(keyring.get_keyring)
    candidates = getattr(chosen, "backends", [chosen])  # the chainer tries several
    backend = next((one for one in candidates if type(one).__module__ in SEALED), None)
    return None if backend is None else SystemKeyring(backend, advice)


def late_call() -> Future[object] | None:
    """The call that the keyring has not answered yet; it ends when the person answers the keyring's question."""
    return None if _LINE.late is None or _LINE.late.done() else _LINE.late


@contextlib.contextmanager
def _explained(advice: Text) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # not always a KeyringError: over SSH, Windows' backend raises other errors
        said = WAITS if isinstance(error, TimeoutError) else str(error).rstrip(".!") or type(error).__name__
        raise KeyringClosed("The keyring is locked: {reason}. {advice}", reason=said, advice=advice) from error

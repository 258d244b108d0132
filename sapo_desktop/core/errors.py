"""The tree of errors.

SapoError                      anything we can explain; `str(error)` says what happened and what to do
├── UsageError                 the command or a setting is wrong                        (exit code 2)
│   ├── ContextFull            the question leaves the model no room for an answer
│   └── NoEnginePack           what the settings need is not installed yet
├── SettingsError              a settings file or value cannot be used                  (exit code 2)
├── FolderInUse                another worker has this data folder
├── NotRunning                 no worker answers for this data folder
├── ControlError               the control channel broke or the other side is not ours
├── HostError                  a host process (examiner, engine) failed
│   ├── HostDied               it ended without answering
│   ├── HostTimeout            it did not answer in time and was killed
│   ├── HostCancelled          we ended its work on purpose
│   ├── RemoteError            a server elsewhere cannot be reached, or says no
│   │   └── Refused            it answered so (engines/remote/http.py)
│   ├── AdapterRefused         a server elsewhere takes no adapter; it can still answer
│   └── OutOfMemory            it ran out of memory; less work may fit
│       └── TooBig             not even the least work fits; a smaller model may
├── IdentityError                 a secret key cannot be read, opened or kept
│   ├── KeyringClosed          the system's keyring does not open, or does not answer
│   └── PassphraseNeeded       it is, or can only be, behind a passphrase that was not given
├── ModelError                 a model folder is missing, damaged or of a kind we cannot use
│   └── EndlessTemplate        its chat template is not done in time
├── DownloadError              a model could not be downloaded
│   ├── AccessRefused          the hub wants an account, a licence or another token
│   └── NoRoom                 the disk has too little room
├── InSilo                     it would need the network, and the node is in silo
├── TaskError                  a task, level or catalogue entry does not exist or is not well formed
├── CheckpointError            a checkpoint is missing or damaged
│   └── NotWritten             it, or an adapter, cannot be written now
└── HistoryError               the history database cannot be used
    ├── HistoryDamaged         it cannot be read; the next start sets it aside
    └── HistoryUnavailable     not now; it is whole

Anything else that rises is a bug and is shown as one, with its traceback in the log.
"""

from __future__ import annotations

from sapo_desktop.core import sentences
from sapo_desktop.core.sentences import Text, Value, sentence

_ENDLESS = sentence(
    "The model's chat template takes too much time or memory. No useful model does that. Choose another one."
)


class Explained(Exception):
    """An exception with an explanation for a person: a text, or a template and its values (core/sentences.py)."""

    def __init__(self, text: Text = "", *, in_terminal: str = "", **values: Value) -> None:
        if isinstance(text, str) and (in_terminal or values):
            text = sentences.sentence(text, in_terminal=in_terminal, **values)
        super().__init__(text)

    @property
    def text(self) -> Text:
        """The explanation as it was raised; `str` of the error is its English."""
        said: Text = self.args[0]
        return said


class SapoError(Explained):
    """Base of every error that explains itself to its reader."""

    exit_code = 1


class UsageError(SapoError):
    """The command or its arguments are wrong."""

    exit_code = 2


class ContextFull(UsageError):
    """The question leaves the model no room for an answer."""


class NoEnginePack(UsageError):
    """The settings need PyTorch, and the engine pack is not installed yet."""


class SettingsError(SapoError):
    """A settings file or a value in it cannot be used."""

    exit_code = 2


class FolderInUse(SapoError):
    """Another worker already runs on this data folder."""


class NotRunning(SapoError):
    """No worker answers for this data folder."""


class ControlError(SapoError):
    """The control channel broke, or the other side did not prove its identity."""


class HostError(SapoError):
    """A host process failed; it can be restarted."""


class HostDied(HostError):
    """A host process ended without answering.

    Args:
        killed: by SIGKILL. The system does this when memory runs out, and others can do it at any time.
        counted: the system counted the process among those that it killed for their memory.
    """

    def __init__(
        self, text: Text, *, killed: bool = False, counted: bool = False, in_terminal: str = "", **values: Value
    ) -> None:
        super().__init__(text, in_terminal=in_terminal, **values)
        self.killed, self.counted = killed, counted


class HostTimeout(HostError):
    """A host process did not answer in time and was killed."""


class HostCancelled(HostError):
    """A host process was stopped on purpose (cancel, pause, quit)."""


class RemoteError(HostError):
    """A remote server cannot be reached or refuses: it needs a fix, or a setting must change."""


class AdapterRefused(HostError):
    """A remote server accepts no adapter, so it cannot use what was learned. It can still answer."""


class OutOfMemory(HostError):
    """A host process ran out of memory; a smaller batch may fit."""


class TooBig(OutOfMemory):
    """A model does not fit into the free memory, even with the smallest batch."""


class IdentityError(SapoError):
    """A secret key of this node cannot be read, opened or stored."""


class KeyringClosed(IdentityError):
    """The system's keyring does not open or does not respond."""


class PassphraseNeeded(IdentityError):
    """A secret key is in a file that needs a passphrase, or can only be stored in one, and no passphrase was given."""


class ModelError(SapoError):
    """A model folder is missing, damaged, or of an unsupported kind."""


class EndlessTemplate(ModelError):
    """A model's chat template does not finish in time."""

    def __init__(self, text: Text = _ENDLESS) -> None:
        super().__init__(text)


class CardUnusable(ModelError):
    """There is a graphics card, but it cannot compute."""


class DownloadError(SapoError):
    """A model could not be downloaded; complete files are kept."""


class AccessRefused(DownloadError):
    """The hub refuses access: it wants an account, an accepted licence, or another token."""


class NoRoom(DownloadError):
    """The disk of the models folder has too little space, reserve included."""


class InSilo(SapoError):
    """The request needs the network, and this node is in silo."""


class TaskError(SapoError):
    """A task, level or catalogue entry does not exist or is malformed."""


class CheckpointError(SapoError):
    """A checkpoint is missing or damaged."""


class NotWritten(CheckpointError):
    """A checkpoint or adapter cannot be written now: the disk is full or read-only. Existing data is intact."""


class HistoryError(SapoError):
    """The history database cannot be used."""


class HistoryDamaged(HistoryError):
    """The database cannot be read; the next start sets it aside and creates a new one."""


class HistoryUnavailable(HistoryError):
    """The database cannot be used now: the disk is full or read-only, or another program holds the file. It is
    intact."""


def bug(what: Text) -> Text:
    """The message for an error without an explanation. `what`: its class and text."""
    return sentence(
        "The worker hit an internal error ({what}). Please report it, with the diagnostics file.",
        in_terminal="sapo-desktop doctor --report FILE",
        what=what,
    )


def error_class(name: str) -> type[SapoError]:
    """The class of that name in this tree, otherwise SapoError. It preserves an error's kind between processes."""
    known = [SapoError]
    for kind in known:
        if kind.__name__ == name:
            return kind
        known.extend(kind.__subclasses__())
    return SapoError

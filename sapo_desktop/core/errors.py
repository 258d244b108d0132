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
    """An exception with words for a person: a text, or with values the template of a sentence (core/sentences.py)."""

    def __init__(self, text: Text = "", *, in_terminal: str = "", **values: Value) -> None:
        if isinstance(text, str) and (in_terminal or values):
            text = sentences.sentence(text, in_terminal=in_terminal, **values)
        super().__init__(text)

    @property
    def text(self) -> Text:
        """The explanation as it was raised: `str` of the error is its English."""
        said: Text = self.args[0]
        return said


class SapoError(Explained):
    """Base of every error that has an explanation for its reader."""

    exit_code = 1


class UsageError(SapoError):
    """The command or its arguments are wrong."""

    exit_code = 2


class ContextFull(UsageError):
    """What is asked leaves the model no room for an answer."""


class NoEnginePack(UsageError):
    """The settings need what learns, and it is not installed here yet."""


class SettingsError(SapoError):
    """A settings file or a value in it cannot be used."""

    exit_code = 2


class FolderInUse(SapoError):
    """Another worker already runs on this data folder."""


class NotRunning(SapoError):
    """No worker answers for this data folder."""


class ControlError(SapoError):
    """The control channel broke, or its other side did not prove who it is."""


class HostError(SapoError):
    """A host process failed at its work; it can be started again."""


class HostDied(HostError):
    """A host process ended without answering. `killed`: by SIGKILL, as the system does when memory runs out, and
    others do at will. `counted`: the system counted it among those that it ended for their memory."""

    def __init__(
        self, text: Text, *, killed: bool = False, counted: bool = False, in_terminal: str = "", **values: Value
    ) -> None:
        super().__init__(text, in_terminal=in_terminal, **values)
        self.killed, self.counted = killed, counted


class HostTimeout(HostError):
    """A host process did not answer in time and was killed."""


class HostCancelled(HostError):
    """A host process's work was ended on purpose (cancel, pause, quit)."""


class RemoteError(HostError):
    """A server elsewhere cannot be reached, or says no: it has to be mended, or a setting changed."""


class AdapterRefused(HostError):
    """A server elsewhere takes no adapter, so nothing that is learned gets there; it can still answer."""


class OutOfMemory(HostError):
    """A host process ran out of memory; a smaller batch may fit."""


class TooBig(OutOfMemory):
    """A model does not fit into the free memory, however little is done at once."""


class IdentityError(SapoError):
    """A secret key of this node cannot be read, opened or kept."""


class KeyringClosed(IdentityError):
    """The system's keyring does not open, or does not answer."""


class PassphraseNeeded(IdentityError):
    """A secret key is in a file, or can only be kept in one, that a passphrase closes; none was given."""


class ModelError(SapoError):
    """A model folder is missing, damaged, or of a kind that cannot be used."""


class EndlessTemplate(ModelError):
    """A model's chat template is not done in time."""

    def __init__(self, text: Text = _ENDLESS) -> None:
        super().__init__(text)


class CardUnusable(ModelError):
    """There is a graphics card, and nothing can be computed on it."""


class DownloadError(SapoError):
    """A model could not be downloaded; complete files are kept."""


class AccessRefused(DownloadError):
    """The hub refuses who we are: it wants an account, the licence accepted, or another token."""


class NoRoom(DownloadError):
    """The disk of the models folder has too little room, reserve included."""


class InSilo(SapoError):
    """What was asked needs the network, and this node is in silo."""


class TaskError(SapoError):
    """A task, level or catalogue entry does not exist or is not well formed."""


class CheckpointError(SapoError):
    """A checkpoint is missing or damaged."""


class NotWritten(CheckpointError):
    """What was learned cannot be written now: the disk is full, or may not be written. What is there is whole."""


class HistoryError(SapoError):
    """The history database cannot be used."""


class HistoryDamaged(HistoryError):
    """What was written cannot be read; the next start sets it aside and begins anew."""


class HistoryUnavailable(HistoryError):
    """Not now: the disk is full or may not be written, or another program holds the file. It is whole."""


def bug(what: Text) -> Text:
    """What is said of an error that nobody explained. `what`: its class and text."""
    return sentence(
        "The worker hit an internal error ({what}). Please report it, with the diagnostics file.",
        in_terminal="sapo-desktop doctor --report FILE",
        what=what,
    )


def error_class(name: str) -> type[SapoError]:
    """The class of that name in this tree, SapoError for others: how an error keeps its kind between
    processes."""
    known = [SapoError]
    for kind in known:
        if kind.__name__ == name:
            return kind
        known.extend(kind.__subclasses__())
    return SapoError

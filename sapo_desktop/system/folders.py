"""The data folder: everything that belongs to one node, and who may access it.

    settings.toml  history.sqlite  node-id  worker.lock  checkpoints/  logs/  cache/  control/  tasks/

`control/` holds the secrets and is accessible to its owner only. This is enforced when the folder is opened, and
checked again before a secret is read. The data folder itself keeps its mode, because it may be any folder of the
user's. Windows has no modes: there the access list of `control/` is replaced by one with only the user (written from
documentation, not run yet).
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import platformdirs

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.files.durable import sync_folder
from sapo_desktop.core.files.reading import UnfitFile, read_bytes
from sapo_desktop.system import windows_programs

PRIVATE = 0o700
SECRET_BYTES = 32
LONGEST_SECRET = 4096
PORTABLE = Path(__file__).resolve().parents[2] / "sapo-data"


class FolderError(SapoError):
    """The data folder cannot be used as it is."""


class DataFolder(msgspec.Struct, frozen=True):
    """One node's folder. `open` creates it; the record alone does not mean that it exists."""

    root: Path

    @classmethod
    def default(cls) -> Path:
        """This user's default folder: `sapo-data` next to the program if that folder exists (portable use)."""
        return PORTABLE if PORTABLE.is_dir() else Path(platformdirs.user_data_dir("sapo-desktop", appauthor=False))

    @classmethod
    def at(cls, root: Path | None) -> DataFolder:
        """The folder at a path (None: this user's default), without accessing the disk."""
        return cls((root or cls.default()).expanduser().absolute())

    @classmethod
    def open(cls, root: Path | None = None) -> DataFolder:
        """Create missing parts of the folder, and check who can access it.

        Raises:
            FolderError: it cannot be created or written (and why), or others could read its secrets.
        """
        folder = cls.at(root)
        try:
            folder.root.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
            _check_not_open_to_all(folder.root)
            for part in (folder.checkpoints, folder.logs, folder.cache):
                part.mkdir(exist_ok=True)
            _make_private(folder.control)
            folder.node_id()
        except OSError as error:
            raise explained(error, folder.root) from error
        return folder

    @property
    def settings(self) -> Path:
        return self.root / "settings.toml"

    @property
    def wishes(self) -> Path:
        """The user's last orders to the node: contribute, or pause until a time."""
        return self.root / "wishes.json"

    @property
    def updates(self) -> Path:
        """The last manifest from the release address."""
        return self.root / "updates.json"

    @property
    def history(self) -> Path:
        return self.root / "history.sqlite"

    @property
    def checkpoints(self) -> Path:
        return self.root / "checkpoints"

    @property
    def tasks(self) -> Path:
        """The owner's own tasks, a CSV file each; created with the first one."""
        return self.root / "tasks"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    def keep_caches(self) -> None:
        """Store caches of this process's and its children's libraries here: reasoning_gym imports matplotlib, which
        would put a list of fonts into the user's folders."""
        os.environ.setdefault("MPLCONFIGDIR", str(self.cache / "matplotlib"))

    @property
    def cache(self) -> Path:
        """What can be recomputed."""
        return self.root / "cache"

    @property
    def scratch(self) -> Path:
        """Temporary files; emptied when an engine starts."""
        return self.cache / "scratch"

    @property
    def control(self) -> Path:
        """The node's secrets, and port and secret of the control channel while a worker runs."""
        return self.root / "control"

    @property
    def rotation(self) -> Path:
        """The proof for peers that this folder's key replaced an earlier one."""
        return self.control / "rotation"

    @property
    def instance(self) -> Path:
        """The random number that is published with this folder's key, since the identity was last replaced."""
        return self.control / "instance"

    @property
    def lock(self) -> Path:
        return self.root / "worker.lock"

    def run(self, name: str) -> Path:
        """The mark of a running process (system/ends.py): `worker` or `window`."""
        return self.logs / f"{name}.run"

    @property
    def notices(self) -> Path:
        """The node's messages to people, as JSON lines (system/logs.py rotates the file like a log)."""
        return self.logs / "notices.jsonl"

    def log(self, name: str) -> Path:
        return self.logs / f"{name}.log"

    def node_id(self) -> str:
        """The folder's random name (32 hex digits) in the keyring. Drawn at the first call."""
        return _kept(self.root / "node-id", lambda: secrets.token_hex(16).encode("ascii")).decode("ascii")

    def secret(self, name: str) -> bytes:
        """The folder's secret of that name (32 bytes), drawn at the first call."""
        path = self.control / f"{name}.secret"
        value = _kept(path, lambda: secrets.token_bytes(SECRET_BYTES))
        if len(value) != SECRET_BYTES:
            raise FolderError(
                "{path} holds {count} bytes instead of {expected}. Delete it, and a new one is created.",
                path=str(path),
                count=len(value),
                expected=SECRET_BYTES,
            )
        return value


def shared_models() -> Path:
    """The folder of models that all nodes of this user share, unless a node's settings name another."""
    return DataFolder.default() / "models"


def existing(folder: Path) -> Path:
    """The folder, or its nearest existing parent."""
    return next((place for place in (folder, *folder.parents) if place.is_dir()), folder)


def check_private(folder: Path) -> None:
    """Refuse a folder that is a link, belongs to another user, or that others can access.

    Raises:
        FolderError: with advice.
    """
    info = folder.lstat()
    if stat.S_ISLNK(info.st_mode) or not stat.S_ISDIR(info.st_mode):
        raise FolderError(
            "{folder} is a link or a file, but must be a folder of this app. Remove it.", folder=str(folder)
        )
    if sys.platform != "win32":
        _check_owner_and_mode(folder, info)


def write_private(path: Path, content: bytes) -> None:
    """Replace a file durably and as a whole, readable by its owner only."""
    new = path.with_name(f"{path.name}.{secrets.token_hex(8)}.new")
    # O_EXCL: never write through an existing file or link.
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def explained(error: OSError, root: Path) -> FolderError:
    """The meaning of a system error about a data folder, and what to do."""
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return FolderError(
            "You may not write to the data folder {folder} ({reason}). Use another one with --data.",
            folder=str(root),
            reason=str(error.strerror),
        )
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return FolderError(
            "The disk of the data folder {folder} is full. Free some space, or use --data with another folder.",
            folder=str(root),
        )
    if error.errno in (errno.ENOTDIR, errno.EEXIST):
        return FolderError(
            "{path} is a file but must be a folder. Move it, or use --data with another folder.",
            path=str(error.filename or root),
        )
    return FolderError(
        "The data folder {folder} cannot be used ({reason}). Use another one with --data.",
        folder=str(root),
        reason=str(error),
    )


def _check_not_open_to_all(root: Path) -> None:
    """If everybody may rename entries of `root`, they could replace `control/`."""
    mode = root.stat().st_mode
    if sys.platform != "win32" and mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        raise FolderError(
            "Every user of this computer can write to {folder}. Run `chmod o-w` on it, or use --data "
            "with another folder.",
            folder=str(root),
        )


def _check_owner_and_mode(folder: Path, info: os.stat_result) -> None:
    if sys.platform != "win32" and info.st_uid != os.geteuid():
        raise FolderError("{folder} belongs to another user. Use --data with a folder of your own.", folder=str(folder))
    if stat.S_IMODE(info.st_mode) & 0o077:
        raise FolderError(
            "Other users of this computer can enter {folder}. Run `chmod 700` on it, or use --data with "
            "a folder on a disk that supports permissions.",
            folder=str(folder),
        )


def _make_private(folder: Path) -> None:
    folder.mkdir(mode=PRIVATE, exist_ok=True)
    if sys.platform == "win32":
        _restrict_to_user(folder)
    elif not folder.is_symlink() and folder.stat().st_uid == os.geteuid():
        folder.chmod(PRIVATE)
    check_private(folder)


def _restrict_to_user(folder: Path) -> None:
    """Windows: no inherited rights, full rights for this user and the system."""
    done = windows_programs.ask("whoami.exe", "/user", "/fo", "csv", "/nh")  # over SSH, no variable names the user
    user = re.search(r'"(S-1-[0-9-]+)"\s*$', done.stdout)
    if user is not None:
        rights = [f"*{user[1]}:(OI)(CI)F", "*S-1-5-18:(OI)(CI)F"]
        done = windows_programs.ask("icacls.exe", str(folder), "/inheritance:r", "/grant:r", *rights)
    if user is None or done.returncode != 0:
        raise FolderError(
            "Access to {folder} could not be limited to you. Use --data with another folder. The reason: {reason}",
            folder=str(folder),
            reason=done.stderr.strip(),
        )


def _kept(path: Path, draw: Callable[[], bytes]) -> bytes:
    """The content of `path`; if missing, it is drawn and written first."""
    if not path.exists():
        write_private(path, draw())
    try:
        return read_bytes(path, LONGEST_SECRET)
    except UnfitFile as error:
        raise FolderError(
            "{path} cannot be used ({reason}). Delete it, and a new one is created.",
            path=str(path),
            reason=str(error.strerror),
        ) from error

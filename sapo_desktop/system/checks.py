"""The checks of `doctor` on this computer, each with advice if something is wrong.

Nothing is sent anywhere. `computer_checks` collects facts, and each check judges them. What the running node reports
(links, port, peers' clocks) is in worker/control/handlers/checks.py.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import socket
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import psutil

from sapo_desktop import __version__
from sapo_desktop.core.errors import KeyringClosed, SapoError
from sapo_desktop.core.fitting import MEMORY_LEFT_FREE
from sapo_desktop.core.records import Check
from sapo_desktop.core.sentences import Size
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.updates.manifest import Standing
from sapo_desktop.system import installation
from sapo_desktop.system.desktop.display import TERMINAL, why_no_window
from sapo_desktop.system.folders import DataFolder, existing
from sapo_desktop.system.hardware import Hardware, other_engine, probe
from sapo_desktop.system.identity import UNLOCK
from sapo_desktop.system.presence import bus, x11
from sapo_desktop.system.secrets.system_keyring import opened

OF_A_RELAY = (
    *("msgspec", "tomlkit", "filelock", "platformdirs", "psutil", "reasoning_gym", "numpy", "websockets"),
    *("python-socks", "zeroconf", "PyNaCl", "cryptography", "keyring", "rich", "charset-normalizer"),
    *(("jeepney",) if sys.platform == "linux" else ()),
)
DISTRIBUTIONS = (
    *(
        *OF_A_RELAY,
        "minijinja",
        "gguf",
        "transformers",
        "tokenizers",
        "safetensors",
        "huggingface_hub",
        "httpx2",
        "h11",
    ),
    *("socksio", "segno", "PySide6-Essentials"),
    *(("nvidia-ml-py",) if sys.platform != "darwin" else ()),
)
"""What a node needs besides torch and peft, which may come later as the engine pack."""
_SET_UP_AGAIN = "Set SAPO Desktop up again: the installer, or `python3 installers/bootstrap.py setup` in a clone."
_FIRST_RELEASE = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
_CLOCK_ERROR = 600.0
"""Seconds by which a file may seem to come from the future, because shared folders have their own clocks."""
SET_CLOCK = "Let the system set its clock from the network (its date and time settings)."
_NEEDED_DISK, _COMFORTABLE_DISK = 500_000_000, 2_000_000_000
"""Bytes: weeks of checkpoints and history of the starter; the space that downloads leave free."""
_NEEDED_MEMORY = 600_000_000
"""Bytes needed by a node with the starter, all processes together."""
_NVIDIA = "0x10de"


def computer_checks(
    folder: DataFolder, written: float, models: Path, settings: Settings, standing: Standing
) -> list[Check]:
    """All checks of a node. `written`: see `last_written`; `models`: the models folder; `standing`: known newer
    versions."""
    here = probe(existing(folder.root))
    no_window = why_no_window()
    return [
        versions(standing),
        libraries({name: _version(name) for name in DISTRIBUTIONS}),
        engine_pack(
            can_learn=installation.can_learn(), by_installer=installation.payload() is not None, other=other_engine()
        ),
        display(no_window),
        tray(bool(no_window), _has_tray()),
        *_shared_checks(folder, written),
        disk("disk", folder.root, here.disk_free),
        _models_disk(models, settings),
        memory(here),
        graphics(here, settings, _nvidia_cards_on_the_bus()),
    ]


def relay_checks(folder: DataFolder, written: float, standing: Standing) -> list[Check]:
    """All checks of a relay, which neither learns nor shows anything."""
    return [
        versions(standing),
        libraries({name: _version(name) for name in OF_A_RELAY}),
        *_shared_checks(folder, written),
        disk("disk", folder.root, probe(existing(folder.root)).disk_free),
    ]


def last_written(folder: DataFolder) -> float:
    """Unix time of a node's last write there, 0 if there was none. Call this before starting one, which writes."""
    times = [path.stat().st_mtime for path in (folder.history, folder.log("worker")) if path.exists()]
    return max(times, default=0.0)


def _shared_checks(folder: DataFolder, written: float) -> list[Check]:
    return [
        _look_at_keyring(in_file=(folder.control / "identity").is_file()),
        ports(_loopback_error()),
        clock(time.time(), written, _is_synchronised()),
    ]


# -- what is installed ----------------------------------------------------------------------------------------


def versions(standing: Standing) -> Check:
    """The versions of this program and Python, and known newer ones."""
    here = f"SAPO Desktop {__version__}, Python {platform.python_version()}. {standing.text}"
    if standing.state in ("urgent", "newer"):
        advice = "Download it from the app's page (sapo-desktop updates), stop the node, and install it."
        return Check("versions", "bad" if standing.state == "urgent" else "limited", here, advice)
    return Check("versions", "good", here)


def libraries(installed: Mapping[str, str | None]) -> Check:
    """`installed`: version by name; None if a library is missing."""
    missing = [name for name, version in installed.items() if version is None]
    if missing:
        return Check("libraries", "bad", f"Not installed: {', '.join(missing)}.", _SET_UP_AGAIN)
    return Check("libraries", "good", f"All {len(installed)} are installed.")


def engine_pack(*, can_learn: bool, by_installer: bool, other: str | None = None) -> Check:
    """`by_installer`: an installer set up the program, so the engine pack comes later. `other`: the kind of pack
    that fits better than the installed one."""
    if can_learn and other is not None:
        return Check(
            "engine pack",
            "limited",
            f"The engine pack is installed, but the graphics card or its driver changed: that for {other} fits now.",
            "Replace the current one: sapo-desktop engine install",
        )
    if can_learn:
        return Check("engine pack", "good", "The engine pack is installed.")
    if by_installer:
        return Check(
            "engine pack",
            "limited",
            "The engine pack is missing, or from another version, so this node answers but does not learn.",
            "Get it: sapo-desktop engine install",
        )
    return Check("engine pack", "bad", "PyTorch is not installed.", _SET_UP_AGAIN)


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


# -- the desktop ----------------------------------------------------------------------------------------------


def display(why_not: str) -> Check:
    """`why_not`: why no window can open; empty if it can."""
    if why_not:
        return Check("display", "limited", why_not, f"{TERMINAL}.")
    return Check("display", "good", "A window can be opened.")


def tray(no_window: bool, there: bool) -> Check:
    """`there`: whether something shows tray icons."""
    if no_window:
        return Check("tray", "limited", "Without a window there is no tray icon.", f"{TERMINAL}.")
    if there:
        return Check("tray", "good", "This desktop shows tray icons.")
    return Check(
        "tray",
        "limited",
        "This desktop shows no tray icons: a closed window is minimised instead.",
        "On GNOME the extension AppIndicator shows them; elsewhere, look for a tray in the panel's settings.",
    )


def _has_tray() -> bool:
    if not sys.platform.startswith("linux"):
        return True
    watcher = "org.kde.StatusNotifierWatcher"
    try:
        if bus.get_property("SESSION", watcher, "/StatusNotifierWatcher", watcher, "IsStatusNotifierHostRegistered"):
            return True
    except SapoError:
        pass  # older desktops use the tray of X11
    try:
        return x11.has_tray(os.environ.get("DISPLAY", ""))
    except OSError:
        return False


def keyring(found: str, error: str = "", *, in_file: bool = False) -> Check:
    """`found`: the store for secrets here, empty if there is none. `error`: why it does not open. `in_file`: this
    node's identity is protected by a passphrase."""
    if in_file:
        return Check("keyring", "good", "None is used: the identity is in a file protected by a passphrase.")
    if not found:
        return Check(
            "keyring",
            "limited",
            "This computer has no keyring that stores secrets, so the node's identity is lost when it stops.",
            "Keep the identity in a file protected by a passphrase: sapo-desktop identity protect",
        )
    if error:
        return Check(
            "keyring",
            "bad",
            error.strip(),
            str(UNLOCK),
        )
    return Check("keyring", "good", f"It is unlocked ({found}).")


def _look_at_keyring(*, in_file: bool = False) -> Check:
    """Read an entry that was never written. A keyring that asks a person to unlock it is not waited for."""
    if in_file:
        return keyring("", in_file=True)
    try:
        found = opened("")
        if found is None:
            return keyring("")
        found.load("doctor")
    except KeyringClosed as error:
        return keyring("a keyring", str(error.text))
    return keyring(found.name)


# -- the computer ---------------------------------------------------------------------------------------------


def ports(error: str) -> Check:
    """`error`: why no local port can be opened; empty if one can."""
    if error:
        return Check(
            "ports",
            "bad",
            f"No port can be opened at 127.0.0.1 ({error}), so window and commands cannot reach the node.",
            "Allow SAPO Desktop local connections in the firewall or security program of this computer.",
        )
    return Check("ports", "good", "Window and commands can reach a node on this computer.")


def _loopback_error() -> str:
    try:
        with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname(), 2.0):
            return ""
    except OSError as error:
        return error.strerror or str(error)


def clock(now: float, written: float, synchronised: bool | None) -> Check:
    """`now`: Unix time. `written`: when the node last wrote, 0: never. `synchronised`: whether the system says that
    its clock is set from the network; None: unknown."""
    shown = time.strftime("%Y-%m-%d %H:%M:%S %z", time.localtime(now))
    if now < _FIRST_RELEASE:
        return Check("clock", "bad", f"It shows {shown}, which is long ago.", SET_CLOCK)
    if written > now + _CLOCK_ERROR:
        return Check(
            "clock",
            "bad",
            f"It shows {shown}, and the node wrote a file {(written - now) / 60:,.0f} minutes later: it was put "
            "back. Peers refuse answers whose time is wrong.",
            SET_CLOCK,
        )
    if synchronised is False:
        return Check(
            "clock",
            "limited",
            f"It shows {shown}, and the system does not set it from the network, so it drifts.",
            f"{SET_CLOCK[:-1]}: sudo timedatectl set-ntp true",
        )
    return Check("clock", "good", f"It shows {shown}.")


def _is_synchronised() -> bool | None:
    if not sys.platform.startswith("linux"):
        return None
    name = "org.freedesktop.timedate1"
    try:
        return bool(bus.get_property("SYSTEM", name, "/org/freedesktop/timedate1", name, "NTPSynchronized"))
    except SapoError:
        return None


def disk(name: str, folder: Path, free: int) -> Check:
    """`free`: bytes that this user can still write where `folder` is or will be."""
    there = existing(folder)
    said = f"{Size(bytes=free)} free for {folder}."
    if not os.access(there, os.W_OK | os.X_OK):
        return Check(
            name,
            "bad",
            f"{there} cannot be written.",
            "Choose another folder (--data, or the setting models_folder), or let this user write there.",
        )
    if free < _NEEDED_DISK:
        advice = "Free some space, or choose a folder on another disk (--data, or the setting models_folder)."
        return Check(name, "bad", said, advice)
    if free < _COMFORTABLE_DISK:
        advice = f"Free some space before you download a model: {Size(bytes=_COMFORTABLE_DISK)} are kept free."
        return Check(name, "limited", said, advice)
    return Check(name, "good", said)


def _models_disk(models: Path, settings: Settings) -> Check:
    if settings.models_folder and not models.exists():
        return Check(
            "models' disk",
            "bad",
            f"The models folder {models} does not exist.",
            "Connect its disk, or return to the default: sapo-desktop settings reset models_folder",
        )
    return disk("models' disk", models, psutil.disk_usage(str(existing(models))).free)


def memory(here: Hardware) -> Check:
    """Enough for the smallest node, besides what is left to other programs."""
    left = here.memory_free - MEMORY_LEFT_FREE
    said = f"{Size(bytes=here.memory_free)} of {Size(bytes=here.memory)} free"
    said += " in this container." if here.memory_limited else "."
    if left < _NEEDED_MEMORY:
        return Check(
            "memory",
            "limited",
            f"{said} A node needs {Size(bytes=_NEEDED_MEMORY)} with the smallest model, and leaves "
            f"{Size(bytes=MEMORY_LEFT_FREE)} to others.",
            "Close programs that use a lot of memory.",
        )
    return Check("memory", "good", said)


def graphics(here: Hardware, settings: Settings, on_the_bus: int | None) -> Check:
    """`on_the_bus`: installed NVIDIA cards, whatever their driver; None: unknown."""
    name = "graphics card"
    if here.gpus:
        cards = "; ".join(
            f"{card.name}, {Size(bytes=card.free)} of {Size(bytes=card.memory)} free" for card in here.gpus
        )
        return Check(name, "good", f"{cards}.")
    if here.idle_gpus:
        return Check(
            name,
            "limited",
            f"{', '.join(here.idle_gpus)}: not used, because the installed PyTorch supports only the processor.",
            "Get the PyTorch for this card: `sapo-desktop engine install`; in a clone, run setup again.",
        )
    if on_the_bus:
        return Check(
            name,
            "limited",
            "There is an NVIDIA card, but its driver does not answer.",
            "Install NVIDIA's driver, restart the computer, and check again.",
        )
    if settings.device == "cuda":
        return Check(
            name,
            "bad",
            "The setting device asks for an NVIDIA card, but there is none.",
            "Let the app choose: sapo-desktop settings reset device",
        )
    if here.unified:
        return Check(name, "good", "It shares the computer's memory (Apple silicon).")
    return Check(name, "good", "Not used; the processor computes.")


def _nvidia_cards_on_the_bus(devices: Path = Path("/sys/bus/pci/devices")) -> int | None:
    if not devices.is_dir():  # not Linux
        return None
    return sum(
        _read(device / "vendor") == _NVIDIA and _read(device / "class").startswith("0x03")
        for device in devices.iterdir()
    )


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""

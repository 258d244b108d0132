"""A private screen: Xvfb, with trayer as its tray host on request. For tests, benches and screenshots."""

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

PATIENCE = 60.0
_SHOWN = "SAPO_SHOWN_ON_A_DISPLAY"


def can_be_had() -> bool:
    """Whether the programs are installed."""
    return shutil.which("Xvfb") is not None


@contextlib.contextmanager
def a_display(size: str = "1400x1000", *, tray: bool = False) -> Iterator[dict[str, str]]:
    """The environment in which programs show their windows there."""
    # The server takes the first number that is free, and says which when it is ready.
    ours, theirs = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(theirs), "-screen", "0", f"{size}x24", "-nolisten", "tcp", "-noreset"],
        pass_fds=(theirs,),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs)
    with os.fdopen(ours) as output:
        number = output.readline().strip()
    if not number:
        raise RuntimeError("Xvfb did not start")
    environment = {**os.environ, "DISPLAY": f":{number}", "QT_QPA_PLATFORM": "xcb"}
    environment.pop("WAYLAND_DISPLAY", None)
    try:
        with a_tray(environment) if tray else contextlib.nullcontext():
            yield environment
    finally:
        server.terminate()
        server.wait(PATIENCE)


def on_a_display(size: str, *, tray: bool = False) -> None:
    """Run this program once more, on a screen of its own, and end with it; in that second one this does nothing."""
    if os.environ.pop(_SHOWN, ""):
        return
    with a_display(size, tray=tray) as environment:
        line = [sys.executable, *sys.orig_argv[1:]]
        sys.exit(subprocess.run(line, env={**environment, _SHOWN: "1"}).returncode)


def let_run(seconds: float) -> None:
    """Let Qt's event loop run. QTest.qWait would look at it a hundred times a second and keep Python's lock: clicks and
    other threads would wait for it, and a hidden window would be charged for its looking."""
    from PySide6.QtCore import QEventLoop, QTimer

    loop = QEventLoop()
    QTimer.singleShot(round(1000 * seconds), loop.quit)
    loop.exec()


@contextlib.contextmanager
def a_tray(environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A tray host on that display."""
    host = subprocess.Popen(
        ["trayer", "--edge", "bottom", "--width", "20", "--height", "24"],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(0.3)  # it says nothing when it is ready; who needs it waits for the tray besides
    try:
        yield host
    finally:
        host.terminate()
        host.wait(PATIENCE)


def wayland_can_be_had() -> bool:
    """Whether the program is installed."""
    return shutil.which("weston") is not None


@contextlib.contextmanager
def a_wayland(folder: Path, size: tuple[int, int] = (1400, 1000)) -> Iterator[dict[str, str]]:
    """The environment in which programs show their windows on Wayland, without a tray and without X. `folder`: for its
    sockets, a short path."""
    folder.chmod(0o700)
    environment = {
        **os.environ,
        "XDG_RUNTIME_DIR": str(folder),
        "WAYLAND_DISPLAY": "sapo",
        "QT_QPA_PLATFORM": "wayland",
    }
    environment.pop("DISPLAY", None)
    line = ["weston", "--backend=headless-backend.so", "--socket=sapo", "--idle-time=0", "--no-config"]
    server = subprocess.Popen(
        [*line, f"--width={size[0]}", f"--height={size[1]}"],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + PATIENCE
        while not (folder / "sapo").exists():
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("weston did not start")
            time.sleep(0.05)
        yield environment
    finally:
        server.terminate()
        server.wait(PATIENCE)

"""Programs that come with Windows, asked for what no call tells Python. Written from the documentation, not run yet."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def ask(program: str, *words: str, timeout: float = 30.0) -> subprocess.CompletedProcess[str]:
    """What a program of the folder System32 says. Raises OSError, TimeoutError where it says nothing
    for `timeout` seconds.

    By its full path, since a bare name is looked for in the current folder first. Its words are in a code page of the
    console's: letters beyond ASCII may be lost.
    """
    folder = Path(os.environ.get("SYSTEMROOT", r"C:\Windows"), "System32")
    try:
        return subprocess.run(
            [folder / program, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except subprocess.TimeoutExpired as error:
        raise TimeoutError(f"{program} did not answer in {timeout:g} seconds") from error

"""Programs that come with Windows, for facts that Python cannot query. Written from documentation, not run yet."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def ask(program: str, *words: str, timeout: float = 30.0) -> subprocess.CompletedProcess[str]:
    """The output of a program in the folder System32. Raises OSError, or TimeoutError after `timeout` seconds.

    By its full path, since a bare name is first looked up in the current folder. Its output is in a code page of the
    console, so letters beyond ASCII may be lost.
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

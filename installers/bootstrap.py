"""From a fresh clone to a running node, with nothing but Python: `python3 installers/bootstrap.py run`.

This file must start on every Python 3 (no syntax newer than 3.6), so that an old one gets a sentence and not a
traceback. It finds a supported Python, restarts itself with it, and calls the modules next to it, which use modern
syntax. Standard library only.
"""

import os
import signal
import subprocess
import sys
from typing import List, Optional

OLDEST = (3, 11)
NEWEST = (3, 14)
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
USAGE = """\
python3 installers/bootstrap.py run              set up what is needed, then open the window; without a
                                                 display, or with --terminal, play in the terminal
python3 installers/bootstrap.py run OPTIONS      the same, then play in the terminal with these options
                                                 (as in `sapo-desktop run --help`; --data goes with either)
python3 installers/bootstrap.py relay OPTIONS    set up what a relay needs, without PyTorch and window, and start it
                                                 (as in `sapo-desktop relay --help`)
python3 installers/bootstrap.py test             set up, then lint, type check and quick tests
python3 installers/bootstrap.py test --slow      the tests that take minutes
python3 installers/bootstrap.py setup [relay]    set up for `run`, or for `relay`, and stop; `setup test` also installs
                                                 the tools of tests and measurements
                                                 (the first setup for `run` fetches a language model of 93 MB;
                                                 `run` and `setup` leave it out with --no-model)
python3 installers/bootstrap.py llama            build llama.cpp (optional; a C++ compiler is needed)
On Windows it is `py installers\\bootstrap.py`.
"""


def main(arguments: List[str]) -> int:
    """Returns the exit code: 0 done, 1 failed with a reason, 2 wrong usage."""
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        return start_again(arguments)
    if "WindowsApps" in sys.base_prefix:
        sys.stderr.write(
            "Python from the Microsoft Store hides the data of its programs, and deletes it when it is removed.\n"
            "Install the one from python.org, then type `py installers\\bootstrap.py run`.\n"
        )
        return 1
    sys.path.insert(0, ROOT)
    from installers.commands import run_command

    return run_command(ROOT, arguments, USAGE)


def start_again(arguments: List[str]) -> int:
    """Runs this file with a supported Python, or says in a sentence which one to install."""
    python = find_python()
    if python is None:
        sys.stderr.write(
            "SAPO Desktop needs a Python from 3.11 to 3.14; this is Python %d.%d and no other was found.\n"
            "Install one (Debian or Ubuntu: apt install python3.11 python3.11-venv; macOS and Windows: the\n"
            "installer from python.org), then type the same command again.\n" % sys.version_info[:2]
        )
        return 1
    command = [python, os.path.abspath(__file__)] + arguments  # noqa: RUF005  (syntax of 3.6)
    if os.name == "nt":
        return call_through(command)
    sys.stdout.flush()
    os.execv(python, command)


def call_through(command, env=None):  # type: (List[str], Optional[dict[str, str]]) -> int
    """Runs a command in place of this one on systems without exec. Both get a Ctrl-C: only the command handles it."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return subprocess.call(command, env=env)
    finally:
        signal.signal(signal.SIGINT, before)


def find_python() -> Optional[str]:
    """Path of the newest supported Python on PATH that really starts, or None."""
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        found = ask_for_path(["py", "-3.%d" % minor] if os.name == "nt" else ["python3.%d" % minor], minor)
        if found:
            return found
    return None


def ask_for_path(command: List[str], minor: int) -> Optional[str]:
    """The interpreter's own path, or None if it does not start (as pyenv's shims may not)."""
    question = "import sys; print('%d %s' % (sys.version_info[1], sys.executable))"
    try:
        answer = subprocess.check_output(command + ["-c", question], stderr=subprocess.DEVNULL)  # noqa: RUF005
    except (OSError, subprocess.CalledProcessError):
        return None
    found, _, path = answer.decode(errors="replace").strip().partition(" ")
    return path if found == str(minor) else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

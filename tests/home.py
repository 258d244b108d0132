"""A private home and environment for tests: nothing of the user's is read or written.

`move_in` runs before anything of the product is imported. The workers of pytest-xdist and all processes that tests
start inherit what it sets.
"""

import atexit
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

IN_CI = os.environ.get("CI", "").lower() in {"1", "true"}
HOME = "SAPO_TEST_HOME"
FETCHING = "SAPO_TEST_FETCHING"
KEPT = {
    *("PATH", "PYENV_ROOT", "TMPDIR", "TEMP", "TMP", "CI", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
    *("CUDA_VISIBLE_DEVICES", "LANDLOCK"),
    # what Windows's own programs need
    *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "OS", "NUMBER_OF_PROCESSORS"),
    *("PROCESSOR_ARCHITECTURE", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "COMMONPROGRAMFILES"),
}
KEPT_BEGIN = ("PYTHON", "PYTEST_", "COV", "OPENBLAS_", "SAPO_TEST", "SAPO_LLAMA_SERVER")
FETCHING_BEGIN = ("PIP_", "UV_")
FETCHING_NAMES = {
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"),
}


def move_in() -> None:
    """Replace this process's environment, once; its children have it already."""
    if HOME not in os.environ:
        home = Path(tempfile.mkdtemp(prefix="sapo-tests-"))
        atexit.register(_move_out, home, os.getpid())
        before = dict(os.environ)
        os.environ.clear()
        os.environ.update(own_environment(before, home))


def own_environment(user: Mapping[str, str], home: Path) -> dict[str, str]:
    """What tests see in place of the environment `user`. Makes the folders of `home`."""
    runtime = home / "run"
    runtime.mkdir(mode=0o700, parents=True)
    kept = {name: value for name, value in user.items() if name.upper() in KEPT or name.startswith(KEPT_BEGIN)}
    kept.pop("PYTHON_KEYRING_BACKEND", None)
    nobody = f"unix:path={runtime / 'no-bus'}"
    folders = {
        "HOME": home,
        "USERPROFILE": home,
        "APPDATA": home / "AppData" / "Roaming",
        "LOCALAPPDATA": home / "AppData" / "Local",
        "XDG_RUNTIME_DIR": runtime,
    }
    if sys.platform == "darwin":  # its keychain is found by the user, not by HOME
        kept["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
    return {
        **kept,
        **{name: str(folder) for name, folder in folders.items()},
        "LANG": "C.UTF-8",
        "DBUS_SESSION_BUS_ADDRESS": nobody,
        "DBUS_SYSTEM_BUS_ADDRESS": nobody,
        HOME: str(home),
        FETCHING: json.dumps(_sources(user)),
    }


def fetching() -> dict[str, str]:
    """The environment for a test that fetches packages: with the user's package index, proxy and certificates."""
    return {**os.environ, **json.loads(os.environ[FETCHING])}


def _sources(user: Mapping[str, str]) -> dict[str, str]:
    found = {
        name: value for name, value in user.items() if name.startswith(FETCHING_BEGIN) or name.upper() in FETCHING_NAMES
    }
    configuration = Path(user.get("XDG_CONFIG_HOME") or Path(user.get("HOME", ""), ".config"))
    found.setdefault("PIP_CONFIG_FILE", str(configuration / "pip" / "pip.conf"))
    return found


def _move_out(home: Path, process: int) -> None:
    if os.getpid() == process:  # not a fork that ends
        shutil.rmtree(home, ignore_errors=True)

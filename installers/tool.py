"""The tool that creates the environment and fills it: uv, otherwise venv with pip, otherwise virtualenv with pip.

Sources configured for pip (PIP_* variables, pip's own files) apply to uv as well, which does not read them itself;
existing UV_* variables are not changed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from installers.trouble import SetupError

# pip's setting -> uv's variable. pip separates several values by blanks, uv find-links by commas.
_FOR_UV = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "no-index": "UV_NO_INDEX",
    "cert": "SSL_CERT_FILE",
}


class Tool(NamedTuple):
    """How to create an environment, and the beginning of the command that installs into it."""

    name: str
    create: list[str]
    """Without the folder, which comes last."""
    uv: str | None = None

    def install(self, python: Path, lock: Path, *, sources: bool = False) -> list[str]:
        """Install what `lock` lists, checked by hash: from wheels, or from sources that a package already in the
        environment builds. No other build tool is downloaded."""
        kind = ["--no-build-isolation", "--no-binary"] if sources else ["--only-binary"]
        words = ["--no-deps", "--require-hashes", *kind, ":all:", "-r", str(lock)]
        if self.uv:
            return [self.uv, "pip", "install", "--python", str(python), *words]
        # --no-cache-dir: in a read-only home, pip cannot cache what it built, and fails.
        quiet = ["--no-input", "--progress-bar", "off", "--no-compile", *(["--no-cache-dir"] if sources else [])]
        # --no-compile: Python compiles what is imported, at its first import; pip would compile everything.
        return [str(python), "-m", "pip", "install", *quiet, *words]

    def extra_index(self, url: str) -> list[str]:
        return ["--index" if self.uv else "--extra-index-url", url]

    def environment(self, scratch: Path | None = None) -> dict[str, str]:
        """The environment variables of the tool. `scratch`: where it unpacks downloads, because the system's
        temporary folder is often small and in memory."""
        env = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_USER": "0"}
        if scratch:
            env |= {"TMPDIR": str(scratch), "TEMP": str(scratch), "TMP": str(scratch)}
        if self.uv:
            env.update(settings_for_uv(pip_settings(), env))
            if not _can_be_written(uv_cache(env)):  # uv fails there, while pip continues without
                env["UV_NO_CACHE"] = "1"
        return clean_environment(env)


def find_tool() -> Tool:
    """The first available of uv, venv and virtualenv.

    Raises:
        SetupError: none is.
    """
    uv = shutil.which("uv")
    if uv:
        return Tool("uv", [uv, "venv", "--python", sys.executable], uv)
    if find_spec("venv") and find_spec("ensurepip"):
        return Tool("venv", [sys.executable, "-m", "venv"])
    if find_spec("virtualenv"):
        return Tool("virtualenv", [sys.executable, "-m", "virtualenv"])
    virtualenv = shutil.which("virtualenv")
    if virtualenv:
        return Tool("virtualenv", [virtualenv, "--python", sys.executable])
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    raise SetupError(
        f"Nothing here can make a Python environment: neither uv, nor venv, nor virtualenv. On Debian or Ubuntu: "
        f"apt install python{version}-venv. Elsewhere: install uv, or python{version} with pip. "
        "Then type the same command again."
    )


def settings_for_uv(settings: Mapping[str, str], present: Mapping[str, str]) -> dict[str, str]:
    """uv's variables for pip's `settings` (named as on pip's command line)."""
    wanted: dict[str, str] = {}
    for name, variable in _FOR_UV.items():
        value = settings.get(name)
        if value and variable not in present:
            wanted[variable] = ",".join(value.split()) if name == "find-links" else value
    if "UV_INDEX" in wanted:
        wanted.setdefault("UV_INDEX_STRATEGY", "unsafe-best-match")  # pip's own behaviour with several indexes
    return wanted


def uv_cache(env: Mapping[str, str]) -> Path:
    """uv's cache of downloads (on Windows elsewhere, below the same home)."""
    return Path(env.get("UV_CACHE_DIR") or Path(env.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "uv")


def _can_be_written(folder: Path) -> bool:
    """Whether files can be created there, or the folder itself if it is missing."""
    return os.access(next(place for place in (folder, *folder.parents) if place.exists()), os.W_OK)


def pip_settings() -> dict[str, str]:
    """pip's configuration, files and PIP_* variables together; variables take precedence, as in pip."""
    settings: dict[str, str] = {}
    for line in _pip_config().splitlines():
        name, separator, value = line.partition("=")
        section, _, option = name.rpartition(".")
        if separator and section in {"global", "install"}:
            settings[option] = value.strip().strip("'\"").replace("\\n", " ")
    for variable, value in os.environ.items():
        if variable.startswith("PIP_"):
            settings[variable[4:].lower().replace("_", "-")] = value
    return settings


def _pip_config() -> str:
    try:
        answer = subprocess.run(
            [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""  # a Python without pip has no pip configuration
    return answer.stdout


def clean_environment(env: Mapping[str, str]) -> dict[str, str]:
    """`env` without what would make the environment's Python import modules from elsewhere, or compile them in every
    process. Container images often forbid bytecode, and what was installed here has none yet."""
    unwanted = {"PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__", "PYTHONDONTWRITEBYTECODE"}
    return {name: value for name, value in env.items() if name not in unwanted}

"""The tool that makes the environment and fills it: uv, else venv with pip, else virtualenv with pip.

Whatever sources are configured for pip (PIP_* variables, pip's own files) hold for uv as well, which by itself
reads neither; UV_* variables that are set already are left alone.
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
    """How an environment is made, and the beginning of the command that installs into it."""

    name: str
    create: list[str]
    """Without the folder, which comes last."""
    uv: str | None = None

    def install(self, python: Path, lock: Path, *, sources: bool = False) -> list[str]:
        """Install what `lock` lists, checked by hash: from wheels, or from sources that a package already in the
        environment builds. No other build tool is fetched."""
        kind = ["--no-build-isolation", "--no-binary"] if sources else ["--only-binary"]
        words = ["--no-deps", "--require-hashes", *kind, ":all:", "-r", str(lock)]
        if self.uv:
            return [self.uv, "pip", "install", "--python", str(python), *words]
        # --no-cache-dir: pip cannot keep what it built in a home that is read-only, and fails.
        quiet = ["--no-input", "--progress-bar", "off", "--no-compile", *(["--no-cache-dir"] if sources else [])]
        # --no-compile: Python compiles what is really imported, at its first import; pip would compile everything.
        return [str(python), "-m", "pip", "install", *quiet, *words]

    def extra_index(self, url: str) -> list[str]:
        return ["--index" if self.uv else "--extra-index-url", url]

    def environment(self, scratch: Path | None = None) -> dict[str, str]:
        """The variables the tool is started with. `scratch`: where it unpacks downloads. The system's folder for
        temporary files is often a small one in memory."""
        env = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_USER": "0"}
        if scratch:
            env |= {"TMPDIR": str(scratch), "TEMP": str(scratch), "TMP": str(scratch)}
        if self.uv:
            env.update(settings_for_uv(pip_settings(), env))
            if not _can_be_written(uv_cache(env)):  # uv ends there, where pip does without
                env["UV_NO_CACHE"] = "1"
        return clean_environment(env)


def find_tool() -> Tool:
    """The first of uv, venv and virtualenv that is there.

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
    """uv's variables that say the same as pip's `settings` (names as on pip's command line)."""
    wanted: dict[str, str] = {}
    for name, variable in _FOR_UV.items():
        value = settings.get(name)
        if value and variable not in present:
            wanted[variable] = ",".join(value.split()) if name == "find-links" else value
    if "UV_INDEX" in wanted:
        wanted.setdefault("UV_INDEX_STRATEGY", "unsafe-best-match")  # pip's own way with several indexes
    return wanted


def uv_cache(env: Mapping[str, str]) -> Path:
    """Where uv keeps what it downloaded (on Windows elsewhere, below the same home)."""
    return Path(env.get("UV_CACHE_DIR") or Path(env.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "uv")


def _can_be_written(folder: Path) -> bool:
    """Whether files can be made there, or the folder itself where it is missing."""
    return os.access(next(place for place in (folder, *folder.parents) if place.exists()), os.W_OK)


def pip_settings() -> dict[str, str]:
    """What pip is configured with, files and PIP_* variables together; variables win, as in pip."""
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
    """`env` less what would make the environment's Python load modules from elsewhere, or compile them anew in every
    process: images of containers often forbid bytecode, and what was installed here has none yet."""
    unwanted = {"PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__", "PYTHONDONTWRITEBYTECODE"}
    return {name: value for name, value in env.items() if name not in unwanted}

"""A small checkout with real tools: real Python, venv and pip, but packages of one line from a local folder."""

import hashlib
import io
import os
import platform
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from installers.flavour import choose

ROOT = Path(__file__).resolve().parents[2]
NODE = "import sys\nprint('node', *sys.argv[1:], sys.prefix)\n"


class Terminal(io.StringIO):
    """A stream that says that it is one."""

    def isatty(self) -> bool:
        return True


class Checkout:
    """A clone in miniature, in a folder whose name has spaces, and what its bootstrap is started with."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "a clone with spaces"
        self.wheels = folder / "wheels"
        self.flavour = choose(platform.system(), platform.machine())
        self.lock = self.root / "packaging" / "requirements" / f"{self.flavour.name}.txt"
        self.env = {
            "PATH": os.defpath,
            "HOME": str(folder),
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.wheels),
            "PIP_NO_CACHE_DIR": "1",
        }
        shutil.copytree(ROOT / "installers", self.root / "installers", ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("wheels", "a clone with spaces/packaging/requirements", "a clone with spaces/sapo_desktop"):
            (folder / name).mkdir(parents=True)
        (self.root / "sapo_desktop" / "__init__.py").write_text("")
        (self.root / "sapo_desktop" / "__main__.py").write_text(NODE)
        if self.flavour.torch:
            write_wheel(self.wheels, *self.flavour.torch.split("=="))
        self.lock.write_text(f"tiny==1.0 \\\n    --hash=sha256:{write_wheel(self.wheels, 'tiny', '1.0')}\n")

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, str(self.root / "installers" / "bootstrap.py"), *arguments]

    def start(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs the bootstrap to its end, from another folder than the checkout's."""
        return subprocess.run(
            self.command(*arguments),
            env={**self.env, **variables},
            cwd=self.wheels,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )


def write_wheel(folder: Path, name: str, version: str, code: str = "") -> str:
    """A wheel with one module; returns its SHA-256."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}.py", code)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", f"{name}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)

"""A small checkout with real tools: real Python, venv and pip, but packages of one line from a local folder."""

import hashlib
import io
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from installers.flavour import choose

ROOT = Path(__file__).resolve().parents[2]
BACKEND = """
import zipfile
def build_wheel(folder, settings=None, metadata=None):
    name = "from_source-1.0-py3-none-any.whl"
    info = "from_source-1.0.dist-info"
    with zipfile.ZipFile(f"{folder}/{name}", "w") as wheel:
        for source, target in (("module.py", "from_source.py"), ("PKG-INFO", f"{info}/METADATA")):
            with open(source) as text:
                wheel.writestr(target, text.read())
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{info}/RECORD", "")
    return name
"""
"""What builds `from_source`: a stand-in for setuptools."""
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
        if self.flavour.torch_lock and self.flavour.plain:
            self.pin(self.flavour.torch_lock, "torch", "2.13.0+cpu")
            self.pin(self.flavour.plain, "tiny", "1.0")
            self.pin(self.flavour.plain, "torch", "2.13.0", mode="a")
        self.pin(self.flavour.name, "tiny", "1.0")
        self.pin("sources", "from_source", "1.0", write_source(self.wheels, "from_source", "1.0"))
        for name in filter(None, (self.flavour.name, self.flavour.plain, "relay")):
            self.pin(name, "backend", "1.0", write_wheel(self.wheels, "backend", "1.0", BACKEND), mode="a")

    def pin(self, lock: str, name: str, version: str, digest: str = "", mode: str = "w") -> Path:
        """Write a package into a lock; without its hash, make a wheel of it first."""
        path = self.lock.with_name(f"{lock}.txt")
        with path.open(mode) as file:
            digest = digest or write_wheel(self.wheels, name, version)
            file.write(f"{name}=={version} \\\n    --hash=sha256:{digest}\n")
        return path

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


def write_source(folder: Path, name: str, version: str, code: str = "") -> str:
    """A source archive that asks for any version of `backend`; returns its SHA-256."""
    path = folder / f"{name}-{version}.tar.gz"
    project = '[build-system]\nrequires = ["backend"]\nbuild-backend = "backend"\n'
    files = {"pyproject.toml": project, "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"}
    with tarfile.open(path, "w:gz") as archive:
        for file, text in {**files, "module.py": f"NAME = {name!r}\n{code}"}.items():
            member = tarfile.TarInfo(f"{name}-{version}/{file}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_wheel(folder: Path, name: str, version: str, code: str = "") -> str:
    """A wheel with one module; returns its SHA-256, the same whenever it is written: several locks name one file."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": code,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": f"{name}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n",
    }
    with zipfile.ZipFile(path, "w") as wheel:
        for file, text in files.items():
            wheel.writestr(zipfile.ZipInfo(file), text)
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)

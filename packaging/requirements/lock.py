"""Writes the locks in this folder: one for each platform, and what tests add to it.

    python packaging/requirements/lock.py            (needs uv; asks the configured package index)

Each lock names every package that is installed, with the hashes of all its files, so the bootstrap installs wheels with
`--no-deps --require-hashes`, and runs no build script of others. `sources` holds the packages that have no wheel, all
plain Python: they are built without isolation, by the setuptools of the lock before. `llama` is the source of
llama-cpp-python, and `build` has its tools. pycosat is left out: it comes as C source, and nothing here uses it.

The builds of torch that only PyTorch's own index has are in `torch-*.txt`, written by hand. Copy a new version's hashes
from that index's page, and compare them with another source. The CPU build must be found while
`linux-cpu` is resolved: point UV_FIND_LINKS at a folder with its wheel, or UV_INDEX at PyTorch's CPU index. Otherwise
its CUDA libraries would end up in that lock. The other platforms are resolved without them: `torch==2.13.0` would match
that build too.
No index address is written, since the user chooses where packages come from.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
PYTHONS = "python_version < '3.15'"
SOURCES = re.findall(r"^[a-z]\w+", (HERE / "sources.in").read_text(), re.MULTILINE)
LEFT_OUT = ("pycosat", "llama-cpp-python", *SOURCES)


class Platform(NamedTuple):
    name: str
    marker: str
    torch: str
    """The build to resolve with."""
    torch_in_lock: bool
    tried: str
    """How well this lock was tested, for its header."""


LINUX = "sys_platform == 'linux'"
LINUX_PC = f"{LINUX} and platform_machine == 'x86_64'"
LINUX_ARM = f"{LINUX} and platform_machine == 'aarch64'"
MAC = "sys_platform == 'darwin' and platform_machine == 'arm64'"
WINDOWS = "sys_platform == 'win32' and platform_machine == 'AMD64'"
NEVER = "Resolved by machine from the packages' own metadata; never installed on such a machine."
PLAIN = "Resolved by machine; installed on an x86_64 computer without a card."
PLATFORMS = (
    Platform("linux-cpu", LINUX, "2.13.0+cpu", False, "Resolved by machine; installed and tested on x86_64."),
    Platform("linux-cuda", LINUX_PC, "2.13.0", True, PLAIN),
    Platform("mac-arm64", MAC, "2.13.0", True, NEVER),
    Platform("win-cpu", WINDOWS, "2.13.0", True, NEVER),
    Platform("win-cuda", WINDOWS, "2.13.0", False, NEVER + " Its torch build was named by hand."),
)


def main() -> None:
    for platform in PLATFORMS:
        left_out = LEFT_OUT if platform.torch_in_lock else (*LEFT_OUT, "torch")
        pins = wanted("runtime").replace("torch==2.13.0", f"torch=={platform.torch}")
        lock = resolve(pins, platform.marker, left_out, ordinary_index_only=platform.torch_in_lock)
        if platform.name == "linux-cpu" and "nvidia-cu" in lock:
            sys.exit("The CUDA build of torch was found for linux-cpu: see the head of this file.")
        if platform.torch_in_lock and "+cpu" in lock:
            sys.exit(f"The CPU build of torch was found for {platform.name}: see the head of this file.")
        write(platform.name, platform.tried, lock)
    anywhere = " or ".join(f"({marker})" for marker in (LINUX_PC, LINUX_ARM, MAC, WINDOWS))
    write("sources", "Built and tested on Linux.", resolve(wanted("sources"), anywhere, options=["--no-deps"]))
    source = resolve("llama-cpp-python==0.3.36", anywhere, options=["--no-deps"])
    write("llama", "One source archive, which the bootstrap builds.", source)
    write("build", "Its build tools.", resolve("scikit-build-core[pyproject]\ncmake\nninja", anywhere))
    write("pip", "Installs the engine pack of an installed application.", resolve("pip==26.3", PYTHONS))
    # These go into the same environment: if they need a package of the node, they use the node's version.
    node = pins_of("linux-cpu")
    write("test", "Resolved by machine; installed and tested on Linux.", resolve(wanted("test"), anywhere, limits=node))
    relay = resolve(wanted("relay"), anywhere, LEFT_OUT, limits=[*node, *pins_of("test")])
    write("relay", "Resolved by machine; installed and tested on Linux x86_64.", relay)
    present = [*pins_of("linux-cuda"), *pins_of("test")]
    # The resolution includes the CUDA build of torch; packages that only it needs are no test tools.
    left_out = ["torch", "nvidia-cuda-cccl", *(pin.partition("==")[0] for pin in present)]
    lock = resolve(wanted("slow"), anywhere, left_out, limits=[*node, *pins_of("test")])
    write("slow", "Resolved by machine; installed and tested on Linux.", lock)


def wanted(name: str) -> str:
    return (HERE / f"{name}.in").read_text()


def pins_of(lock: str) -> list[str]:
    """`name==version ; marker` for every package of a lock that is written already."""
    return re.findall(r"^[a-z].*?(?= \\$)", (HERE / f"{lock}.txt").read_text(), re.MULTILINE)


def resolve(
    pins: str,
    marker: str,
    left_out: Sequence[str] = (),
    limits: Sequence[str] = (),
    options: Sequence[str] = (),
    ordinary_index_only: bool = False,
) -> str:
    """The pinned, hashed closure of `pins`, within `limits`, for all supported Pythons where `marker` holds."""
    further = {"UV_FIND_LINKS", "UV_INDEX", "UV_EXTRA_INDEX_URL"} if ordinary_index_only else set()
    env = {name: value for name, value in os.environ.items() if name not in further}
    uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        (project / "wanted.in").write_text(pins)
        (project / "limits.in").write_text("\n".join(limits))
        # uv takes the platforms of a universal resolution from a project file only.
        (project / "pyproject.toml").write_text(
            '[project]\nname = "locked"\nversion = "0"\nrequires-python = ">=3.11"\n'
            f'[tool.uv]\nenvironments = ["({marker}) and {PYTHONS}"]\n'
        )
        command = [uv, "pip", "compile", "wanted.in", "--quiet", "--universal", "--python-version", "3.11"]
        command += ["--generate-hashes", "--no-header", "--no-annotate", "--output-file", "lock.txt"]
        command += ["--constraint", "limits.in", *options]
        for name in left_out:
            command += ["--no-emit-package", name]
        subprocess.run(command, cwd=project, env=env, check=True)
        return (project / "lock.txt").read_text()


def write(name: str, tried: str, lock: str) -> None:
    body = "\n".join(line for line in lock.splitlines() if not line.startswith(("#", "--")))
    if re.search(r"://", body):
        sys.exit(f"{name}: it would contain the address of an index")
    head = f"# {name}: written by lock.py. {tried}\n"
    (HERE / f"{name}.txt").write_text(head + body + "\n")
    print(f"{name}.txt: {len(re.findall('^[a-z]', body, re.M))} packages")


if __name__ == "__main__":
    main()

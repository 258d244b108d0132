"""The starter as a file for llama.cpp, for an application that answers before the engine pack, which would write it,
is installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from sapo_desktop.models.describe import describe  # noqa: E402
from sapo_desktop.models.fit.ways import weights_of  # noqa: E402

_QUANTISE = (
    "import sys; from pathlib import Path; from sapo_desktop.engines.llama_cpp.service import quantise; "
    "quantise(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], 2)"
)


def write(resources: Path, python: Path | str) -> None:
    """Write it next to the starter's folder. Needs torch here, and llama.cpp where `python` is."""
    from sapo_desktop.engines.gguf.folder import write_folder

    folder = resources / "starter"
    weights = weights_of(describe(folder)).lower()
    plain = resources / "starter.plain"
    write_folder(folder, plain, "F16")
    file = resources / f"starter-{weights}.gguf"
    subprocess.run([python, "-c", _QUANTISE, plain, file, weights], check=True, stderr=subprocess.DEVNULL)
    plain.unlink()

"""llama.cpp's wheel on processors of the last ten years and more, as qemu plays them: which variant is loaded, and that
the starter answers as it does here."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engines.llama_cpp.cpp import needs_llama

ROOT = Path(__file__).resolve().parents[2]
QEMU = "qemu-x86_64"
PROCESSORS = {"Nehalem": "sse42", "Haswell": "haswell"}
"""Of 2008 and 2013, and what of the wheel is to be loaded there. qemu plays no AVX-512, and no VNNI."""
QUESTIONS = (
    "What is 17 + 25?",
    "What is the greatest common divisor of 12 and 18?",
    "How many legs do 3 dogs and 2 spiders have?",
)

pytestmark = [
    needs_llama,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux" or os.uname().machine != "x86_64", reason="for Linux on x86-64"),
]


@pytest.fixture(scope="module")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The starter as llama.cpp reads it, in exact numbers: rounding differs between processors."""
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not built here")
    from sapo_desktop.engines.gguf.folder import write_folder

    file = tmp_path_factory.mktemp("starter") / "starter.gguf"
    write_folder(ROOT / "resources" / "starter", file, "F32")
    return file


def answers(starter: Path, *player: str, **env: str) -> tuple[list[str], list[str]]:
    """Variants that were loaded, and the answers."""
    line = [*player, sys.executable, "-m", "tests.packaging.masked", str(starter), "exact", json.dumps(QUESTIONS)]
    # A kernel that someone chose for numpy on this processor is not for the one that is played.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=300, env={**inherited, **env})
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    return said["loaded"], said["answers"]


def test_older_processors_answer_the_same_by_their_own_variant(starter: Path) -> None:
    if shutil.which(QEMU) is None:
        pytest.skip("apt-get install qemu-user")
    _, here = answers(starter)
    assert all(here)
    for processor, variant in PROCESSORS.items():
        assert answers(starter, QEMU, "-cpu", processor) == ([variant], here), processor


def test_without_the_best_variant_the_next_one_answers_the_same(starter: Path, tmp_path: Path) -> None:
    (best,), here = answers(starter)
    found = importlib.util.find_spec("llama_cpp")
    assert found is not None and found.origin is not None
    for library in (Path(found.origin).parent / "lib").iterdir():
        if library.name != f"libggml-cpu-{best}.so":
            (tmp_path / library.name).symlink_to(library)
    (next_best,), same = answers(starter, LLAMA_CPP_LIB_PATH=str(tmp_path))
    assert next_best != best and same == here

import io
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from installers import llama
from installers.environment import environment_python
from installers.llama import build_flags, find_wheel, provide, wheel_folders
from installers.progress import Progress


def wheel_name(machine: str) -> str:
    system = {"linux": "linux", "darwin": "macosx_14_0", "win32": "win"}[sys.platform]
    return f"llama_cpp_python-{llama.VERSION}-py3-none-{system}_{machine}.whl"


def test_a_cached_wheel_is_found_again_and_one_for_another_machine_is_not(tmp_path: Path) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    for folder in (own, other):
        folder.mkdir()
    (other / wheel_name("riscv64")).write_text("")
    assert find_wheel([other, own, tmp_path / "missing"]) is None
    (own / wheel_name(platform.machine().lower())).write_text("")
    found = find_wheel([other, own])
    assert found is not None and found.parent == own


def test_the_build_is_portable_and_without_openmp() -> None:
    for machine in ("x86_64", "AMD64", "arm64"):
        flags = build_flags(machine)
        assert {"-DGGML_NATIVE=OFF", "-DGGML_OPENMP=OFF"} < set(flags)
        assert ("-DGGML_CPU_ALL_VARIANTS=ON" in flags) == (machine != "arm64")


def test_a_wheel_of_another_build_is_not_taken(tmp_path: Path) -> None:
    folders = wheel_folders(tmp_path)[:1]  # the other one is the cache of the user who runs this
    old = tmp_path / ".cache" / "wheels"
    old.mkdir(parents=True)
    (old / wheel_name(platform.machine().lower())).write_text("")
    assert old in {folder.parent for folder in folders} and find_wheel(folders) is None


@pytest.mark.parametrize(("folder", "taken"), [("wheels", False), ("wheels/llama-2", True), ("mine", True)])
def test_only_our_own_build_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, taken: bool
) -> None:
    installed = tmp_path / f"llama_cpp_python-{llama.VERSION}.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text(f"Metadata-Version: 2.1\nName: llama-cpp-python\nVersion: {llama.VERSION}\n")
    (installed / "direct_url.json").write_text(f'{{"url": "file:///{folder}/{wheel_name("x86_64")}"}}')
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert llama._installed(Path(sys.executable)) is taken


@pytest.mark.allowed_skip("cmake comes with the compiler that llama.cpp is built with")
@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
def test_the_build_leaves_out_what_we_do_not_ship_and_loads_what_it_does(tmp_path: Path) -> None:
    variants = tmp_path / "vendor" / "llama.cpp" / "ggml" / "src" / "CMakeLists.txt"
    variants.parent.mkdir(parents=True)
    variants.write_text(
        "ggml_add_cpu_backend_variant(zen4 SSE42 AVX)\nggml_add_cpu_backend_variant(haswell SSE42 AVX)\n"
    )
    kernels = variants.parent / "ggml-cpu" / "simd-mappings.h"
    kernels.parent.mkdir()
    kernels.write_text("#define GGML_F32_STEP 64\n#define GGML_F16_STEP 128\n#define GGML_F16_STEP 64\n")
    whole = tmp_path / "vendor" / "llama.cpp" / "CMakeLists.txt"
    whole.write_text("if (LLAMA_BUILD_COMMON)\n    add_subdirectory(common) # [a]; b\nendif()\n")
    library = tmp_path / "llama_cpp" / "llama_cpp.py"
    library.parent.mkdir()
    library.write_text("import os\n")
    for _ in range(2):
        subprocess.run(["cmake", "-P", Path(llama.__file__).with_name("llama_build.cmake")], cwd=tmp_path, check=True)
    assert variants.read_text() == "\nggml_add_cpu_backend_variant(haswell SSE42 AVX)\n"
    assert kernels.read_text() == "#define GGML_F32_STEP 32\n#define GGML_F16_STEP 128\n#define GGML_F16_STEP 32\n"
    assert whole.read_text() == "if (FALSE)\n    add_subdirectory(common) # [a]; b\nendif()\n"
    assert library.read_text().count("ggml_backend_load_all_from_path") == 1
    compile(library.read_text(), "llama_cpp.py", "exec")


def test_without_a_compiler_it_is_left_out_with_a_plain_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = environment_python(tmp_path)
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    monkeypatch.setattr(llama, "_installed", lambda _python: False)
    monkeypatch.setattr(llama, "wheel_folders", lambda _root: [])
    monkeypatch.setattr(llama.shutil, "which", lambda _program: None)
    out = io.StringIO()
    assert provide(tmp_path, out) is False
    assert "No C++ compiler was found" in out.getvalue() and "bootstrap.py llama" in out.getvalue()


def test_a_build_that_fails_leaves_llama_out_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = environment_python(tmp_path)
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho 'CMAKE_CXX_COMPILER not set'\nexit 1\n")
    python.chmod(0o755)
    monkeypatch.setattr(llama, "wheel_folders", lambda _root: [])
    monkeypatch.setattr(llama.shutil, "which", lambda program: program if program == "c++" else None)
    out = io.StringIO()
    assert provide(tmp_path, out) is False
    assert "everything else works without it" in out.getvalue() and "compiler" in out.getvalue()


BUILDS = """#!{python}
import pathlib, sys
if "wheel" in sys.argv:
    words = sys.argv
    assert "--no-build-isolation" in words and "--require-hashes" in words
    folder = pathlib.Path(words[words.index("--wheel-dir") + 1])
    assert (folder / "tools").is_dir(), "its tools come first, checked by hash"
    (folder / "{wheel}").touch()
elif "--target" in sys.argv:
    assert "--require-hashes" in sys.argv and sys.argv[-1].endswith("build.txt")
    pathlib.Path(sys.argv[sys.argv.index("--target") + 1]).mkdir()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a script stands in for Python")
def test_it_is_built_by_locked_tools_and_kept_where_it_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "python"
    python.write_text(BUILDS.format(python=sys.executable, wheel=wheel_name(platform.machine().lower())))
    python.chmod(0o755)
    (tmp_path / ".cache").mkdir()
    (tmp_path / "file").touch()
    monkeypatch.setattr(llama, "wheel_folders", lambda root: [root / ".cache" / "wheels", tmp_path / "file" / "cache"])
    monkeypatch.setattr(llama.shutil, "which", lambda program: program if program == "c++" else None)
    out = io.StringIO()
    built = llama._build(tmp_path, python, Progress(out, 1, tmp_path / "log"))
    assert built is not None and built.parent == tmp_path / ".cache" / "wheels"
    assert "Other clones will build it again" in out.getvalue()

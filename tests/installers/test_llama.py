from __future__ import annotations

import io
import platform
import sys
from pathlib import Path

import pytest

from installers import llama
from installers.environment import environment_python
from installers.llama import build_flags, find_wheel, provide


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
        assert ("-DGGML_AVX2=ON" in flags) == (machine != "arm64")


def test_without_a_compiler_it_is_left_out_with_a_plain_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = environment_python(tmp_path)
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    monkeypatch.setattr(llama, "_installed", lambda _python: False)
    monkeypatch.setattr(llama, "wheel_folders", lambda _root: [])
    monkeypatch.setattr(llama.shutil, "which", lambda _program: None)
    out = io.StringIO()
    assert provide(tmp_path, out) is False
    assert "No C++ compiler was found" in out.getvalue()


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

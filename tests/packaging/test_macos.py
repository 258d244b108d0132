"""The application's tree for macOS, which no Mac has seen: its property list, and the order in which it is signed."""

import plistlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sapo_desktop.swarm.addresses.lan import SERVICE

ROOT = Path(__file__).resolve().parents[2]
MACOS = ROOT / "packaging" / "macos"
PROGRAM = b"\xcf\xfa\xed\xfe" + bytes(60)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mac")
    payload = folder / "payload"
    window = "python/lib/python3.11/site-packages/PySide6/Qt/lib/QtGui.framework"
    for name, content in {
        "python/bin/python3.11": PROGRAM,
        f"{window}/Versions/A/QtGui": PROGRAM,
        "python/lib/python3.11/site-packages/numpy/_core.so": PROGRAM,
        "python/lib/python3.11/os.py": b"import sys\n",
        "app/payload.json": b"{}",
    }.items():
        (payload / name).parent.mkdir(parents=True, exist_ok=True)
        (payload / name).write_bytes(content)
    (payload / window / "QtGui").symlink_to("Versions/A/QtGui")
    code = (
        "import sys; from pathlib import Path; sys.path[:0] = sys.argv[1:2]; import package; "
        "from PySide6.QtGui import QGuiApplication; app = QGuiApplication(['-platform', 'offscreen']); "
        "made = package.make_app(Path(sys.argv[2]), Path(sys.argv[3])); "
        "print(*(path.relative_to(made) for path in package.to_sign(made)), sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(MACOS), str(payload), str(folder)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    (folder / "order").write_text(done.stdout)
    return folder / "SAPO Desktop.app"


def test_the_property_list_says_what_macos_asks(app: Path) -> None:
    info = plistlib.loads((app / "Contents" / "Info.plist").read_bytes())
    assert info["CFBundlePackageType"] == "APPL" and info["CFBundleExecutable"] == "sapo-desktop"
    assert info["CFBundleURLTypes"][0]["CFBundleURLSchemes"] == ["sapo"]
    assert set(info["CFBundleIdentifier"]) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-")
    icon = app / "Contents" / "Resources" / info["CFBundleIconFile"]
    assert icon.read_bytes()[:4] == b"icns"
    assert [f"{kind}.local." for kind in info["NSBonjourServices"]] == [SERVICE]
    rights = plistlib.loads((MACOS / "entitlements.plist").read_bytes())
    assert rights == {"com.apple.security.cs.disable-library-validation": True}


def test_the_program_finds_python_where_the_tree_has_it(app: Path) -> None:
    place = re.search(r'#define PYTHON "/(.+)"', (MACOS / "launcher.c").read_text())
    assert place and (app / "Contents" / place[1] / "bin" / "python3.11").exists()


def test_what_lies_inside_is_signed_before_what_holds_it(app: Path) -> None:
    order = (app.parent / "order").read_text().splitlines()
    library = next(path for path in order if path.endswith("Versions/A/QtGui"))
    framework = next(path for path in order if path.endswith(".framework"))
    assert order.index(library) < order.index(framework) < order.index(".") == len(order) - 1
    assert not [path for path in order if path.endswith((".py", ".framework/QtGui", "payload.json"))]
    assert len([path for path in order if path.endswith(("python3.11", "_core.so"))]) == 2

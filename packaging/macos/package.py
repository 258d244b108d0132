"""Packs an application's folder for macOS: `python packaging/macos/package.py PAYLOAD OUT`.

    SAPO Desktop.app              on any system: the tree, its Info.plist and icon
    sapo-desktop-VERSION.dmg      on macOS only: the program is compiled (clang), everything is signed, and packed

The folder is the one of `packaging/payload/build.py --for macos`. `--identity` names a Developer ID of the keychain
to sign with; without it signatures are ad hoc, and macOS opens the application only after it was allowed in the system
settings. `--notarise PROFILE` has Apple check the image, with credentials that `xcrun notarytool store-credentials`
keeps under that name.
"""

from __future__ import annotations

import argparse
import plistlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT), str(HERE.parent)]

import icons  # noqa: E402
from PySide6.QtGui import QGuiApplication  # noqa: E402

from sapo_desktop import __version__  # noqa: E402

NAME = "SAPO Desktop"
PROGRAM = "sapo-desktop"
OLDEST = "13.0"
"""The oldest macOS that the window's library supports."""
MACH_O = (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\xca\xfe\xba\xbf")
INFO: dict[str, object] = {
    "CFBundleIdentifier": "org.sapo-desktop.SapoDesktop",
    "CFBundleName": NAME,
    "CFBundleDisplayName": NAME,
    "CFBundleExecutable": PROGRAM,
    "CFBundleIconFile": f"{PROGRAM}.icns",
    "CFBundlePackageType": "APPL",
    "CFBundleInfoDictionaryVersion": "6.0",
    "CFBundleShortVersionString": __version__,
    "CFBundleVersion": __version__,
    "CFBundleDevelopmentRegion": "en",
    "CFBundleLocalizations": ["en", "de"],
    "CFBundleURLTypes": [{"CFBundleURLName": "Invites to private swarms", "CFBundleURLSchemes": ["sapo"]}],
    "LSApplicationCategoryType": "public.app-category.education",
    "LSMinimumSystemVersion": OLDEST,
    # Shown in the Dock while it runs, not in the menu bar alone, since people open it for its window.
    "LSUIElement": False,
    "NSHighResolutionCapable": True,
    "NSLocalNetworkUsageDescription": "Needed to find nodes on your own network.",
    "NSBonjourServices": ["_sapo._tcp"],
    "NSHumanReadableCopyright": "SAPO Desktop contributors, Apache-2.0",
}


def make_app(payload: Path, out: Path) -> Path:
    """The application's tree in `out`, without its program, which only a Mac can build."""
    app = out / f"{NAME}.app"
    shutil.rmtree(app, ignore_errors=True)
    contents = app / "Contents"
    (contents / "MacOS").mkdir(parents=True)
    shutil.copytree(payload, contents / "Resources" / "payload", symlinks=True)
    images = {kind: icons.png(size) for size, kind in icons.ICNS.items()}
    (contents / "Resources" / f"{PROGRAM}.icns").write_bytes(icons.icns(images))
    (contents / "Info.plist").write_bytes(plistlib.dumps(INFO))
    (contents / "PkgInfo").write_text("APPL????")
    return app


def compile_program(app: Path) -> None:
    """The program that starts it, compiled from launcher.c."""
    program = app / "Contents" / "MacOS" / PROGRAM
    flags = ["-O2", "-Wall", "-Werror", "-arch", "arm64", f"-mmacosx-version-min={OLDEST}"]
    subprocess.run(["clang", *flags, "-o", str(program), str(HERE / "launcher.c")], check=True)


def to_sign(app: Path) -> list[Path]:
    """Everything that has its own signature, innermost first: programs and libraries, then the frameworks around them,
    then the application."""
    files = [path for path in app.rglob("*") if path.is_file() and not path.is_symlink() and _is_program(path)]
    frameworks = [path for path in app.rglob("*.framework") if path.is_dir() and not path.is_symlink()]
    return [*sorted([*files, *frameworks], key=lambda path: (-len(path.parts), path)), app]


def _is_program(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) in MACH_O


def sign(app: Path, identity: str) -> None:
    """Sign everything for Apple's hardened runtime; identity `-` is ad hoc."""
    entitled = {app, app / "Contents" / "Resources" / "payload" / "python" / "bin" / "python3.11"}
    line = ["codesign", "--force", "--options", "runtime", "--sign", identity]
    line += [] if identity == "-" else ["--timestamp"]
    for path in to_sign(app):
        rights = ["--entitlements", str(HERE / "entitlements.plist")] if path in entitled else []
        subprocess.run([*line, *rights, str(path)], check=True)
    subprocess.run(["codesign", "--verify", "--deep", "--strict", str(app)], check=True)


def make_image(app: Path, out: Path) -> Path:
    """The disk image, with the folder that the application is dragged to."""
    image = out / f"{PROGRAM}-{__version__}.dmg"
    with tempfile.TemporaryDirectory(dir=out) as name:
        stage = Path(name)
        app.rename(stage / app.name)
        (stage / "Applications").symlink_to("/Applications")
        made = ["hdiutil", "create", "-volname", NAME, "-srcfolder", str(stage), "-format", "ULFO", "-ov", str(image)]
        subprocess.run(made, check=True)
        (stage / app.name).rename(app)
    return image


def notarise(image: Path, profile: str) -> None:
    """Have Apple check it, and attach Apple's ticket."""
    line = ["xcrun", "notarytool", "submit", str(image), "--keychain-profile", profile, "--wait"]
    subprocess.run(line, check=True)
    subprocess.run(["xcrun", "stapler", "staple", str(image)], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Pack an application's folder for macOS.")
    parser.add_argument("payload", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--identity", default="-", help="the signing identity (default: ad hoc)")
    parser.add_argument("--notarise", metavar="PROFILE", help="have Apple check the image")
    given = parser.parse_args()
    out = given.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    _application = QGuiApplication([])
    app = make_app(given.payload.absolute(), out)
    if sys.platform != "darwin":
        print(f"{app}: the tree alone; its program, signatures and image are made on macOS")
        return
    compile_program(app)
    sign(app, given.identity)
    image = make_image(app, out)
    if given.notarise:
        notarise(image, given.notarise)
    print(f"{image}: {image.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()

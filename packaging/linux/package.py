"""Packs an application's folder (packaging/payload/) for Linux: `python packaging/linux/package.py PAYLOAD OUT`.

    sapo-desktop_VERSION_amd64.deb    into /usr/lib/sapo-desktop
    sapo-desktop-VERSION-1.x86_64.rpm the same for Fedora and openSUSE, where rpmbuild is (Debian: apt-get install rpm)
    sapo-desktop-VERSION.run          for one user, without root: a shell script followed by the folder

Times are SOURCE_DATE_EPOCH's or the last commit's, and files are sorted, so the same folder gives the same bytes. Needs
dpkg-deb, tar and xz.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT), str(HERE.parent)]

import icons  # noqa: E402
import times  # noqa: E402
from PySide6.QtGui import QGuiApplication  # noqa: E402

from sapo_desktop import __version__  # noqa: E402
from sapo_desktop.system.desktop.display import LIBRARIES  # noqa: E402

NAME = "sapo-desktop"
METAINFO = "org.sapo_desktop.SapoDesktop.metainfo.xml"
SYSTEM = ("libc6 (>= 2.35)", "libexpat1", "libgcc-s1", "libstdc++6", "zlib1g", *LIBRARIES.split())
SONAMES = (
    *("libc.so.6(GLIBC_2.35)", "libexpat.so.1", "libgcc_s.so.1", "libstdc++.so.6", "libz.so.1", "libEGL.so.1"),
    *("libGL.so.1", "libxkbcommon.so.0", "libfontconfig.so.1", "libglib-2.0.so.0", "libX11.so.6", "libX11-xcb.so.1"),
    *("libxcb-cursor.so.0", "libxcb-icccm.so.4", "libxcb-image.so.0", "libxcb-keysyms.so.1", "libxcb-randr.so.0"),
    *("libxcb-render-util.so.0", "libxcb-shape.so.0", "libxcb-xkb.so.1", "libxkbcommon-x11.so.0"),
    *("libdbus-1.so.3", "libgssapi_krb5.so.2", "libwayland-cursor.so.0", "libwayland-egl.so.1"),
)
"""The same libraries, with names that all distributions with .rpm know."""
CONTROL = """\
Package: {name}
Version: {version}
Architecture: amd64
Maintainer: SAPO Desktop contributors <nobody@localhost>
Section: science
Priority: optional
Installed-Size: {kilobytes}
Depends: {depends}
Description: lend a computer to small language models that learn to reason
 A model that fits the computer answers reasoning questions, has its answers
 marked, learns from them, and gets better while you watch: alone, as it
 starts, or with answers that other computers share as text.
 .
 What learns (PyTorch) is fetched per user when it is wanted.
"""


def write_share(share: Path) -> None:
    """The files that a desktop looks for: menu entry, icons, AppStream description."""
    applications, metainfo = share / "applications", share / "metainfo"
    for folder in (applications, metainfo):
        folder.mkdir(parents=True)
    shutil.copyfile(HERE / f"{NAME}.desktop", applications / f"{NAME}.desktop")
    text = (HERE / METAINFO).read_text().replace("@VERSION@", __version__)
    (metainfo / METAINFO).write_text(text.replace("@DATE@", time.strftime("%Y-%m-%d", time.gmtime(times.epoch()))))
    icons.write_hicolor(share / "icons")


def lay_out(payload: Path, root: Path) -> Path:
    """The tree that a package puts into the system; returns the program's folder in it."""
    program = root / "usr" / "lib" / NAME
    shutil.copytree(payload, program, symlinks=True, copy_function=_link)
    _script(HERE / "uninstall.sh", program / "uninstall")
    write_share(root / "usr" / "share")
    binaries = root / "usr" / "bin"
    binaries.mkdir(parents=True)
    (binaries / NAME).symlink_to(f"../lib/{NAME}/{NAME}")
    (binaries / f"{NAME}-uninstall").symlink_to(f"../lib/{NAME}/uninstall")
    _plain_modes(root)
    return program


def make_deb(payload: Path, out: Path, level: int) -> Path:
    """The package for Debian and Ubuntu."""
    with tempfile.TemporaryDirectory(dir=out) as scratch:
        root = Path(scratch) / "root"
        program = lay_out(payload, root)
        _documents(root / "usr" / "share")
        control = root / "DEBIAN"
        control.mkdir()
        kilobytes = sum(path.lstat().st_size for path in program.rglob("*")) // 1024
        fields = {"name": NAME, "version": __version__, "kilobytes": kilobytes, "depends": ", ".join(SYSTEM)}
        (control / "control").write_text(CONTROL.format(**fields))
        _write_sums(root, control / "md5sums")
        _plain_modes(root)
        times.set_all(root)  # dpkg-deb keeps older times; the files are hard links to the payload's
        packing = ["-Zxz", f"-z{level}"] if level else ["-Znone"]
        deb = out / f"{NAME}_{__version__}_amd64.deb"
        line = ["dpkg-deb", "--root-owner-group", *packing, "--build", str(root), str(deb)]
        env = {**os.environ, "SOURCE_DATE_EPOCH": str(times.epoch())}
        subprocess.run(line, env=env, check=True, stdout=subprocess.DEVNULL)
    return deb


def make_rpm(payload: Path, out: Path, level: int) -> Path | None:
    """The package for Fedora and openSUSE, or None where rpmbuild is missing."""
    if shutil.which("rpmbuild") is None:
        return None
    with tempfile.TemporaryDirectory(dir=out) as scratch:
        root = Path(scratch) / "root"
        lay_out(payload, root)
        times.set_all(root)
        values = {
            "VERSION": __version__,
            "REQUIRES": ", ".join(f"{name}{'' if '(' in name else '()'}(64bit)" for name in SONAMES),
            "PAYLOAD": f"w{level}T2.xzdio" if level else "w.ufdio",
            "TREE": str(root),
        }
        text = (HERE / f"{NAME}.spec").read_text()
        for name, value in values.items():
            text = text.replace(f"@{name}@", value)
        spec = Path(scratch) / f"{NAME}.spec"
        spec.write_text(text)
        line = ["rpmbuild", "-bb", "--quiet", "--target", "x86_64", "--define", f"_topdir {scratch}", str(spec)]
        env = {**os.environ, "SOURCE_DATE_EPOCH": str(times.epoch()), "LC_ALL": "C.UTF-8"}
        subprocess.run(line, env=env, check=True)
        (made,) = Path(scratch, "RPMS", "x86_64").glob("*.rpm")
        return Path(shutil.move(made, out / made.name))


def make_run(payload: Path, out: Path, level: int) -> Path:
    """The file that installs itself for one user."""
    with tempfile.TemporaryDirectory(dir=out) as scratch:
        root = Path(scratch) / "root"
        shutil.copytree(payload, root, symlinks=True, copy_function=_link)
        _script(HERE / "uninstall.sh", root / "uninstall")
        write_share(root / "share")
        _plain_modes(root)
        tar = ["tar", "--sort=name", f"--mtime=@{times.epoch()}", "--owner=0", "--group=0", "--numeric-owner"]
        packed = Path(scratch) / "packed"
        with packed.open("wb") as file:
            packing = subprocess.Popen([*tar, "--format=gnu", "-C", str(root), "-cf", "-", "."], stdout=subprocess.PIPE)
            subprocess.run(["xz", f"-{level}", "-T2", "-c"], stdin=packing.stdout, stdout=file, check=True)
            if packing.wait():
                sys.exit("tar failed")
        content = packed.read_bytes()
        kilobytes = sum(path.lstat().st_size for path in root.rglob("*")) * 21 // 20 // 1024
    text = (HERE / "install.sh").read_text()
    values = {"LINES": text.count("\n"), "SHA256": hashlib.sha256(content).hexdigest(), "KILOBYTES": kilobytes}
    for name, value in values.items():
        text = text.replace(f"@{name}@", str(value))
    run = out / f"{NAME}-{__version__}.run"
    run.write_bytes(text.encode() + content)
    run.chmod(0o755)
    return run


def _link(source: str, target: str) -> None:
    """Hard links instead of copies, since nothing writes into these files."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _script(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)
    target.chmod(0o755)


def _documents(share: Path) -> None:
    """What Debian requires of a package: copyright, changelog, manual pages, and exceptions for its checker."""
    documents, manual, overrides = share / "doc" / NAME, share / "man" / "man1", share / "lintian" / "overrides"
    for folder in (documents, manual, overrides):
        folder.mkdir(parents=True)
    (documents / "copyright").write_text(
        "Copyright 2026 SAPO Desktop contributors. License: Apache-2.0,\n"
        "on Debian systems in /usr/share/common-licenses/Apache-2.0.\n\n"
        f"Of what comes along, each licence is in /usr/lib/{NAME}/licences.\n"
    )
    when = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(times.epoch()))
    entry = f"{NAME} ({__version__}) stable; urgency=medium\n\n  * See CHANGELOG.md.\n\n"
    text = f"{entry} -- SAPO Desktop contributors <nobody@localhost>  {when}\n"
    (documents / "changelog.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    page = gzip.compress((HERE / f"{NAME}.1").read_bytes(), 9, mtime=0)
    for name in (NAME, f"{NAME}-uninstall"):
        (manual / f"{name}.1.gz").write_bytes(page)
    shutil.copyfile(HERE / "lintian-overrides", overrides / NAME)


def _write_sums(root: Path, path: Path) -> None:
    files = sorted(
        file for file in root.rglob("*") if file.is_file() and not file.is_symlink() and file.parent != path.parent
    )
    lines = [f"{hashlib.md5(file.read_bytes()).hexdigest()}  {file.relative_to(root)}\n" for file in files]
    path.write_text("".join(lines))


def _plain_modes(root: Path) -> None:
    for folder in [root, *(path for path in root.rglob("*") if path.is_dir() and not path.is_symlink())]:
        folder.chmod(0o755)


def main() -> None:
    parser = argparse.ArgumentParser(description="Pack an application's folder for Linux.")
    parser.add_argument("payload", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--level", type=int, default=6, help="level of xz: 0 (fast, large) to 9 (default: 6)")
    given = parser.parse_args()
    out = given.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    QGuiApplication([])
    for make in (make_deb, make_rpm, make_run):
        if file := make(given.payload.absolute(), out, given.level):
            print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")
        else:
            print("No .rpm: rpmbuild is missing. On Debian: apt-get install rpm")


if __name__ == "__main__":
    main()

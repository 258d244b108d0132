"""The program's icon in the formats of each system, drawn from resources/icons/sapo.svg: `icons.py FOLDER`.

    sapo-desktop.svg, hicolor/SIZE/apps/sapo-desktop.png   Linux
    sapo-desktop.ico                                       Windows
    sapo-desktop.icns                                      macOS

Both containers hold PNG files, as Windows has read since Vista and macOS since 10.7.
"""

from __future__ import annotations

import os
import shutil
import struct
import sys
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QBuffer, QIODevice, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

SVG = Path(__file__).resolve().parents[1] / "resources" / "icons" / "sapo.svg"
HICOLOR = (16, 32, 48, 64, 128, 256)
ICO = (16, 24, 32, 48, 64, 256)
ICNS = {16: b"icp4", 32: b"icp5", 64: b"icp6", 128: b"ic07", 256: b"ic08", 512: b"ic09", 1024: b"ic10"}


def png(size: int) -> bytes:
    """The icon at `size` by `size` pixels."""
    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(str(SVG)).render(painter)
    painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]  # PySide's stub names bytes
    return bytes(buffer.data().data())


def ico(images: dict[int, bytes]) -> bytes:
    """A Windows icon: a directory of sixteen bytes an image, then the images."""
    head, at = struct.pack("<HHH", 0, 1, len(images)), 6 + 16 * len(images)
    for size, image in images.items():
        head += struct.pack("<BBBBHHII", size % 256, size % 256, 0, 0, 1, 32, len(image), at)
        at += len(image)
    return head + b"".join(images.values())


def icns(images: dict[bytes, bytes]) -> bytes:
    """A macOS icon: chunks of type, length and image."""
    chunks = b"".join(kind + struct.pack(">I", len(image) + 8) + image for kind, image in images.items())
    return b"icns" + struct.pack(">I", len(chunks) + 8) + chunks


def write_hicolor(folder: Path) -> None:
    """Linux's tree below `icons/`."""
    scalable = folder / "hicolor" / "scalable" / "apps"
    scalable.mkdir(parents=True)
    shutil.copyfile(SVG, scalable / "sapo-desktop.svg")
    for size in HICOLOR:
        place = folder / "hicolor" / f"{size}x{size}" / "apps"
        place.mkdir(parents=True)
        (place / "sapo-desktop.png").write_bytes(png(size))


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_hicolor(folder)
    (folder / "sapo-desktop.ico").write_bytes(ico({size: png(size) for size in ICO}))
    (folder / "sapo-desktop.icns").write_bytes(icns({kind: png(size) for size, kind in ICNS.items()}))


if __name__ == "__main__":
    application = QGuiApplication([])
    main(Path(sys.argv[1]))

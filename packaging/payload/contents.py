"""The contents of an application's folder: a list in CycloneDX (JSON), and all licences in one place."""

from __future__ import annotations

import json
import re
import shutil
import sys
from email.parser import HeaderParser
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from sapo_desktop import __version__  # noqa: E402

_TEXTS = re.compile(r"(LICEN[CS]E|COPYING|NOTICE|AUTHORS)", re.IGNORECASE)

FONT = {"type": "data", "name": "Inter", "version": "4.1", "licenses": [{"license": {"id": "OFL-1.1"}}]}
"""In resources/fonts: Latin, Greek and symbols in regular and semi-bold, cut out of the whole with fontTools. Its
feature tnum is cut to the digits, because Inter's own would widen hyphens, too."""


def write_licences(folder: Path, packages: Path) -> None:
    """Copy every licence's text into a folder for each component; `packages`: the application folder's packages."""
    place = folder / "licences"
    place.mkdir()
    shutil.copyfile(ROOT / "LICENSE", place / "SAPO-Desktop")
    shutil.copyfile(ROOT / "resources" / "fonts" / "OFL.txt", place / FONT["name"])
    for info in sorted(packages.glob("*.dist-info")):
        for text in sorted(path for path in info.rglob("*") if path.is_file() and _TEXTS.search(path.name)):
            there = place / info.name.removesuffix(".dist-info")
            there.mkdir(exist_ok=True)
            shutil.copyfile(text, there / text.name)
    notices = folder / "python" / "notices"
    for component in sorted(notices.iterdir()):
        component.rename(place / component.name)
    notices.rmdir()


def write_sbom(folder: Path, packages: Path) -> None:
    """The list of contents, without serial number and time, so that equal contents give equal lists."""
    components = [FONT, *(_of_wheel(info) for info in sorted(packages.glob("*.dist-info")))]
    for kind in ("debian", "cpython"):
        components += [_of_notice(place.name) for place in sorted((folder / "licences").glob(f"{kind}_*"))]
    sbom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "name": "sapo-desktop",
                "version": __version__,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": components,
    }
    (folder / "sbom.json").write_text(json.dumps(sbom, indent=1) + "\n")


def _of_wheel(info: Path) -> dict[str, object]:
    said = HeaderParser().parsestr((info / "METADATA").read_text(encoding="utf-8", errors="replace"))
    name, version = said["Name"], said["Version"]
    licence = said["License-Expression"] or next(
        (line.rpartition(" :: ")[2] for line in said.get_all("Classifier", []) if line.startswith("License :: ")), ""
    )
    purl = f"pkg:pypi/{re.sub(r'[-_.]+', '-', name).lower()}@{version}"
    found: dict[str, object] = {"type": "library", "name": name, "version": version, "purl": purl, "bom-ref": purl}
    return found | ({"licenses": [{"license": {"name": licence}}]} if licence else {})


def _of_notice(name: str) -> dict[str, object]:
    """A component that did not come as a wheel: KIND_NAME_VERSION (interpreter.py)."""
    kind, package, version = unquote(name).split("_", 2)
    if kind == "debian":
        purl = f"pkg:deb/debian/{package}@{version}?arch=amd64&distro=debian-12"
    else:
        purl = f"pkg:generic/{package}@{version}"
    return {"type": "library", "name": package, "version": version, "purl": purl, "bom-ref": purl}

"""Writes docs/data/schema.json: JSON Schema of the records that docs/data/ and `history --rollouts` consist of.

python packaging/schema.py
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from sapo_desktop.lab.folder import Manifest, Score  # noqa: E402
from sapo_desktop.lab.node import Played  # noqa: E402
from sapo_desktop.worker.control.messages.rollouts import Rollout  # noqa: E402
from tests.bench.figure import Figure  # noqa: E402

FILE = ROOT / "docs" / "data" / "schema.json"


def schema() -> str:
    """A rollout, the contents of a lab arm's folder, and a figure."""
    records = (Rollout, Manifest, Played, Score, Figure)
    _, components = msgspec.json.schema_components(records, ref_template="#/$defs/{name}")
    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": components}
    return json.dumps(whole, indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    FILE.write_text(schema(), encoding="utf-8")

"""Marks for tests that need something which not every checkout has yet."""

from __future__ import annotations

from pathlib import Path

import pytest

_STARTER = Path(__file__).resolve().parents[1] / "resources" / "starter" / "manifest.json"

STARTER = [
    pytest.mark.allowed_skip("the starter is still being made (docs/NOTES.md)"),
    pytest.mark.skipif(not _STARTER.is_file(), reason="the starter is still being made (docs/NOTES.md)"),
]
"""For `pytestmark` or, unpacked, for one parameter set."""

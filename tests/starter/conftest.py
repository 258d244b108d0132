"""Puts the priming scripts' folder on the path, as when they are run as files."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "packaging" / "starter"))

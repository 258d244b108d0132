"""The priming scripts are run as files: their folder goes on the path as it does then."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "packaging" / "starter"))

"""`python -m sapo_desktop`: the same as the console script `sapo-desktop`."""

from __future__ import annotations

import sys

from sapo_desktop.cli import main

if __name__ == "__main__":
    sys.exit(main())

"""The scripts of packaging/, as modules for tests."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = tuple(str(ROOT / "packaging" / name) for name in ("", "payload", "linux"))


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Lets `import launcher` and its neighbours find them; afterwards nobody else does."""
    before = set(sys.modules)
    for folder in FOLDERS:
        monkeypatch.syspath_prepend(folder)
    yield
    for name, module in list(sys.modules.items()):
        if name not in before and str(getattr(module, "__file__", "")).startswith(FOLDERS):
            del sys.modules[name]

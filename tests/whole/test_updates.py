"""A worker of a build with a release address looks for updates itself, informs a command, and asks nothing in silo."""

import json
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sapo_desktop.core.updates.manifest import NAME, SIGNATURE_NAME
from tests.core.updates.signing import public, served
from tests.whole.nodes import sapo

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
WORKER = """
import sys
from pathlib import Path
from sapo_desktop.worker import main
from sapo_desktop.worker.hosts import updates as looker
resource = looker.resource
looker.resource = lambda name: Path(sys.argv[1]) if name == "updates.toml" else resource(name)
looker.LOOK_SECONDS = 0.2
sys.exit(main.main(["--data", sys.argv[2], "--idle"]))
"""


def standing(data: Path, *words: str) -> dict[str, object]:
    done = sapo(data, "updates", *words, "--json", check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return lines[0] if lines else {"said": done.stderr}


def test_a_node_looks_once_and_never_in_silo(tmp_path: Path) -> None:
    data, asked = tmp_path / "node", list[str]()
    today = datetime.now(UTC).date()
    build = tmp_path / "updates.toml"
    with served(tmp_path / "site", asked, version="9.9.9", date=today, expires=today + timedelta(days=1)) as address:
        build.write_text(f'address = "{address}"\nkeys = ["{public(1)}"]\n')
        sapo(data, "settings", "set", "lan=off")
        worker = subprocess.Popen([sys.executable, "-c", WORKER, str(build), str(data)], stderr=subprocess.PIPE)
        try:
            ended = time.monotonic() + 200
            while sapo(data, "status", check=False).returncode:
                assert worker.poll() is None and time.monotonic() < ended
            assert asked == [] and standing(data)["state"] == "off"  # a new node is in silo
            assert "in silo" in str(standing(data, "check")["said"]) and asked == []
            sapo(data, "silo", "off")
            while (found := standing(data))["state"] != "urgent":
                assert worker.poll() is None and time.monotonic() < ended, found
            assert (found["version"], asked) == ("9.9.9", [f"/{NAME}", f"/{SIGNATURE_NAME}"])
            assert standing(data, "check")["state"] == "urgent" and len(asked) == 4
            sapo(data, "silo", "on")
            assert standing(data)["state"] == "urgent" and "in silo" in str(standing(data, "check")["said"])
            assert len(asked) == 4
        finally:
            sapo(data, "quit", check=False)
            worker.communicate(timeout=60)

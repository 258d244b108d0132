"""The systemd unit starts an existing command, and contains no secret."""

import configparser
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from sapo_desktop.commands.line.parser import build_parser

UNIT = Path(__file__).parents[2] / "packaging" / "linux" / "sapo-desktop-relay.service"


def test_the_unit_starts_a_relay() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment]
    unit.read_string(UNIT.read_text())
    service = unit["Service"]
    line = (
        service["ExecStart"].replace("${STATE_DIRECTORY}", "/var/lib/sapo-relay").replace("$RELAY", "--listen [::]:1")
    )
    python, module, package, *words = shlex.split(line)
    assert python.endswith("/python") and (module, package) == ("-m", "sapo_desktop")
    given = build_parser().parse_args(words)
    assert (given.listen, given.data) == ("[::]:1", "/var/lib/sapo-relay")
    assert service["Type"] == "notify" and service["NotifyAccess"] == "all", "the relay is a child of the command"
    assert {"MemoryMax", "SystemCallFilter", "WatchdogSec"} <= set(service)
    assert service["StateDirectory"] == "sapo-relay" and "HUP" in service["ExecReload"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="asks systemd")
@pytest.mark.allowed_skip("systemd is not on every system")
def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    text = UNIT.read_text().replace("/opt/sapo-desktop/.venv/bin/python", "/bin/true").replace("sapo-relay", "root")
    copy = tmp_path / UNIT.name
    copy.write_text(text)
    asked = subprocess.run(["systemd-analyze", "verify", copy], capture_output=True, text=True, check=False)
    assert asked.returncode == 0 and UNIT.name not in asked.stderr, asked.stderr

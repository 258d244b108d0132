"""The systemd unit starts a command that there is, and nothing secret stands in it."""

import configparser
import shlex
from pathlib import Path

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
    assert service["StateDirectory"] == "sapo-relay" and "HUP" in service["ExecReload"]

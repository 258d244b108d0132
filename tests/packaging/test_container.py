"""The relay's compose file, alarms and dashboard use a command and metrics that exist."""

import json
import re
import shlex
import shutil
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from sapo_desktop.commands.line.parser import build_parser
from sapo_desktop.swarm.backbone.federation import Federation
from sapo_desktop.swarm.clock import Now
from sapo_desktop.worker.relaying import metrics as metrics_module
from tests.swarm.mesh import Peer
from tests.swarm.peers import NETWORK

CONTAINER = Path(__file__).resolve().parents[2] / "packaging" / "container"
SETTINGS = {
    "RELAY_HOST": "relay.example",
    "SAPO_PASSPHRASE": "at least eight",
    "RELAY_OPTIONS": "--backbone tls://relay.example:4222 --backbone-credentials /etc/sapo-relay/nkey",
}
FROM_PROMETHEUS = {"up", "ALERTS", "process_resident_memory_bytes", "process_cpu_seconds_total"}
FROM_PROMETHEUS |= {"process_open_fds", "process_max_fds"}


def compose() -> dict[str, Any]:
    def value(found: re.Match[str]) -> str:
        name, _, default = found[1].partition(":-")
        return SETTINGS.get(name.partition(":?")[0], default)

    text = (CONTAINER / "compose.yml").read_text(encoding="utf-8")
    read: dict[str, Any] = yaml.safe_load(re.sub(r"\$\{([^}]*)\}", value, text))
    return read


def test_the_relay_is_started_with_options_that_there_are() -> None:
    services = compose()["services"]
    given = build_parser().parse_args(["relay", *shlex.split(services["relay"]["command"])])
    assert given.announce == "wss://relay.example:8765" and given.backbone == "tls://relay.example:4222"
    assert given.cert == services["nats"]["environment"]["NATS_CERTIFICATE"]
    mounted = [volume.split(":")[1] for volume in services["relay"]["volumes"]]
    for file in (given.cert, given.key, given.bans, given.backbone_credentials):
        assert any(file.startswith(f"{place}/") for place in mounted), file


def test_mounted_files_and_volumes_are_there() -> None:
    said = compose()
    for service in said["services"].values():
        for volume in service["volumes"]:
            source = volume.split(":")[0]
            assert (CONTAINER / source).exists() if source.startswith(".") else source in said["volumes"], source


def test_alarms_and_dashboard_ask_for_metrics_that_a_relay_has(monkeypatch: pytest.MonkeyPatch) -> None:
    relay = Peer(1)
    federation = Federation(relay.exchange, relay.signer, NETWORK, Now(time.monotonic(), time.time()))
    info = SimpleNamespace(state="connected", connects=1, relays=1, groups_in=0, groups_out=0, lost_in=0, lost_out=0)
    monkeypatch.setattr(metrics_module, "backbone_info", lambda _: info)
    network: Any = SimpleNamespace(exchange=relay.exchange, waiting=lambda _: 0, load=None)
    backbone: Any = SimpleNamespace(federation=federation)
    linked: Any = SimpleNamespace(network=network)
    there = {
        family.name + ("_total" if family.type == "counter" else "")
        for family in metrics_module.picture(linked, backbone)
    }
    assert "sapo_relay_links" in there
    rules = yaml.safe_load((CONTAINER / "monitoring" / "alarms.yml").read_text(encoding="utf-8"))
    asked = [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    board = json.loads((CONTAINER / "monitoring/grafana/dashboards/relay.json").read_text(encoding="utf-8"))
    asked += [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    named = {
        name for expression in asked for name in re.findall(r"\b(?:sapo|process|up|ALERTS)\w*(?=[{\[ )])", expression)
    }
    assert len(named) > 12 and named - there - FROM_PROMETHEUS == set()


@pytest.mark.skipif(shutil.which("promtool") is None, reason="asks Prometheus")
@pytest.mark.allowed_skip("Prometheus is not on every system")
def test_alarms_ring_when_they_should() -> None:
    tried = subprocess.run(
        ["promtool", "test", "rules", "alarms_test.yml"], cwd=CONTAINER / "monitoring", capture_output=True, text=True
    )
    assert tried.returncode == 0, tried.stdout + tried.stderr

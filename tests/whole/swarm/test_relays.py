"""Relays as an operator runs them: processes that meet over NATS, are told to read their files again, and drain."""

import secrets
import signal
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from sapo_desktop.swarm.sockets.certificate import self_signed
from tests.swarm.backbone.servers import Server, free_port, running
from tests.whole.programs import Program, address, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

SHORT = ["--set", "questions=4", "--set", "validate_every=0", "--set", "low_priority=off", "--curriculum", "off"]


def figure(port: int, name: str) -> float:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        for line in answer.read().decode().splitlines():
            if line.startswith(f"{name} "):
                return float(line.rpartition(" ")[2])
    return 0.0


def test_nodes_at_two_relays_learn_from_each_other_and_operators_are_obeyed(
    start: Callable[..., Program], tmp_path: Path
) -> None:
    password = secrets.token_hex(8)
    config = f'authorization {{ users = [{{user: "relay", password: "{password}"}}] }}\nmax_payload: 65536'
    server = Server(tmp_path, config=config)
    credentials, bans, tls, port = tmp_path / "credentials", tmp_path / "bans", tmp_path / "tls", free_port()
    credentials.write_text(f"relay:{password}\n")
    bans.write_text("# nobody yet\n")
    tls.mkdir()
    certificate, key = self_signed(tls)
    common = ["--backbone", server.url, "--backbone-credentials", str(credentials)]
    own = ["--cert", str(certificate), "--key", str(key), "--bans", str(bans), "--metrics", str(port)]
    with running(server):
        a = start("relay-a", "relay", "--listen", "127.0.0.1:0", *common, *own)
        b = start("relay-b", "relay", "--listen", "127.0.0.1:0", *common)
        alice = start("alice", "run", "--share", "--peer", address(a), "--seed", "1", *SHORT)
        carol = start("carol", "run", "--peer", address(b), "--seed", "2", "--mix", "4/4", *SHORT)
        until(lambda: [event for event in carol.events("round") if event["external_groups"]])
        until(lambda: a.ask("status")["backbone"]["relays"] == 0 and b.ask("status")["backbone"]["relays"] == 1)
        assert b.ask("status")["backbone"]["state"] == "connected"
        assert figure(port, "sapo_relay_backbone_connected") == 1

        # What is wrong changes nothing; then alice is banned, and newcomers are shown another certificate.
        for content, said in (("rubbish", "Not read again"), (alice.ask("status")["swarm"]["key"], "were read again")):
            bans.write_text(content)
            for path in (certificate, key):
                path.unlink()
            self_signed(tls)
            a.process.send_signal(signal.SIGHUP)
            until(lambda said=said: [event for event in a.events("notice") if said in event["text"]])
        until(lambda: figure(port, "sapo_relay_banned_keys") == 1)
        until(lambda: a.ask("status")["swarm"]["links"] == 0)
        dave = start("dave", "run", "--peer", address(a), "--seed", "3", *SHORT)
        until(lambda: a.ask("status")["swarm"]["links"] == 1)
        dave.end()

        # NATS is away: it is said, and nothing else changes.
        server.kill()
        until(lambda: b.ask("status")["backbone"]["state"] == "isolated")
        assert b.ask("status")["swarm"]["links"] == 1
        server.start()
        until(lambda: b.ask("status")["backbone"]["state"] == "connected")

        began = time.monotonic()
        b.process.terminate()
        assert b.process.wait(60) == 0 and time.monotonic() - began < 30
        until(lambda: carol.ask("status")["swarm"]["links"] == 0)
    for log in (tmp_path / "relay-a" / "logs").iterdir():
        text = log.read_text(errors="replace")
        assert password not in text and "nats://" not in text

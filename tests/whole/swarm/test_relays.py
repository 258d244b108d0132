"""Relays as an operator runs them: processes that meet over NATS, read their files again on a signal, and drain."""

import json
import os
import secrets
import signal
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from sapo_desktop.swarm.sockets.certificate import self_signed
from tests.swarm.backbone.servers import Server, free_port, running
from tests.whole.nodes import PATIENCE
from tests.whole.programs import PASSPHRASE, Program, address, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

SHORT = ["--set", "questions=4", "--set", "validate_every=0", "--set", "low_priority=off", "--curriculum", "off"]


def figure(port: int, name: str) -> float:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        for line in answer.read().decode().splitlines():
            if line.startswith(f"{name} "):
                return float(line.rpartition(" ")[2])
    return 0.0


def a_key(relay: Program) -> str:
    """The key of its identity, with which its address ends."""
    return address(relay).rpartition("#")[2]


def test_nodes_at_two_relays_learn_from_each_other_and_operators_are_obeyed(
    start: Callable[..., Program], tmp_path: Path
) -> None:
    password = secrets.token_hex(8)
    config = f'authorization {{ users = [{{user: "relay", password: "{password}"}}] }}\nmax_payload: 65536'
    server = Server(tmp_path, config=config)
    credentials, bans, tls, port = tmp_path / "credentials", tmp_path / "bans", tmp_path / "tls", free_port()
    credentials.write_text(f"relay:{password}\n")
    bans.write_text("# nobody yet\n")
    nobody = tmp_path / "nobody"
    nobody.write_text("")
    tls.mkdir()
    certificate, key = self_signed(tls)
    common = ["--backbone", server.url, "--backbone-credentials", str(credentials)]
    own = ["--cert", str(certificate), "--key", str(key), "--bans", str(bans), "--metrics", str(port)]
    with running(server):
        a = start("relay-a", "relay", "--listen", "127.0.0.1:0", *common, *own)
        follows = ["--bans-from", a_key(a), "--bans", str(nobody)]
        b = start("relay-b", "relay", "--listen", "127.0.0.1:0", *common, *follows)
        alice = start("alice", "run", "--share", "--peer", address(a), "--seed", "1", *SHORT)
        carol = start("carol", "run", "--peer", address(b), "--seed", "2", "--mix", "4/4", *SHORT)
        until(lambda: [event for event in carol.events("round") if event["external_groups"]])
        until(lambda: a.ask("status")["backbone"]["relays"] == 0 and b.ask("status")["backbone"]["relays"] == 1)
        assert b.ask("status")["backbone"]["state"] == "connected"
        assert figure(port, "sapo_relay_backbone_connected") == 1

        # What is wrong changes nothing; then alice is banned, and newcomers are shown another certificate.
        for content, said in (("rubbish", "Not reloaded"), (alice.ask("status")["swarm"]["key"], "Reloaded bans")):
            bans.write_text(content)
            for path in (certificate, key):
                path.unlink()
            self_signed(tls)
            a.process.send_signal(signal.SIGHUP)
            until(lambda said=said: [event for event in a.events("notice") if said in event["text"]])
        until(lambda: figure(port, "sapo_relay_banned_keys") == 1)
        until(lambda: [event for event in b.events("notice") if "their bans. Banned keys: 1" in event["text"]])
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


def answered(port: int, path: str) -> tuple[int, str]:
    """Status and text of what a relay says of itself; 0 where nobody answers yet."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError:
        return 0, ""


def test_an_operator_sees_checks_and_ends_a_relay(start: Callable[..., Program], tmp_path: Path) -> None:
    listens, port = free_port(), free_port()
    words = ["--listen", f"127.0.0.1:{listens}", "--metrics", str(port)]

    def checked(folder: Path, *more: str) -> tuple[int, str]:
        line = [sys.executable, "-m", "sapo_desktop", "relay", "--check", *words, *more, "--data", str(folder)]
        environment = {**os.environ, "SAPO_PASSPHRASE": PASSPHRASE}
        done = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE, check=False, env=environment)
        return done.returncode, done.stdout + done.stderr

    fresh = tmp_path / "fresh"
    assert checked(fresh)[0] == 0 and not fresh.exists(), "nothing is changed by looking"
    assert checked(fresh, "--bans", str(tmp_path / "none"))[0] == 2
    assert checked(fresh, "--peer", "wss://nowhere")[0] == 2
    (tmp_path / "cert.pem").write_text("rubbish")
    assert checked(fresh, "--cert", str(tmp_path / "cert.pem"), "--key", str(tmp_path / "cert.pem"))[0] == 2

    relay = start("relay", "relay", *words, "--log-json", "--log-addresses")
    seen = {until(lambda: answered(port, "readyz")[0])}
    until(lambda: seen.add(answered(port, "readyz")[0]) or 200 in seen)
    assert seen <= {200, 503}
    assert answered(port, "healthz")[0] == 200 and answered(port, "secrets")[0] == 404
    key = a_key(relay)
    assert key not in answered(port, "readyz")[1]
    assert checked(relay.data)[0] == 0, "its own ports are no others'"
    code, said = checked(fresh)
    assert code == 2 and f"Cannot listen at 127.0.0.1:{listens}" in said

    assert relay.ask("status")["swarm"]["key"] == key == relay.ask("identity", "show")["key"]
    checks = {one["name"]: one["state"] for one in relay.lines("doctor") if one["event"] == "check"}
    assert checks["relay"] == "good"
    stranger = ssl.create_default_context()
    stranger.check_hostname, stranger.verify_mode = False, ssl.CERT_NONE
    with connect(f"wss://127.0.0.1:{listens}", ssl=stranger, subprotocols=[Subprotocol("sapo.v1")]) as link:
        link.send(b"rubbish")
        with pytest.raises(ConnectionClosed):
            while True:
                link.recv(timeout=PATIENCE)
    log = relay.data / "logs" / "worker.log"
    until(lambda: "Shut out address 127.0.0.1: handshake" in log.read_text())
    assert {json.loads(line)["level"] for line in log.read_text().splitlines()} >= {"info", "warning"}
    relay.ask("quit")
    assert relay.process.wait(60) == 0 and answered(port, "healthz")[0] == 0

"""What an operator's options become, and what is refused with advice."""

import importlib
import sys
from pathlib import Path

import pytest

from sapo_desktop.core.errors import UsageError
from sapo_desktop.worker.control.messages.swarm import RelayOptions
from sapo_desktop.worker.relaying.joined import backbone_check, check_backbone, read_bans, read_credentials
from tests.swarm.sockets.test_nkey import written_seed


def check(servers: str, credentials: Path | str = "", ca: Path | str = "") -> None:
    options = RelayOptions(listen="", backbone=servers, backbone_credentials=str(credentials), backbone_ca=str(ca))
    check_backbone(options)


def test_a_list_of_bans_may_have_remarks(tmp_path: Path) -> None:
    path = tmp_path / "bans"
    path.write_text(f"# known floods\n{'a' * 64}  # since May\n\n{'0B' * 32}\n")
    assert read_bans(str(path)) == {b"\xaa" * 32, b"\x0b" * 32}
    assert read_bans("") == frozenset()


@pytest.mark.parametrize("line", ["not a key", "ab", "ab" * 33])
def test_a_line_that_is_no_key_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "bans"
    path.write_text(f"{'ab' * 32}  # a flood\n\n{line}\n", encoding="utf-8")
    with pytest.raises(
        UsageError, match=r"Line 3 of .*bans is not a key.*64 hex digits. In a terminal: .* peers --json"
    ):
        read_bans(str(path))
    with pytest.raises(UsageError, match="cannot be read"):
        read_bans(str(tmp_path / "none"))


def test_credentials_come_from_a_file_and_never_go_out_unencrypted(tmp_path: Path) -> None:
    path = tmp_path / "credentials"
    path.write_text("relay-1:pass:word\n")
    check("tls://nats.example", path)
    credentials = read_credentials(str(path))
    assert credentials is not None and (credentials.user, credentials.password) == ("relay-1", "pass:word")
    path.write_text("only-a-token\n")
    credentials = read_credentials(str(path))
    assert credentials is not None and credentials.token == "only-a-token" and "token" not in repr(credentials)
    with pytest.raises(UsageError, match="unencrypted"):
        check("tls://nats.example,nats://nats.example", path)
    check("nats://127.0.0.1", path)
    path.write_text("\n")
    with pytest.raises(UsageError, match="USER:PASSWORD"):
        check("tls://nats.example", path)
    path.write_text(written_seed(b"s" * 32) + "\n")
    check("nats://nats.example", path)
    path.write_text("SUPER\n")
    with pytest.raises(UsageError, match="no seed"):
        check("tls://nats.example", path)


def test_certificates_that_are_none_are_said(tmp_path: Path) -> None:
    path = tmp_path / "ca.pem"
    path.write_text("none")
    with pytest.raises(UsageError, match="no certificates"):
        check("tls://nats.example", ca=path)


def test_without_the_extra_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] in ("nats", "prometheus_client")]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("sapo_desktop.swarm.sockets.backbone", "sapo_desktop.worker.relaying.metrics"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "nats", None)
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    from sapo_desktop.swarm import sockets

    monkeypatch.delattr(sockets, "backbone", raising=False)
    check("")
    with pytest.raises(UsageError, match=r"bootstrap\.py setup relay"):
        check("nats://127.0.0.1")
    relay = importlib.import_module("sapo_desktop.worker.membership.relay")
    with pytest.raises(UsageError, match=r"bootstrap\.py setup relay"):
        relay.metrics_class()


def test_doctor_says_what_to_do_about_the_backbone() -> None:
    assert backbone_check("connected").state == "good"
    refused, away = backbone_check("refused"), backbone_check("isolated")
    assert refused.state == away.state == "limited"
    assert "--backbone-credentials" in refused.advice and "NATS runs" in away.advice

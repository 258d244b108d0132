"""peers and identity: a private swarm, and passphrases."""

from pathlib import Path

import pytest

from sapo_desktop.core.errors import UsageError
from sapo_desktop.worker.control.messages import requests
from sapo_desktop.worker.control.messages.replies import IdentityIs
from sapo_desktop.worker.control.messages.swarm import JoinRequest
from tests.cli.fake_node import FakeDoor
from tests.cli.fake_replies import LINK
from tests.cli.words import Words


def test_a_newcomer_is_let_into_a_private_swarm(run: Words, door: FakeDoor) -> None:
    assert run("identity", "show") == 0
    assert "so one was created" in run.stdout and "ab" * 32 in run.stdout
    assert run("peers", "found") == 0 and "peers admit KEY" in run.stdout
    assert run("peers", "admit", "AB" * 32, "--days", "30", "--json") == 0
    assert run.lines == [{"event": "invite", "link": LINK, "key": "ab" * 32}]
    assert door.node.requests[-1] == requests.AdmitPeer(key="ab" * 32, days=30)
    assert run("peers", "invite") == 0 and run.stdout.splitlines()[0] == LINK
    assert run("peers", "join", LINK, "--json") == 0
    assert run.lines == [{"event": "ok", "text": "This node will join the private swarm."}]


def test_who_asks_to_join_is_listed_admitted_and_refused(run: Words, door: FakeDoor) -> None:
    assert run("peers", "requests") == 0 and "Nobody asks to join" in run.stdout
    one, other = "ab" * 32, "cd" * 32
    door.node.asking = [JoinRequest(key=key, label="anna", seconds=61.0) for key in (one, other)]
    assert run("peers", "requests") == 0 and one in run.stdout and "compare the key" in run.stdout
    assert run("peers", "requests", "--json") == 0
    assert run.lines[0] == {"event": "asking", "key": one, "label": "anna", "seconds": 61.0}
    assert run("peers", "admit", one[:16]) == 0 and door.node.requests[-1] == requests.AdmitPeer(key=one)
    assert run("peers", "admit", one[:8]) == 0
    assert door.node.requests[-1] == requests.AdmitPeer(key=one[:8]), "so few digits can be met: the node refuses them"
    assert run("peers", "refuse", "cdcd") == 0 and door.node.requests[-1] == requests.RefuseJoin(key=other)
    assert run("peers", "refuse", "ef" * 4) == 2


def test_a_passphrase_is_asked_for_where_needed(run: Words, door: FakeDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    door.node.without_keyring = True
    monkeypatch.delenv("SAPO_PASSPHRASE", raising=False)
    monkeypatch.setattr("getpass.getpass", lambda prompt: "correct horse")
    assert run("peers", "found") == 0
    assert "needs a passphrase" in run.stderr
    assert door.node.requests[-1] == requests.CreateSwarm(passphrase="correct horse")
    monkeypatch.setenv("SAPO_PASSPHRASE", "battery staple")
    assert run("peers", "found") == 0 and run.stderr == ""
    assert door.node.requests[-1] == requests.CreateSwarm(passphrase="battery staple")


def typing(monkeypatch: pytest.MonkeyPatch, *words: str) -> list[str]:
    """Type these at the prompts to come; returns the prompts as they are shown."""
    monkeypatch.delenv("SAPO_PASSPHRASE", raising=False)
    shown: list[str] = []
    left = iter(words)

    def getpass(prompt: str) -> str:
        shown.append(prompt)
        return next(left)

    monkeypatch.setattr("getpass.getpass", getpass)
    return shown


def changes(door: FakeDoor) -> list[tuple[str, str | None]]:
    return [(one.action, one.passphrase) for one in door.node.requests if isinstance(one, requests.ChangeIdentity)]


@pytest.mark.parametrize("command", ["protect", "export"])
def test_a_closed_identity_is_opened_before_a_new_passphrase_is_asked_for(
    run: Words, door: FakeDoor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str
) -> None:
    words = ("identity", command, *([str(tmp_path / "me")] if command == "export" else []))
    door.node.identity = IdentityIs(key="", kept="file")
    prompts = typing(monkeypatch, "wrong", "open sesame", "correct horse", "correct horse")
    assert run(*words) == 1
    assert prompts == ["Passphrase: "], "what is refused is not asked for twice first"
    assert run(*words) == 0
    assert prompts[1:] == ["Passphrase: ", "Passphrase: ", "Once more: "]
    assert changes(door) == [("unlock", "wrong"), ("unlock", "open sesame"), (command, "correct horse")]


def test_what_cannot_be_is_said_first(
    run: Words, door: FakeDoor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    prompts = typing(monkeypatch)
    assert run("identity", "export", str(tmp_path / "nowhere" / "me")) == 2 and "no folder" in run.stderr
    door.node.identity = IdentityIs(key="", kept="")
    assert run("identity", "export", str(tmp_path / "me")) == 2 and "no identity yet" in run.stderr
    door.node.fail = UsageError("This folder is a relay's.")
    assert run("identity", "protect") == 2 and "a relay's" in run.stderr
    assert prompts == [] and changes(door) == []


def test_a_short_new_passphrase_is_refused_at_once(run: Words, door: FakeDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    prompts = typing(monkeypatch, "short", "long enough", "but another")
    assert run("identity", "protect") == 2 and "at least 8" in run.stderr
    assert prompts == ["Passphrase: "]
    assert run("identity", "protect") == 2 and "The two passphrases differ" in run.stderr
    assert changes(door) == []


def test_an_open_identity_needs_no_passphrase(run: Words, door: FakeDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    assert typing(monkeypatch) == [] and run("identity", "unlock") == 0
    door.node.identity = IdentityIs(key="", kept="file")
    prompts = typing(monkeypatch, "open sesame")
    assert run("identity", "unlock") == 0 and prompts == ["Passphrase: "]
    assert "ab" * 32 in run.stdout

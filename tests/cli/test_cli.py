"""Exit codes, streams and suggestions of every command, on a node without a process."""

import asyncio
import errno
import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from sapo_desktop.cli import main
from sapo_desktop.commands import doctor
from sapo_desktop.commands.line import context as context_module
from sapo_desktop.commands.line.door import Attached
from sapo_desktop.commands.line.parser import build_parser
from sapo_desktop.commands.relay import _options
from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import ModelError, SapoError, UsageError
from sapo_desktop.core.records import Check
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.why import OnBattery
from sapo_desktop.system import diagnosis
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.presence import sensors
from sapo_desktop.system.secrets.kept_secrets import remote_key
from sapo_desktop.worker.control.lock import FolderLock
from sapo_desktop.worker.control.messages import requests
from sapo_desktop.worker.control.messages.asking import Ask, Asked, TryTask
from sapo_desktop.worker.control.messages.base import Message, Request
from sapo_desktop.worker.control.messages.events import PhaseChanged, Progressed
from sapo_desktop.worker.control.messages.facts import COMPUTING
from sapo_desktop.worker.control.messages.replies import IdentityIs, Sources
from sapo_desktop.worker.control.messages.swarm import JoinRequest, RelayOptions
from tests.cli.fake_node import LINK, FakeDoor, FakeNode, scripted_round

SEED_OF_SEVEN = {"event": "setting", "key": "seed", "value": 7, "default": 0, "changed": True} | dict.fromkeys(
    ("this_run_only", "waiting"), False
)
SEED_OF_SEVEN["unsupported"] = ""


@pytest.fixture
def door() -> FakeDoor:
    """A node that runs already and has played 30 rounds."""
    return FakeDoor(node=FakeNode(rounds=[scripted_round(number) for number in range(1, 31)]), there=True)


class Words:
    """Runs commands on one folder and keeps what they said."""

    def __init__(self, folder: Path, door: FakeDoor, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.door = door
        self._capsys = capsys
        self.stdout = self.stderr = ""

    def __call__(self, *words: str) -> int:
        code = main([*words, "--data", str(self.folder)], self.door)
        self.stdout, self.stderr = self._capsys.readouterr()
        return code

    @property
    def lines(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.stdout.splitlines()]


@pytest.fixture
def computer(monkeypatch: pytest.MonkeyPatch) -> list[Check]:
    """What `doctor` finds about this computer; nothing of it is looked at."""
    found: list[Check] = []
    monkeypatch.setattr("sapo_desktop.commands.doctor.computer_checks", lambda *about: list(found))
    return found


@pytest.fixture
def gone(door: FakeDoor) -> None:
    """No node runs."""
    door.there = False


def test_the_key_of_a_server_is_kept_and_shown_nowhere(run: Words, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[str, str] = {}
    monkeypatch.setattr(remote_key, "keep", kept.__setitem__)
    monkeypatch.setattr("getpass.getpass", lambda prompt: "the-secret ")
    assert run("remote-key", "http://gpu:8000", "--json") == 0
    assert kept == {"http://gpu:8000": "the-secret"}
    assert run.lines == [{"event": "remote-key", "url": "http://gpu:8000", "kept": True}]
    assert "the-secret" not in run.stdout + run.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("stauts",), "Did you mean status?"),
        (("run", "--rounds", "0"), "above zero"),
        (("run", "--rounds", "many"), "whole number"),
        (("run", "--mix", "5/5"), "one of 2/6"),
        (("run", "--silo", "--mix", "4/4"), "--silo means no external groups"),
        (("run", "--set", "seed"), "KEY=VALUE"),
        (("run", "--silo", "--peer", "wss://a:1"), "--silo means no network at all. Leave out --peer"),
        (("run", "--silo", "--share", "--listen", "[::]:1"), "Leave out --listen, --share"),
        (("run", "--silo", "--invite", LINK), "--silo means no network at all. Leave out --invite"),
        (("run", "--invite", LINK, "--peer", "wss://a:1"), "Leave out --peer"),
        (("run", "--invite", "sapo://join?swarm=1"), "64 hex digits"),
        (("run", "--invite", LINK.replace("a.example", "10.0.0.1")), "leads to wss://10.0.0.1:8765"),
        (("peers", "join", LINK.replace("a.example", "[::1]")), "peers join --nearby"),
        (("peers", "join", "hello"), "this one does not"),
        (("peers", "join", f"{LINK}\x1b[2J"), "this one has characters that a link cannot"),
        (("peers", "admit", "ab" * 32, "--days", "0"), "above zero"),
        (("relay", "--listen", "[::]:1", "--invite", LINK, "--swarm", "5a" * 32), "leave out --swarm"),
        (("relay", "--listen", "[::]:1", "--swarm", "5a"), "swarm cannot be '5a'"),
        (("run", "--weighting", "kind"), "guarded"),
        (("run", "--set", "sede=3"), "did you mean seed?"),
        (("run", "--curriculum", "of"), "Did you mean off?"),
        (("pause", "--for", "soon"), "not a duration"),
        (("pause", "--until", "later"), "not a time"),
        (("eval", "--checkpoint", "bset"), "Did you mean best?"),
        (("checkpoints", "back", "last"), "already"),
        (("settings", "set", "seed", "-1"), "whole number"),
        (("settings", "reset"), "--all"),
        (("settings", "get", "seed", "--js"), "settings get takes no '--js'. Did you mean --json?"),
        (("run", "--silo", "--round", "5"), "Did you mean --rounds?"),
        (("--version-of",), "Did you mean --version?"),
        (("settings", "text_size"), "Did you mean: sapo-desktop settings set text_size VALUE?"),
        (("--tray", "run"), "leave out --tray"),
        ((LINK, "settings", "get", "seed"), "leave out the link"),
        (("lab", "paper", "--out", "x", "--mix", ""), "--mix is empty"),
        (("lab", "paper", "--out", "x", "--seeds", ","), "--seeds is empty"),
        (("export", "--format", "gguf", "--to", "caf\udce9"), "'caf\\udce9' is no UTF-8"),
        (("tasks", "add", "caf\udce9.csv"), "is no UTF-8"),
        (("ask", " "), "Write a question"),
        (("export", "--format", "gguf"), "--to"),
        (("tasks", "shwo", "gcd"), "Did you mean show?"),
        (("tasks", "show", "gdc"), "Did you mean gcd?"),
        (("tasks", "show", "gcd/esy"), "Did you mean easy?"),
        (("tasks", "try", "gcd/mittle"), "Did you mean middle?"),
        (("checkpoints", "back", "99"), "There is no checkpoint 99"),
    ],
)
def test_wrong_usage_is_one_sentence_and_exit_code_2(run: Words, words: tuple[str, ...], said: str) -> None:
    is_there = words[:2] not in (("tasks", "show"), ("tasks", "try"), ("checkpoints", "back")) or words[-1] == "last"
    assert run(*words) == (2 if is_there else 1), "what does not exist is a failure, not a misuse"
    assert said in run.stderr
    assert run.stderr.count("\n") == 1
    assert not run.stdout


def test_the_working_directory_becomes_no_node_by_an_empty_name(
    door: FakeDoor, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["status", "--data", ""], door) == 2
    assert capsys.readouterr().err == "--data needs a folder.\n"


def test_a_failure_has_a_traceback_only_with_debug(run: Words, door: FakeDoor) -> None:
    door.node.fail = ModelError("The model folder is damaged: install again.")
    assert run("ask", "hello") == 1
    assert run.stderr == "The model folder is damaged: install again.\n"
    assert run("ask", "hello", "--debug") == 1
    assert "Traceback" in run.stderr


def test_a_bug_is_shown_as_one(run: Words, door: FakeDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeNode, "_status", lambda self: 1 / 0)
    assert run("status") == 1
    assert "bug in SAPO Desktop: ZeroDivisionError" in run.stderr
    assert "Traceback" not in run.stderr


def test_what_the_system_refuses_is_no_bug(run: Words, door: FakeDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: Path | None) -> str:
        async def running(folder: Path, *, owner: bool = False) -> FakeNode:
            raise PermissionError(errno.EACCES, "Permission denied", path and str(path))

        monkeypatch.setattr(door, "running", running)
        assert run("status") == 1
        return run.stderr

    assert refused(run.folder / "control" / "worker.json") == (
        f"You may not write to the data folder {run.folder} (Permission denied). Use another one with --data.\n"
    )
    assert refused(Path("/elsewhere")) == "/elsewhere: Permission denied.\n"
    assert refused(None) == "Something could not be read or written: Permission denied.\n"


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


def relay_options(*words: str) -> RelayOptions:
    return _options(build_parser().parse_args(["relay", "--listen", "[::]:1", *words]))


def test_a_relay_takes_its_swarm_from_a_link() -> None:
    assert relay_options() == RelayOptions(listen="[::]:1")
    given = relay_options("--peer", "wss://b.example:8766", "--invite", LINK)
    assert given.peers == "wss://b.example:8766,wss://a.example:8765"
    assert (given.invited, given.swarm, given.admission) == ("wss://a.example:8765", "5a" * 32, "0f" * 72)
    nearby = LINK.replace("a.example", "localhost")
    with pytest.raises(UsageError, match=r"leads to wss://localhost:8765.*--private-addresses"):
        relay_options("--invite", nearby)
    assert relay_options("--invite", nearby, "--private-addresses").invited == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--backbone-credentials", "FILE"], "--backbone URL"),
        (["--backbone-shards", "64"], "--backbone URL"),
        (["--admission", "0f" * 72], "--swarm"),
    ],
)
def test_a_relays_option_without_the_one_it_belongs_to_is_refused(words: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        relay_options(*words)


@pytest.mark.parametrize("words", [("status",), ("pause",), ("resume",), ("finish",), ("answer",)])
def test_commands_for_a_running_node_need_one(gone: None, run: Words, words: tuple[str, ...]) -> None:
    assert run(*words) == 1
    assert "No node is running in" in run.stderr


def test_where_only_a_relay_was_set_up_no_node_is_advised(
    gone: None, run: Words, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sapo_desktop.system.installation.only_relays", lambda: True)
    assert run("status") == 1
    assert "No relay is running on this folder." in run.stderr and "sapo-desktop run" not in run.stderr


def test_quit_without_a_node_is_done_already(gone: None, run: Words) -> None:
    assert run("quit") == 0


def test_an_unknown_folder_has_neighbours(tmp_path: Path, door: FakeDoor, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "node-one").mkdir()
    assert main(["status", "--data", str(tmp_path / "node-on")], door) == 1
    assert "Did you mean node-one?" in capsys.readouterr().err


def test_status_for_people_and_for_machines(run: Words) -> None:
    assert run("status") == 0, run.stderr
    assert "starter on cpu" in run.stdout
    assert "1,241 an hour" in run.stdout
    assert run("status", "--json") == 0
    assert run.lines[0]["event"] == "status"
    assert run.lines[0]["round"] == 30


def test_status_names_what_would_hold_an_idle_node_back(run: Words, door: FakeDoor) -> None:
    door.node.held = OnBattery()
    assert run("status") == 0 and "would wait. Paused: on battery" in run.stdout
    assert run("status", "--json") == 0 and run.lines[0]["held"] == "Paused: on battery"


def test_doctor_says_that_a_node_which_is_held_back_does_not_compute(run: Words, computer: list[Check]) -> None:
    computer.append(Check(COMPUTING, "limited", "Paused: on battery (BAT0, 55%).", "Plug it in."))
    assert run("doctor") == 0
    assert "is not computing now. Paused: on battery (BAT0, 55%)." in run.stdout and "Nothing keeps" not in run.stdout


def test_pause_says_until_when(run: Words, door: FakeDoor) -> None:
    assert run("pause", "--for", "1h30m") == 0
    assert door.node.requests[-1] == requests.Pause(seconds=5400)
    assert "until" in run.stdout
    assert run("pause", "--until", "tomorrow") == 0
    assert "00:00" in run.stdout
    assert run("pause") == 0
    assert door.node.requests[-1] == requests.Pause(seconds=None)


def test_two_models_are_compared_on_the_same_questions(run: Words) -> None:
    assert run("models", "compare") == 0
    assert "smollm2-135m: 3% -> 22%" in run.stdout and "starter: - -> 40%" in run.stdout
    assert "the same 120 held-out questions (test)" in run.stdout and "-18 points (-26 to -10)" in run.stdout
    assert run("models", "compare", "--json") == 0
    assert run.lines[0]["questions"] == 120 and run.lines[0]["other"]["base"] is None  # type: ignore[index,call-overload]


@pytest.mark.parametrize(("words", "code"), [(("ask", "What is 17 + 25?"), 0), (("checkpoints", "back", "99"), 1)])
def test_what_one_question_starts_ends(
    gone: None, run: Words, door: FakeDoor, words: tuple[str, ...], code: int
) -> None:
    assert run(*words) == code
    assert isinstance(door.node.requests[-1], requests.Quit) and door.node.closed == 1


@pytest.mark.parametrize(("there", "state"), [(True, "idle"), (False, "working")])
def test_a_node_that_runs_or_was_given_rounds_meanwhile_goes_on(
    run: Words, door: FakeDoor, there: bool, state: str
) -> None:
    door.there, door.node.state = there, state
    assert run("ask", "What is 17 + 25?") == 0
    assert not [request for request in door.node.requests if isinstance(request, requests.Quit)]


def test_hostile_answers_are_plain_on_a_terminal_and_escaped_in_json(run: Words) -> None:
    assert run("ask", "hello") == 0
    assert run.stdout == "48 = 1*36 + 12 [red]12[/red]\n"
    assert run("ask", "hello", "--json") == 0
    assert run.stdout.isascii()
    assert "\x1b" not in run.stdout
    assert "\x1b[2J" in str(run.lines[0]["text"])


def test_an_argument_that_is_no_text_in_this_encoding_is_asked_all_the_same(run: Words, door: FakeDoor) -> None:
    assert run("ask", "caf\udce9?") == 0
    asked = door.node.requests[-1]
    assert isinstance(asked, Ask)
    assert asked.question == "caf\ufffd?"


def test_settings_are_shown_set_and_reset(run: Words, door: FakeDoor) -> None:
    assert run("settings", "set", "seed", "7") == 0
    assert run("settings", "set", "max-tokens=64", "curriculum=off") == 0
    assert (door.node.settings.seed, door.node.settings.max_tokens, door.node.settings.curriculum) == (7, 64, False)
    assert run("settings", "get", "seed", "--json") == 0
    assert run.lines == [SEED_OF_SEVEN]
    assert run("settings", "reset", "seed") == 0
    assert door.node.settings.seed == 0
    assert run("settings") == 0
    assert "max_tokens" in run.stdout


def test_what_the_nodes_computer_cannot_keep_stands_next_to_the_setting_with_the_reason(
    run: Words, door: FakeDoor
) -> None:
    door.node.unsupported = {"hottest": "No sensors.", "when_in_use": "No desktop.", "keep_awake": "No desktop."}
    assert run("settings") == 0
    assert "not here: hottest. No sensors." in run.stdout
    assert "not here: when_in_use, keep_awake. No desktop." in run.stdout
    assert run("settings", "get", "hottest", "--json") == 0
    assert run.lines[-1]["unsupported"] == "No sensors."
    assert run("settings", "get", "seed") == 0
    assert not isinstance(door.node.requests[-1], requests.GetUnsupported) and "not here" not in run.stdout


@pytest.mark.usefixtures("computer")
def test_the_login_of_a_proxy_stays_in_the_file(run: Words, door: FakeDoor) -> None:
    assert run("settings", "set", "proxy", "http://user:s3cret@proxy.example:3128") == 0
    assert door.node.settings.proxy == "http://user:s3cret@proxy.example:3128"
    for words in (("settings",), ("settings", "get", "proxy", "--json"), ("status",), ("doctor",)):
        assert run(*words) == 0
        assert "s3cret" not in run.stdout + run.stderr
        assert ("***@proxy.example:3128" in run.stdout) == (words[0] == "settings")


def test_without_a_node_settings_are_a_file(gone: None, run: Words, door: FakeDoor, tmp_path: Path) -> None:
    assert run("settings", "set", "model=/no/such/folder", "seed=7") == 0
    assert run("settings", "get", "seed", "--json") == 0
    assert run.lines == [SEED_OF_SEVEN]
    assert run("settings", "reset", "--all") == 0
    assert settings_file.read(tmp_path / "settings.toml", 0.0).settings == Settings()
    assert door.node.requests == []


def test_without_a_node_what_cannot_be_kept_here_is_said_and_kept(
    gone: None, run: Words, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sensors, "degrees", lambda: None)
    assert run("settings", "set", "hottest", "80") == 0
    assert "it will have no effect. This computer reports no temperature" in run.stderr
    assert settings_file.read(tmp_path / "settings.toml", 0.0).settings.hottest == 80
    assert run("settings", "set", "hottest", "0") == 0 and "no temperature" not in run.stderr


def test_a_settings_file_that_is_damaged_is_said_and_left(gone: None, run: Words, tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("seed = = 1")
    for words in (("settings",), ("settings", "set", "seed=2")):
        assert run(*words) == 2
        assert "settings.toml is damaged" in run.stderr and "at line 1" in run.stderr
    assert (tmp_path / "settings.toml").read_text() == "seed = = 1"


def test_tasks_are_listed_shown_and_tried(run: Words, door: FakeDoor) -> None:
    assert run("tasks") == 0
    assert "gcd/easy" in run.stdout and "Left out: bad.csv: It is bad." in run.stdout
    assert run("tasks", "show", "gcd/middle", "--json") == 0
    assert [line["task"] for line in run.lines] == ["gcd/middle"]
    assert run("tasks", "try", "gcd/hard", "--answer", "12", "--seed", "3") == 0
    assert door.node.requests[-1] == TryTask(task="gcd/hard", seed=3, answer="12")
    assert "✓ right" in run.stdout


def test_own_tasks_are_added_and_removed(run: Words, door: FakeDoor) -> None:
    assert run("tasks", "add", "sums.csv", "--json") == 0
    assert door.node.requests[-1] == requests.AddTasks(path=str(Path("sums.csv").absolute()))
    assert run.lines == [{"event": "added", "family": "sums", "text": "Done."}]
    assert run("tasks", "remove", "sums") == 0
    assert (door.node.requests[-1], "Done." in run.stdout) == (requests.RemoveTasks(name="sums"), True)


def test_checkpoints_show_the_base_and_what_is_kept(run: Words) -> None:
    assert run("checkpoints") == 0
    assert "3.6 MB" in run.stdout
    assert "best, last" in run.stdout
    assert run("checkpoints", "back", "best") == 0


def test_eval_gives_the_score_per_task_and_says_where_nothing_was_trained(run: Words, door: FakeDoor) -> None:
    assert run("eval") == 0
    assert "27% of 200 questions solved" in run.stdout and "untrained" not in run.stdout
    assert run("eval", "--checkpoint", "best", "--json") == 0
    line = run.lines[0]
    assert line.keys() >= {"checkpoint", "score", "partial", "tasks", "low", "high", "pass_at_k", "too_long"}
    assert next(iter(line)) == "event"
    assert (line["checkpoint"], line["score"], line["tasks"]) == ("best", 0.27, {"gcd/easy": 0.27})
    door.node.evaluated_round = 0  # as where --data was mistyped
    assert run("eval") == 0
    assert "No round was finished here: this is the untrained model." in run.stdout


def test_eval_asks_the_test_questions_of_one_level(run: Words, door: FakeDoor) -> None:
    assert run("eval", "--level", "first") == 0
    asked = door.node.requests[-1]
    assert isinstance(asked, requests.Evaluate) and (asked.which, asked.level) == ("test", "first")
    assert run("eval", "--level", "first", "--which", "validation") == 2
    assert run("eval", "--level", "simple") == 2


def test_eval_asks_the_questions_of_some_families(run: Words, door: FakeDoor) -> None:
    assert run("eval", "--tasks", "months, gcd/easy") == 0
    asked = door.node.requests[-1]
    assert isinstance(asked, requests.Evaluate) and asked.tasks == ["months", "gcd/easy"]


def test_eval_draws_answers_at_a_temperature(run: Words, door: FakeDoor) -> None:
    assert run("eval", "--samples", "4", "--temperature", "0.5") == 0
    asked = door.node.requests[-1]
    assert isinstance(asked, requests.Evaluate) and (asked.samples, asked.temperature) == (4, 0.5)
    assert run("eval", "--temperature", "0.5") == 2
    assert "Say how many with --samples" in run.stderr
    for text in ("3", "0", "0.0", "2.1", "hot"):
        assert run("eval", "--samples", "4", "--temperature", text) == 2


def test_export_is_to_a_folder_here(
    run: Words, door: FakeDoor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("export", "--format", "gguf", "--to", "out") == 0
    assert door.node.requests[-1] == requests.ExportModel(format="gguf", to=str(tmp_path / "out"), checkpoint="last")


def test_history_shows_the_newest_rounds_and_writes_all(run: Words, tmp_path: Path) -> None:
    assert run("history") == 0
    assert "  30 " in run.stdout
    assert "   1 " not in run.stdout
    assert run("history", "--csv", str(tmp_path / "h.csv")) == 0
    rows = (tmp_path / "h.csv").read_text().splitlines()
    assert len(rows) == 31
    assert rows[0].startswith("round,reward,solved,partial,swarm_reward")
    assert run("history", "--rollouts", str(tmp_path / "r.jsonl")) == 0
    answers = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert [answer["round"] for answer in answers] == list(range(1, 31))


def test_a_file_in_the_home_folder_is_named_by_its_path_and_one_that_cannot_be_written_is_said(
    run: Words, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert run("history", "--csv=~/h.csv", "--json") == 0
    assert run.lines == [{"event": "written", "file": str(tmp_path / "h.csv"), "what": "30 rounds"}]
    assert run("history", "--csv", str(tmp_path / "no" / "h.csv")) == 1 and "could not be written" in run.stderr


def test_the_engine_pack_is_of_an_installed_application(
    run: Words, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    async def engine_pack(*words: str) -> None:
        done.append(words[0])

    monkeypatch.setattr(doctor, "_engine_pack", engine_pack)
    monkeypatch.setattr(doctor.installation, "payload", lambda: None)
    assert run("engine", "remove") == 2 and "installed application" in run.stderr
    monkeypatch.setattr(doctor.installation, "payload", lambda: tmp_path)
    assert run("engine", "remove", "--json") == 0 and run.lines[0]["event"] == "ok"
    assert run("engine", "fetch", str(tmp_path / "pack"), "--json") == 0
    assert run.lines == [{"event": "written", "file": str(tmp_path / "pack"), "what": "engine pack"}]
    assert done == ["remove", "fetch"]


def test_history_says_from_whom_was_learned(run: Words) -> None:
    assert run("history", "--sources") == 0
    assert "this node" in run.stdout and "75%" in run.stdout
    assert "abababababababab   peer" in run.stdout
    assert run("history", "--sources", "--json") == 0
    assert [(line["origin"], line["groups"]) for line in run.lines] == [("own", 30), ("peer", 9)]


@pytest.mark.usefixtures("computer")
def test_doctor_tells_what_it_found_even_where_the_node_fails(run: Words, door: FakeDoor, tmp_path: Path) -> None:
    assert run("doctor") == 0
    assert "torch" in run.stdout and "Nothing keeps this node from working." in run.stdout
    door.node.fail = SapoError("The starter is missing.")
    assert run("doctor", "--report", str(tmp_path / "report.txt")) == 1
    assert "did not answer: The starter is missing." in (tmp_path / "report.txt").read_text()


def test_doctor_sees_that_the_clock_was_put_back_though_the_node_it_starts_writes(
    run: Words, door: FakeDoor, monkeypatch: pytest.MonkeyPatch
) -> None:
    history, later = DataFolder.open(run.folder).history, 4e9
    history.touch()
    os.utime(history, (later, later))
    seen: list[float] = []
    started = door.running_or_started

    async def writing(folder: Path, overrides: Mapping[str, str]) -> Attached:
        history.touch()
        return await started(folder, overrides)

    def looked(folder: DataFolder, written: float, *about: object) -> list[Check]:
        seen.append(written)
        return []

    monkeypatch.setattr(door, "running_or_started", writing)
    monkeypatch.setattr("sapo_desktop.commands.doctor.computer_checks", looked)
    assert run("doctor") == 0
    assert seen == [later]


@pytest.mark.usefixtures("gone")
def test_doctor_where_only_a_relay_was_set_up_starts_no_node(
    run: Words, door: FakeDoor, computer: list[Check], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sapo_desktop.system.installation.only_relays", lambda: True)
    monkeypatch.setattr("sapo_desktop.commands.doctor.relay_checks", lambda *about: list(computer))
    door.node.fail = SapoError("A node needs torch.")
    assert run("doctor") == 0
    assert "No relay is running on this folder." in run.stdout and "bootstrap.py relay" in run.stdout
    assert "engine pack" not in run.stdout and "Nothing keeps this relay from working." in run.stdout


def test_a_check_that_fails_is_said_with_what_to_do(run: Words, computer: list[Check]) -> None:
    computer.append(Check(name="disk", state="bad", found="100 MB free.", advice="Make room."))
    computer.append(Check(name="tray", state="limited", found="There is none.", advice="Look for one."))
    assert run("doctor") == 1
    assert "bad      disk           100 MB free.\n         to do:         Make room.\n" in run.stdout
    assert "Problems: disk. Each comes with advice." in run.stderr
    assert run("doctor", "--json") == 1
    assert run.lines[0] == {"event": "check", "name": "disk", "state": "bad", "found": "100 MB free."} | {
        "advice": "Make room."
    }


def test_the_report_for_a_bug_names_nobody(
    run: Words, computer: list[Check], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diagnosis.getpass, "getuser", lambda: "wilma")
    monkeypatch.setattr(diagnosis.platform, "node", lambda: "wilmas-laptop.home.arpa")
    monkeypatch.setenv("HOME", "/home/wilma")
    monkeypatch.setenv("USERPROFILE", "/home/wilma")
    monkeypatch.setenv("SAPO_PASSPHRASE", "open sesame twice")
    address = f"wss://peer.example:8765#{'ab' * 32}"
    (tmp_path / "settings.toml").write_text(f'peers = "{address}"\nlabel = "anna"\nanswers = 4\n')
    (tmp_path / "logs").mkdir()
    said = [f"linked to {address}", f"read {tmp_path}/cache", "read /home/wilma/x", "wilma at wilmas-laptop"]
    said += ["peer.example does not answer", "192.168.7.9:8765", f"key {'ab' * 8}", "open sesame twice", LINK]
    (tmp_path / "logs" / "worker.log").write_text("\n".join(said))
    computer.append(Check(name="peers", state="bad", found=f"Nobody at {address}.", advice="Ask wilma."))
    assert run("doctor", "--report", str(tmp_path / "report.txt")) == 1, "the peer"
    text = (tmp_path / "report.txt").read_text()
    assert "peers = (set)" in text and "label = (set)" in text and "answers = 4" in text
    assert "linked to wss://<address>" in text and "read <data folder>/cache" in text
    planted = ("peer.example", "abab", "anna", "wilma", "192.168", "sesame", "home.arpa", "a.example", str(tmp_path))
    assert not [private for private in planted if private in text]


def test_an_answer_is_shown_without_tags_on_a_line_of_its_own(
    run: Words, door: FakeDoor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(text: str) -> str:
        async def call(request: object) -> Asked:
            return Asked(text=text, tokens=1, seconds=0.1)

        monkeypatch.setattr(door.node, "call", call)
        door.there = True
        assert run("ask", "What is 5 + 6?") == 0
        return run.stdout

    assert ask("5 and 6 are 11. <answer>11</answer>") == "5 and 6 are 11.\n11\n"
    assert ask("<answer>11</answer>") == "11\n"
    assert ask("no <answer>") == "no\n"
    assert ask("") == "(nothing)\n"


@pytest.mark.parametrize("option", [(), ("--sources",)])
def test_history_in_the_first_round_says_that_it_runs(
    run: Words, door: FakeDoor, monkeypatch: pytest.MonkeyPatch, option: tuple[str, ...]
) -> None:
    door.there, door.node.rounds = True, []
    real = door.node.call

    async def call(request: Request) -> Message:
        return Sources(items=[]) if isinstance(request, requests.GetSources) else await real(request)

    monkeypatch.setattr(door.node, "call", call)
    assert run("history", *option) == 0 and "No rounds yet. Start with: sapo-desktop run" in run.stdout
    door.node.state = "working"
    assert run("history", *option) == 0
    assert run.stdout == "No round is finished yet. Training round 13.\n"


def test_an_evaluation_says_at_once_what_it_does_and_then_how_long(
    run: Words, door: FakeDoor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context_module, "ESTIMATE_AFTER", -1.0)
    real = door.node.call

    async def call(request: Request) -> Message:
        if isinstance(request, requests.Evaluate):
            await asyncio.sleep(0)  # who listens begins
            door.node.publish(PhaseChanged(round=0, phase="evaluate"))
            for done in (0, 100, 200, 300):
                door.node.publish(Progressed(round=0, phase="evaluate", done=done, total=1153))
            await asyncio.sleep(0)
        return await real(request)

    monkeypatch.setattr(door.node, "call", call)
    assert run("eval", "--checkpoint", "base") == 0
    first, then = run.stderr.splitlines()
    assert first == "Asking the held-out questions (test) of base. Ctrl-C cancels."
    assert then.startswith("1,153 answers: about ") and len(run.stderr.splitlines()) == 2, "not from the first 100"


def test_what_a_node_keeps_is_deleted_after_a_question(run: Words, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = DataFolder.open(run.folder)
    folder.history.write_text("x")
    for answer, code in (("n", 1), ("y", 0)):
        monkeypatch.setattr("sapo_desktop.commands.settings.typed_line", lambda *about, answer=answer: answer)
        assert run("erase", "learned") == code
        assert str(folder.history) in run.stdout and folder.history.exists() == bool(code)
    assert run("erase", "learned", "--yes") == 0 and "Nothing of that" in run.stdout
    folder.history.write_text("x")
    with FolderLock(folder):
        assert run("erase", "learned", "--yes") == 1 and "already runs" in run.stderr
    assert folder.history.exists()

"""Exit codes, streams and suggestions of the commands, on a node without a process."""

import errno
from pathlib import Path

import pytest

from sapo_desktop.cli import main
from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.why import OnBattery
from sapo_desktop.worker.control.messages import requests
from sapo_desktop.worker.control.messages.asking import Ask, Asked
from tests.cli.fake_node import FakeDoor, FakeNode
from tests.cli.fake_replies import LINK
from tests.cli.words import Words


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


def test_pause_says_until_when(run: Words, door: FakeDoor) -> None:
    assert run("pause", "--for", "1h30m") == 0
    assert door.node.requests[-1] == requests.Pause(seconds=5400)
    assert "until" in run.stdout
    assert run("pause", "--until", "tomorrow") == 0
    assert "00:00" in run.stdout
    assert run("pause") == 0
    assert door.node.requests[-1] == requests.Pause(seconds=None)


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

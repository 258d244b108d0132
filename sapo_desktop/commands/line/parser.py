"""The grammar of the command line. A command names its function as `module:function`; it is imported later."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from sapo_desktop import __version__
from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.task_list import LEVELS
from sapo_desktop.terminal.invocation import PROGRAM, as_started, program
from sapo_desktop.terminal.wording import nearest

CHECKPOINT_HELP = "base, best, last, or a number (default: last)"
_INVALID_CHOICE = re.compile(r"argument (.*): invalid choice: '?(.*?)'? \(choose from (.*)\)", re.DOTALL)


class Parser(argparse.ArgumentParser):
    """Raises UsageError with one sentence instead of printing the usage and ending the process."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        if match := _INVALID_CHOICE.fullmatch(message):
            choices = [choice.strip().strip("'") for choice in match[3].split(",")]
            what = "command" if match[1] == "COMMAND" else match[1]
            hint = nearest(match[2], choices) or f" Choose from {', '.join(choices)}."
            if self.prog == f"{program()} settings":
                hint = _setting_meant(match[2]) or hint
            raise UsageError(f"{match[2]!r} is no {what}.{hint} See {self.prog} --help")
        raise UsageError(f"{message[:1].upper()}{message[1:]}. See {self.prog} --help")

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Like argparse's, with a suggestion for an unknown option."""
        found, unknown = self.parse_known_args(args, namespace)
        if not unknown:
            return found
        command, word = self._of(found), unknown[0]
        hint = nearest(word, command._option_string_actions) if word.startswith("-") else ""
        raise UsageError(f"{command.prog} takes no {word!r}.{hint} See {command.prog} --help")

    def _of(self, found: argparse.Namespace) -> Parser:
        """The parser of the given command, and its action."""
        for branches in (each for each in self._actions if isinstance(each, argparse._SubParsersAction)):
            given = getattr(found, branches.dest, None)
            if given in branches.choices:
                branch: Parser = branches.choices[given]
                return branch._of(found)
        return self

    def format_help(self) -> str:
        return as_started(super().format_help())


def _setting_meant(word: str) -> str:
    from sapo_desktop.core.settings import Settings  # most command lines do not need it

    return f" Did you mean: {program()} settings set {word} VALUE?" if word in Settings.__struct_fields__ else ""


def build_parser() -> Parser:
    parser = Parser(
        prog=program(),
        description="SAPO Desktop trains a small language model on your computer: it answers questions, checks "
        "its answers and learns.",
        epilog="Without a command the window opens. If no window can open, or with --terminal, rounds are played here, "
        f"as with `run`. Help on a command: {PROGRAM} COMMAND --help",
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    parser.add_argument(
        "--tray", action="store_true", help="without a command: start in the tray, with the window closed"
    )
    parser.add_argument("--terminal", action="store_true", help="without a command: no window, play rounds here")
    _common(parser)
    commands = parser.add_subparsers(metavar="COMMAND", dest="command_name", title="commands")
    _run(commands)
    _node(commands)
    _model(commands)
    _models(commands)
    _records(commands)
    _settings(commands)
    _swarm(commands)
    _lab(commands)
    _engine(commands)
    return parser


Commands = argparse._SubParsersAction  # argparse's only name for the result of add_subparsers


def _common(parser: argparse.ArgumentParser) -> None:
    # SUPPRESS: the same option is allowed before and after the command, and the missing one sets nothing.
    group = parser.add_argument_group("for every command")
    group.add_argument(
        "--data", metavar="DIR", default=argparse.SUPPRESS, help="the node's folder (default: the user's own)"
    )
    group.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="one JSON object per line on stdout"
    )
    group.add_argument(
        "--debug", action="store_true", default=argparse.SUPPRESS, help="show the traceback of a failure"
    )


def _command(commands: Commands[Parser], name: str, function: str, help_text: str) -> Parser:
    parser = commands.add_parser(name, help=help_text, description=f"{help_text[:1].upper()}{help_text[1:]}.")
    parser.set_defaults(function=function)
    _common(parser)
    return parser


def _group(commands: Commands[Parser], name: str, function: str, help_text: str) -> Commands[Parser]:
    """A command with actions; without one it runs `function`."""
    parser = _command(commands, name, function, help_text)
    return parser.add_subparsers(metavar="ACTION", dest="action", title="actions")


def _run(commands: Commands[Parser]) -> None:
    run = _command(commands, "run", "run:run", "play rounds and learn, with one line per round; Ctrl-C stops it")
    run.add_argument("--rounds", type=_positive, metavar="N", help="stop after N rounds (default: until Ctrl-C)")
    run.add_argument("--silo", action="store_true", help="no network at all, for this run")
    run.add_argument("--share", action="store_true", help="join the swarm and publish answers (CC0); asks once")
    run.add_argument(
        "--peer",
        metavar="URL",
        action="append",
        default=[],
        help="join through this peer, wss://HOST:PORT#KEY; may be repeated",
    )
    run.add_argument("--listen", metavar="HOST:PORT", help="join, and accept links at this address")
    run.add_argument(
        "--invite",
        metavar="LINK",
        help="join a private swarm by this link, sapo://join?..., and stay in it in it in it in it",
    )
    run.add_argument("--nearby", action="store_true", help="the invite may lead to this computer or a local network")
    run.add_argument("--lan", action="store_true", help="join the swarm, and find nodes on the local network")
    run.add_argument("--weighting", metavar="NAME", help="how peers' answers are weighted: guarded or paper")
    run.add_argument("--mix", metavar="I/J", help="own/external groups per step: 8/0, 6/2, 4/4 or 2/6")
    run.add_argument("--model", metavar="ID", help="'starter', an installed model, a folder or a GGUF file")
    run.add_argument(
        "--tasks", metavar="LIST", help="families to train on, separated by commas, with or without a level"
    )
    run.add_argument("--curriculum", choices=("on", "off"), help="prefer questions that are sometimes solved")
    run.add_argument("--seed", type=_natural, metavar="N", help="repeats a silo run exactly")
    run.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        dest="values",
        help="any setting, for this run only; may be repeated",
    )


def _node(commands: Commands[Parser]) -> None:
    _command(commands, "status", "node:status", "show what the running node does")
    pause = _command(commands, "pause", "node:pause", "stop computing immediately")
    span = pause.add_mutually_exclusive_group()
    span.add_argument("--for", dest="span", metavar="TIME", help="continue after this time: 90s, 15m, 1h30m")
    span.add_argument("--until", metavar="WHEN", help="continue at this time: tomorrow (next midnight), or 14:30")
    resume = _command(
        commands, "resume", "node:resume", "continue after a pause, or despite a setting that makes the node wait"
    )
    resume.add_argument("--anyway", metavar="TIME", help="ignore such settings for this long (default: 1h)")
    _command(commands, "finish", "node:finish", "finish this round, then pause")
    leave = _command(commands, "quit", "node:quit_node", "stop the running node now and drop the unfinished round")
    leave.add_argument("--finish", action="store_true", help="after the current round")
    silo = _command(
        commands,
        "silo",
        "node:silo",
        "switch the network off (silo on) or on (silo off)",
    )
    silo.add_argument("switch", choices=("on", "off"))


def _model(commands: Commands[Parser]) -> None:
    score = _command(commands, "eval", "model:evaluate", "measure the held-out score per task")
    score.add_argument("--checkpoint", metavar="NAME", default="last", help=CHECKPOINT_HELP)
    score.add_argument(
        "--which", choices=("validation", "test"), default="test", help="which held-out set (default: test)"
    )
    score.add_argument(
        "--level", choices=LEVELS, default="", help="ask only the questions of one level; quicker with a large model"
    )
    score.add_argument(
        "--tasks",
        type=_names,
        default=[],
        metavar="LIST",
        help="ask only the questions of these families, separated by commas, with or without a level",
    )
    score.add_argument(
        "--samples",
        type=_natural,
        default=0,
        metavar="N",
        help="sample N answers per question (default: one, the most likely)",
    )
    score.add_argument(
        "--temperature",
        type=_temperature,
        default=0.0,
        metavar="T",
        help="sample them at temperature T (default: as in training)",
    )
    ask = _command(commands, "ask", "model:ask", "ask the model a question")
    ask.add_argument("question")
    ask.add_argument("--checkpoint", metavar="NAME", default="last", help=CHECKPOINT_HELP)
    ask.add_argument(
        "--sample", action="store_true", help="sample the answer as in training instead of taking the most likely"
    )
    serve = _command(
        commands, "serve", "serve:serve", "let programs on this computer ask the model, by OpenAI's protocol"
    )
    serve.add_argument("--port", type=_port, default=0, metavar="N", help="listen there (default: serve_port)")
    serve.add_argument("--new-key", action="store_true", help="draw another key first: the old one no longer opens")
    export = _command(commands, "export", "model:export", "write the trained model for use elsewhere")
    export.add_argument("--format", choices=("peft", "merged", "gguf"), required=True)
    export.add_argument("--checkpoint", metavar="NAME", default="last", help=CHECKPOINT_HELP)
    export.add_argument("--to", metavar="DIR", required=True, help="a new or empty folder")
    actions = _group(commands, "checkpoints", "model:checkpoints", "list checkpoints, or go back to one")
    _command(actions, "list", "model:checkpoints", "list the saved checkpoints")
    back = _command(actions, "back", "model:back", "continue from an earlier checkpoint")
    back.add_argument("to", metavar="NAME", help="base, best, or a number")


def _models(commands: Commands[Parser]) -> None:
    fit = _command(
        commands, "fit", "fitting:show", "show which models run on this computer, or on one that you describe, and why"
    )
    fit.add_argument("--ram", type=_gibibytes, metavar="GIB", help="assume this much memory")
    fit.add_argument(
        "--vram", type=_gibibytes, metavar="GIB", help="assume a graphics card with this much memory; 0: none"
    )
    fit.add_argument(
        "--use", action="store_true", help="save the choice in the settings: model, answers, lengths, rank"
    )
    actions = _group(commands, "models", "fitting:show_models", "manage the models that a node can use")
    _command(actions, "list", "fitting:show_models", "list the catalogue: what fits here, with sizes and licences")
    _command(actions, "installed", "library:show", "list installed models and unfinished downloads")
    _command(actions, "find", "fitting:find", "list models that other programs stored on this computer")
    search = _command(actions, "search", "fitting:search", "list models of the hub that run here, by words")
    search.add_argument("words", metavar="WORDS", nargs="+")
    _command(actions, "compare", "model:compare", "compare models that learned here, on the same held-out questions")
    download = _command(actions, "download", "library:download", "download a model, or continue its download")
    download.add_argument("model", metavar="MODEL", help="a name from the catalogue, OWNER/NAME or OWNER/NAME@REVISION")
    download.add_argument(
        "--file",
        metavar="FILE",
        action="append",
        default=[],
        help="if the repository has several models: download this file, with its parts; may be repeated",
    )
    taking = _command(actions, "import", "library:import_", "install a folder in transformers' layout, or a GGUF file")
    taking.add_argument("path", metavar="PATH")
    taking.add_argument(
        "--name", metavar="NAME", help="name to install it under (default: the name of the file or folder)"
    )
    remove = _command(actions, "remove", "library:remove", "delete a model or its unfinished download")
    remove.add_argument("name", metavar="NAME")
    _command(actions, "cancel", "library:cancel", "stop the running node's download or import")
    token = _command(actions, "token", "library:token", "save a hub's token in this computer's keyring, or delete it")
    token.add_argument("switch", metavar="set|forget", choices=("set", "forget"))


def _records(commands: Commands[Parser]) -> None:
    actions = _group(commands, "tasks", "tasks:show_all", "list the tasks, show or try one, add own ones")
    _command(actions, "list", "tasks:show_all", "list families and levels")
    show = _command(actions, "show", "tasks:show", "show one task: settings, answer grammar, an example")
    show.add_argument("name", metavar="NAME", help="a family, or family/level")
    attempt = _command(actions, "try", "tasks:attempt", "make one question and let the model, or you, answer it")
    attempt.add_argument("name", metavar="NAME", help="a family (its first level), or family/level")
    attempt.add_argument("--answer", metavar="TEXT", help="score this answer instead of the model's")
    attempt.add_argument("--seed", type=_natural, metavar="N", help="the same number gives the same question")
    attempt.add_argument("--checkpoint", metavar="NAME", default="last", help=CHECKPOINT_HELP)
    add = _command(actions, "add", "tasks:add", "add a file of your own questions and answers, named after the file")
    add.add_argument("file", metavar="FILE", help="NAME.csv, .tsv or .jsonl with question, answer and optionally level")
    add.add_argument(
        "--answers",
        metavar="KIND",
        default="",
        help="how answers are read: whole, decimal, decimal-comma, fractions or words (default: detected, or asked)",
    )
    add.add_argument(
        "--encoding", metavar="NAME", default="", help="encoding of a file that is not in UTF-8, such as cp1252"
    )
    remove = _command(actions, "remove", "tasks:remove", "remove own tasks")
    remove.add_argument("name", metavar="NAME")
    history = _command(commands, "history", "history:history", "show the finished rounds, or write them to a file")
    files = history.add_mutually_exclusive_group()
    files.add_argument("--csv", metavar="FILE", help="all rounds as CSV; - for stdout")
    files.add_argument("--sources", action="store_true", help="how much the model learned from each peer and task")
    files.add_argument("--rollouts", metavar="FILE", help="all saved answers as JSON lines; - for stdout")
    doctor = _command(
        commands,
        "doctor",
        "doctor:doctor",
        "check this computer, this installation and the node, and suggest what to do",
    )
    doctor.add_argument("--report", metavar="FILE", help="write it to a file, for a bug report")


def _settings(commands: Commands[Parser]) -> None:
    actions = _group(commands, "settings", "settings:get", "show or change the node's settings")
    get = _command(actions, "get", "settings:get", "show all settings, or the named ones")
    get.add_argument("keys", metavar="KEY", nargs="*")
    change = _command(actions, "set", "settings:change", "change settings: KEY VALUE, or KEY=VALUE ...")
    change.add_argument("values", metavar="KEY=VALUE", nargs="+")
    change.add_argument("--now", action="store_true", help="a new model or engine need not wait for the current round")
    reset = _command(actions, "reset", "settings:reset", "reset the named settings, or --all, to their defaults")
    reset.add_argument("keys", metavar="KEY", nargs="*")
    reset.add_argument("--all", action="store_true", help="every setting")
    erase = _command(commands, "erase", "settings:erase", "delete what the node keeps, after a question")
    erase.add_argument(
        "what",
        nargs="+",
        choices=("learned", "models", "identity", "everything"),
        help="learned: checkpoints and history; models: this user's models; everything: the settings and files too",
    )
    erase.add_argument("--yes", action="store_true", help="do not ask")


def _swarm(commands: Commands[Parser]) -> None:
    answer = _command(
        commands, "answer", "answer:answer", "answer a question yourself; the node, and others, learn from it"
    )
    answer.add_argument(
        "task", metavar="TASK", nargs="?", help="a family, or family/level (default: one of those in training)"
    )
    answer.add_argument("--answer", metavar="TEXT", help="the answer, instead of typing it; empty: skip")
    answer.add_argument("--reasoning", metavar="TEXT", default="", help="your reasoning, placed before the answer")
    relay = _command(
        commands, "relay", "relay:relay", "run a relay, which forwards answers between nodes; needs no model"
    )
    relay.add_argument(
        "--listen", metavar="HOST:PORT", required=True, help="address at which to accept links, such as 0.0.0.0:8765"
    )
    for name, metavar, text in (
        ("cert", "FILE", "TLS certificate chain (default: the relay creates one, proven by its key)"),
        ("key", "FILE", "the certificate's private key"),
        ("announce", "URL", "announce this address to others"),
        ("invite", "LINK", "relay for the private swarm of this link"),
        ("swarm", "KEY", "instead of --invite: the swarm's admission key, in hex"),
        ("admission", "HEX", "with --swarm: the admission of the relay's own key, in hex"),
        ("backbone", "URL[,URL...]", "NATS servers that connect it with other relays, such as tls://nats.example:4222"),
        ("backbone-credentials", "FILE", "file with nkey seed, USER:PASSWORD or token"),
        ("backbone-ca", "FILE", "CA certificates (PEM) for tls:// servers"),
        ("bans", "FILE", "banned keys, one per line; reloaded on SIGHUP"),
        ("bans-from", "KEY[,KEY...]", "with --backbone: also use these relays' bans"),
        ("metrics", "HOST:PORT", "/metrics for Prometheus, /healthz, /readyz; a PORT alone: at 127.0.0.1"),
    ):
        relay.add_argument(f"--{name}", metavar=metavar, default="", help=text)
    relay.add_argument("--peer", metavar="URL", action="append", default=[], help="keep a link to this peer")
    relay.add_argument("--check", action="store_true", help="check options, files and port without starting")
    relay.add_argument("--log-json", action="store_true", help="write the log as JSON lines")
    relay.add_argument("--log-addresses", action="store_true", help="log the address of each banned peer")
    relay.add_argument("--private-addresses", action="store_true", help="also link to home and loopback addresses")
    relay.add_argument(
        "--backbone-shards", metavar="N", type=int, help="with many relays: hear N of 256 shards, others each hour"
    )
    actions = _group(commands, "peers", "peers:show", "list the linked peers, add, block or test one; private swarms")
    _command(actions, "list", "peers:show", "list the linked peers and what came over each link")
    add = _command(actions, "add", "peers:add", "keep a link to a peer from now on")
    add.add_argument("address", metavar="URL", help="wss://HOST:PORT#KEY")
    remove = _command(actions, "remove", "peers:remove", "no longer keep a link to a peer")
    remove.add_argument("address", metavar="URL")
    for name, text in (("block", "block a peer"), ("unblock", "unblock a peer")):
        blocking = _command(actions, name, f"peers:{name}", text)
        blocking.add_argument("key", metavar="KEY", help="its key (64 hex digits), or the first of them")
    test = _command(actions, "test", "peers:test", "connect to an address once and show who answers")
    test.add_argument("address", metavar="URL")
    _private(actions)
    actions = _group(commands, "identity", "identity:show", "show, export, import, protect or renew the identity")
    _command(actions, "show", "identity:show", "show this node's public key and where its secret is kept")
    for name, text in (
        ("export", "write the identity to a file protected by a passphrase"),
        ("import", "use an exported identity"),
    ):
        moving = _command(actions, name, f"identity:{name}_", text)
        moving.add_argument("file", metavar="FILE")
    _command(
        actions,
        "rotate",
        "identity:rotate",
        "create another key, signed by the old one, so that peers know it is the same node",
    )
    _command(actions, "new", "identity:new", "delete this identity and create another")
    _command(actions, "protect", "identity:protect", "keep the identity in a file protected by a passphrase")
    _command(actions, "unlock", "identity:unlock", "unlock a protected identity for the running node")
    key = _command(commands, "remote-key", "remote:key", "store the key of a server that answers for this node")
    key.add_argument("url", metavar="URL", help="as in the setting remote_url")


def _private(actions: Commands[Parser]) -> None:
    _command(actions, "found", "peers:found", "create a private swarm, and join it")
    admit = _command(actions, "admit", "peers:admit", "make a link that admits one key to the swarm founded here")
    admit.add_argument(
        "key", metavar="KEY", help="the newcomer's key: `sapo-desktop identity show` on their computer prints it"
    )
    admit.add_argument(
        "--days", type=_positive, default=0, metavar="N", help="days until the admission ends (default: never)"
    )
    _command(actions, "requests", "peers:asking", "list who asks to join the swarm founded here")
    refuse = _command(actions, "refuse", "peers:refuse", "send away a key that asks to join")
    refuse.add_argument("key", metavar="KEY", help="its first digits will do")
    _command(actions, "invite", "peers:invite", "print the link to this private swarm; its founder must admit each key")
    join = _command(actions, "join", "peers:join", "join the private swarm of a link")
    join.add_argument("link", metavar="LINK", help="sapo://join?..., in quotes")
    join.add_argument("--nearby", action="store_true", help="follow it even to this computer or a local network")


def _engine(commands: Commands[Parser]) -> None:
    actions = _group(
        commands,
        "engine",
        "doctor:engine",
        "for an installed application: get, repair or remove the engine pack, which learns",
    )
    install = _command(actions, "install", "doctor:install_engine", "get the engine pack, or repair it; can be stopped")
    install.add_argument(
        "--from", dest="source", metavar="DIR", help="install it from a folder that `engine fetch` filled"
    )
    fetch = _command(
        actions, "fetch", "doctor:fetch_engine", "download it into a folder, for a computer without a network"
    )
    fetch.add_argument("folder", metavar="DIR")
    _command(actions, "remove", "doctor:remove_engine", "delete the engine pack; the node then only answers")
    actions = _group(commands, "updates", "doctor:updates", "show whether a newer version exists; nothing is installed")
    _command(actions, "check", "doctor:updates", "ask the release address now")


def _lab(commands: Commands[Parser]) -> None:
    actions = _group(commands, "lab", "lab:choose", "compare ways to learn: many nodes in one process, repeatable")
    paper = _command(actions, "paper", "lab:paper", "run the experiment of SAPO's paper, or continue it")
    paper.add_argument(
        "--out", metavar="DIR", required=True, help="the folder for the results, with a subfolder for each arm"
    )
    paper.add_argument("--nodes", type=_positive, default=8, metavar="N", help="nodes of an arm (default: 8)")
    paper.add_argument("--rounds", type=_positive, default=300, metavar="N", help="rounds of an arm (default: 300)")
    paper.add_argument("--seeds", default="1,2,3", metavar="LIST", help="one arm for each (default: 1,2,3)")
    paper.add_argument(
        "--mix",
        default="8/0,6/2,4/4,2/6",
        metavar="LIST",
        help="own/external groups of a step; 8/0x3 answers three times as many and drops empty groups",
    )
    paper.add_argument("--weighting", default="paper", metavar="LIST", help="how peers' answers are weighted")
    paper.add_argument("--questions", type=_positive, metavar="N", help="groups of a step (default: 8)")
    paper.add_argument("--tasks", metavar="LIST", help="families, separated by commas (default: all)")
    paper.add_argument("--levels", default="", metavar="LIST", help="levels, asked equally often (default: middle)")
    paper.add_argument(
        "--kind",
        choices=("equal", "specialists", "half-shown"),
        default="equal",
        help="specialists: each node trains on its own quarter of the families; half-shown: every other node is shown "
        "no worked examples",
    )
    paper.add_argument("--models", default="", metavar="LIST", help="models of the nodes, in turn (default: starter)")
    paper.add_argument("--liars", type=_share, default=0.0, metavar="SHARE", help="share of nodes that lie, like 0.25")
    paper.add_argument("--budget", default="", metavar="KIND=N", help="also end an arm at cpu=N, tokens=N or samples=N")
    paper.add_argument("--score-every", type=_positive, default=50, metavar="N", help="rounds between held-out scores")
    paper.add_argument("--held-out", type=_positive, default=4, metavar="N", help="questions of each task in them")
    paper.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", dest="values", help="any setting of the nodes"
    )
    table = _command(actions, "table", "lab:table", "compare the arms of a folder, seed by seed")
    table.add_argument("folder", metavar="DIR")
    table.add_argument(
        "--reach", type=_share, metavar="SCORE", help="show how soon this greedy score is reached, like 0.3"
    )
    table.add_argument(
        "--firsts",
        action="store_true",
        help="the round in which the first, the median and the last node solve a task",
    )
    table.add_argument("--by-seed", action="store_true", help="one line for each seed instead of their mean")
    table.add_argument(
        "--of",
        metavar="NODES",
        help="only the nodes that began with this model; of a half-shown arm those with examples (shown) or without "
        "(unshown)",
    )
    table.add_argument(
        "--against",
        default="8/0",
        metavar="MIX",
        help="the mix to compare with (default: 8/0), or settings of otherwise equal arms, like curriculum=off",
    )
    table.add_argument("--rounds", type=_rounds, default=(1, 0), metavar="[N-]N", help="only these rounds, like 11-20")
    table.add_argument(
        "--at",
        choices=("rounds", "tokens", "samples", "cpu"),
        default="rounds",
        help="compare both at the same number of these (default: rounds)",
    )
    plot = _command(actions, "plot", "lab:plot", "draw the arms of a folder, as lab.svg in it")
    plot.add_argument("folder", metavar="DIR")


def _rounds(text: str) -> tuple[int, int]:
    """The first and the last."""
    found = re.fullmatch(r"(?:([0-9]{1,9})-)?([0-9]{1,9})", text)
    first, last = (int(found[1] or 1), int(found[2])) if found else (0, 0)
    if not 1 <= first <= last:
        raise argparse.ArgumentTypeError(f"{text!r} is no range of rounds, such as 11-20, nor a last one")
    return first, last


def _port(text: str) -> int:
    if not re.fullmatch(r"[0-9]{4,5}", text) or not 1024 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port from 1024 to 65535")
    return int(text)


Number = TypeVar("Number", int, float)


def _matching(pattern: str, kind: Callable[[str], Number], said: str) -> Callable[[str], Number]:
    """The parser of an option's value: text of this pattern, as a number."""

    def read(text: str) -> Number:
        if not re.fullmatch(pattern, text):
            raise argparse.ArgumentTypeError(f"{text!r} is {said}")
        return kind(text)

    return read


def _names(text: str) -> list[str]:
    """The names of a comma-separated list."""
    return [name for part in text.split(",") if (name := part.strip())]


_natural = _matching(r"[0-9]{1,18}", int, "not a whole number")
_positive = _matching(r"0{0,17}[1-9][0-9]{0,17}", int, "not a whole number above zero")
_gibibytes = _matching(r"[0-9]{1,6}(\.[0-9]{1,6})?", float, "not a number of GiB")
_share = _matching(r"0(\.[0-9]{1,6})?", float, "not a share from 0 to 1, such as 0.25")
_temperature = _matching(r"(?=.*[1-9])([01]?\.[0-9]+|1|2(\.0+)?)", float, "no temperature above 0 and up to 2")

"""The models commands: alone with a real download, and through a running node."""

import asyncio
import io
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sapo_desktop.core import settings_file
from sapo_desktop.core.fitting import Estimate
from sapo_desktop.core.link.requests import Message, Request
from sapo_desktop.core.models import Contents, Found, Installed, KeptFile, Transfer, Unfinished
from sapo_desktop.core.settings import Settings
from sapo_desktop.system.processes import python_environment
from sapo_desktop.system.secrets.kept_secrets import hub_token
from sapo_desktop.worker.control.messages import models
from sapo_desktop.worker.control.messages.events import Stopping
from tests.cli.fake_node import FakeDoor, FakeNode
from tests.cli.words import Words
from tests.models.hub_server import FakeHub, Fault, Repo, gguf_hit, running_hub, safetensors_hit, with_a_network
from tests.models.small_models import gguf, transformers_files

REPO = "someone/small"
MODEL = Installed(
    name="small",
    kind="transformers",
    source=REPO,
    revision="c" * 40,
    installed=1.0,
    files={"model.safetensors": KeptFile(bytes=1_500_000, sha256="0" * 64)},
)


@dataclass
class LibraryNode(FakeNode):
    """A node that installs what it is asked to, or fails as `ends_with` says."""

    ends_with: models.ModelEvent | None = None
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)

    async def call(self, request: Request) -> Message:
        match request:
            case models.GetModels():
                contents = Contents(models=[MODEL], unfinished=[Unfinished(name="half", bytes=7)], damaged={"x": "cut"})
                return models.ModelsAre(folder="/models", contents=contents)
            case models.FindModels():
                found = Found(program="Ollama", name="tiny:1b", path="/blobs/sha256-1", kind="gguf", bytes=9_000_000)
                return models.FoundAre(models=[found], notes=["Jan has not finished x. Let it finish there."])
            case models.GetEstimates(models=names):
                takes = Estimate(
                    parameters=10**9,
                    badge="fits",
                    estimate=2 * 10**9,
                    free=8 * 10**9,
                    way="answers",
                    round_seconds=95.0,
                )
                return models.EstimatesAre(estimates=dict.fromkeys(names, takes))
            case models.RemoveModel(name=name):
                self.requests.append(request)
                return models.ModelRemoved(name=name, bytes=1_500_000)
            case models.DownloadModel() | models.ImportModel():
                self.working = asyncio.create_task(self._work())
        return await super().call(request)

    async def _work(self) -> None:
        await asyncio.sleep(0.01)
        transfer = Transfer(stage="fetching", file="model.safetensors", done=5, total=10, speed=2.0, left=2.5)
        self.publish(models.ModelProgressed(model="another", transfer=transfer))
        self.publish(models.ModelProgressed(model=REPO, transfer=transfer))
        self.publish(self.ends_with or models.ModelInstalled(model=REPO, installed=MODEL, path="/models/small"))


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    with_a_network(monkeypatch)
    with running_hub() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.endpoint)
        server.repos[REPO] = Repo(transformers_files(), {"model.safetensors"})
        yield server


@pytest.fixture
def node() -> LibraryNode:
    return LibraryNode()


@pytest.fixture
def run(tmp_path: Path, node: LibraryNode, capsys: pytest.CaptureFixture[str]) -> Words:
    """Commands on a folder where a node runs."""
    (tmp_path / "node").mkdir()
    return Words(tmp_path / "node", FakeDoor(node=node, there=True), capsys)


@pytest.fixture
def alone(tmp_path: Path, hub: FakeHub, capsys: pytest.CaptureFixture[str]) -> Words:
    """Commands on a folder where no node runs; not in silo, with the hub of this machine."""
    words = Words(tmp_path / "node", FakeDoor(), capsys)
    keep(words.folder, hub, silo=False)
    return words


def keep(folder: Path, hub: FakeHub, *, silo: bool) -> None:
    folder.mkdir(exist_ok=True)
    values = Settings(silo=silo, models_folder=str(folder / "models"))
    settings_file.write(folder / "settings.toml", values)


# -- where no node runs ----------------------------------------------------------------------------------------


def test_a_model_comes_is_listed_and_goes(alone: Words) -> None:
    assert alone("models", "download", REPO) == 0
    assert "someone--small is installed" in alone.stdout and "--model someone--small" in alone.stdout
    assert "downloading" in alone.stderr
    assert alone("models", "installed") == 0 and "someone--small" in alone.stdout and "c0ffeec0ffee" in alone.stdout
    assert alone("models", "remove", "someone--small") == 0 and "Removed someone--small" in alone.stdout
    assert alone("models", "installed") == 0 and "No models are installed" in alone.stdout
    assert alone("models", "remove", "someone--small") == 1 and "No model" in alone.stderr


def test_json_lines_tell_the_progress_and_the_model(alone: Words, hub: FakeHub) -> None:
    assert alone("models", "download", REPO, "--json") == 0
    progress, model = alone.lines[:-1], alone.lines[-1]
    assert {line["event"] for line in progress} == {"download"} and {line["model"] for line in progress} == {REPO}
    done = [int(str(line["done"])) for line in progress]
    assert done == sorted(done) and done[-1] == model["bytes"]
    assert (model["event"], model["name"], model["source"]) == ("model", "someone--small", REPO)
    assert model["revision"] == hub.repos[REPO].commit


def test_in_silo_nothing_is_asked(alone: Words, hub: FakeHub) -> None:
    keep(alone.folder, hub, silo=True)
    assert alone("models", "download", REPO) == 1
    assert "This node is in silo" in alone.stderr and "models import PATH" in alone.stderr
    assert hub.asked == []


def test_a_search_lists_what_runs_here_with_memory_and_time(alone: Words, hub: FakeHub) -> None:
    hub.found = [
        safetensors_hit("someone/small", 134_000_000),
        gguf_hit("someone/small-GGUF", 134_000_000, "gemma3", gated="auto"),
        safetensors_hit("someone/smallest", 10**9, "MambaForCausalLM"),
    ]
    assert alone("models", "search", "Some", "--json") == 0
    small, file, left = alone.lines
    assert (small["event"], small["repository"], small["learns"], small["badge"]) == (
        "hub_model",
        "someone/small",
        True,
        "fits",
    )
    assert isinstance(small["round_seconds"], float) and isinstance(small["needs"], int)
    assert (file["files"], file["learns"], file["round_seconds"]) == (["small.Q8_0.gguf"], False, None)
    assert left == {"event": "left_out", "count": 1}
    assert alone("models", "search", "someone", "small") == 0 and "no model of these words" in alone.stdout
    hub.found[0]["id"] = "someone small/x"
    assert alone("models", "search", "small") == 0
    assert "someone/small-GGUF --file small.Q8_0.gguf" in alone.stdout and "(account)" in alone.stdout
    assert alone("models", "search", "x" * 201) == 2
    hub.plan("search", Fault(instead=b"<html>"))
    assert alone("models", "search", "small") == 1 and "does not answer like a hub" in alone.stderr


def test_in_silo_nothing_is_searched_and_what_is_here_is_no_failure(alone: Words, hub: FakeHub) -> None:
    assert alone("models", "download", REPO) == 0
    keep(alone.folder, hub, silo=True)
    hub.asked.clear()
    assert alone("models", "search", "small") == 1 and "nothing is searched" in alone.stderr
    assert alone("models", "download", REPO) == 0 and "It was installed already." in alone.stdout
    assert hub.asked == []


def test_silo_switched_on_meanwhile_ends_the_download(alone: Words, hub: FakeHub) -> None:
    hub.plan("cdn", Fault(hold_after=1000))

    def switch() -> None:
        while hub.count("cdn") == 0:
            time.sleep(0.02)
        keep(alone.folder, hub, silo=True)

    threading.Thread(target=switch, daemon=True).start()
    assert alone("models", "download", REPO) == 1
    assert "went into silo" in alone.stderr


def test_a_file_is_imported(alone: Words, tmp_path: Path, hub: FakeHub) -> None:
    keep(alone.folder, hub, silo=True)  # no network is needed
    path = tmp_path / "tiny.gguf"
    path.write_bytes(gguf({"general.architecture": "gemma3"}))
    assert alone("models", "import", str(path), "--name", "mine") == 0
    assert "mine is installed" in alone.stdout and "a model of the kind 'gemma3'" in alone.stdout
    assert "Let it learn" not in alone.stdout
    assert alone("models", "import", str(path), "--name", "mine") == 1 and "installed already" in alone.stderr


def test_ctrl_c_ends_the_download_and_its_process(tmp_path: Path, hub: FakeHub) -> None:
    folder = tmp_path / "node"
    keep(folder, hub, silo=False)
    hub.plan("cdn", Fault(hold_after=100_000))
    command = [sys.executable, "-m", "sapo_desktop", "models", "download", REPO, "--data", str(folder), "--json"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=python_environment({}),
        # A shell has its background jobs ignore Ctrl-C, and theirs.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        assert isinstance(process.stdout, io.BufferedReader)
        while b'"file":"model.safetensors"' not in (line := process.stdout.readline()):
            assert line, process.communicate()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 1 and b"Interrupted" in said
    assert [path for path in (folder / "models").iterdir() if not path.name.startswith(".")] == []


# -- where a node runs -----------------------------------------------------------------------------------------


def test_a_running_node_downloads(run: Words, node: LibraryNode) -> None:
    assert run("models", "download", REPO, "--file", "a.gguf") == 0
    assert node.requests[-1] == models.DownloadModel(model=REPO, files=["a.gguf"])
    assert "downloading model.safetensors: 50%, 5 B of 10 B, 2 B/s, 2.5s left" in run.stderr
    assert "small is installed (1.5 MB) in /models/small" in run.stdout


def test_what_the_node_says_went_wrong_is_said_here(run: Words, node: LibraryNode) -> None:
    node.ends_with = models.ModelFailed(model=REPO, kind="DownloadError", text="The line is dead.")
    assert run("models", "download", REPO) == 1 and "The line is dead." in run.stderr
    node.ends_with = Stopping(failed=False, reason="Stopped as requested.")  # type: ignore[assignment]
    assert run("models", "download", REPO) == 1 and "The node stopped" in run.stderr


def test_the_other_commands_ask_the_node_too(run: Words, node: LibraryNode, tmp_path: Path) -> None:
    assert run("models", "installed", "--json") == 0
    assert [line["event"] for line in run.lines] == ["model", "unfinished", "damaged"]
    assert run("models", "remove", "small") == 0 and "Removed small (1.5 MB)" in run.stdout
    node.ends_with = models.ModelInstalled(model=str(tmp_path / "x"), installed=MODEL, path="/models/small")
    assert run("models", "import", str(tmp_path / "x")) == 0
    assert models.ImportModel(path=str(tmp_path / "x")) in node.requests
    assert run("models", "cancel") == 0 and isinstance(node.requests[-1], models.CancelModelWork)


# -- the token -------------------------------------------------------------------------------------------------


def test_models_of_other_programs_are_listed_with_how_to_use_them(run: Words, node: LibraryNode) -> None:
    assert run("models", "find") == 0
    assert "tiny:1b" in run.stdout and "Ollama" in run.stdout and "9.0 MB" in run.stdout
    assert "--model /blobs/sha256-1" in run.stdout and "Jan has not finished" in run.stdout
    assert "2.0 GB" in run.stdout and "~1m 35s" in run.stdout and "fits" in run.stdout
    assert run("models", "find", "--json") == 0
    assert (run.lines[0]["needs"], run.lines[0]["round_seconds"]) == (2 * 10**9, 95)


def test_without_a_node_they_are_looked_for_here(alone: Words, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "cache" / "small.gguf"
    file.parent.mkdir()
    file.write_bytes(gguf())
    monkeypatch.setenv("LLAMA_CACHE", str(file.parent))
    assert alone("models", "find", "--json") == 0
    assert f'"path": "{file}"' in alone.stdout.replace('":"', '": "') and '"learns"' in alone.stdout


def test_the_token_is_read_from_input_and_not_shown(run: Words, monkeypatch: pytest.MonkeyPatch, hub: FakeHub) -> None:
    kept: dict[str, str] = {}
    monkeypatch.setattr(hub_token, "keep", kept.__setitem__)
    monkeypatch.setattr(hub_token, "forget", lambda endpoint: kept.pop(endpoint, None) is not None)
    keep(run.folder, hub, silo=True)
    monkeypatch.setattr(sys, "stdin", io.StringIO("hf_my_word\n"))
    assert run("models", "token", "set") == 0 and kept == {hub.endpoint: "hf_my_word"}
    assert "hf_my_word" not in run.stdout + run.stderr and hub.endpoint in run.stdout
    assert run("models", "token", "forget") == 0 and "was deleted here" in run.stdout
    assert run("models", "token", "forget") == 0 and "no token" in run.stdout
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert run("models", "token", "set") == 2 and "standard input" in run.stderr
    assert run("models", "token", "show") == 2

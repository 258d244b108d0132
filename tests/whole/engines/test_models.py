"""A model from a hub to a trained round: the real command line, worker and processes, and a hub on this machine."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from safetensors.torch import load, save

from sapo_desktop.core import settings_file
from sapo_desktop.core.resources import resource
from sapo_desktop.core.settings import Settings
from sapo_desktop.worker.control.client import Client
from sapo_desktop.worker.control.messages.events import RoundFinished, Snapshot
from sapo_desktop.worker.control.messages.models import (
    DownloadModel,
    GetModels,
    ModelFailed,
    ModelInstalled,
    ModelProgressed,
    ModelsAre,
)
from sapo_desktop.worker.control.messages.replies import Checkpoints, SettingsAre, Status
from sapo_desktop.worker.control.messages.requests import (
    GetSettings,
    GetStatus,
    ListCheckpoints,
    Quit,
    SetSettings,
    SetSilo,
    StartRounds,
)
from tests.models.hub_server import FakeHub, Fault, Repo, running_hub, with_a_network
from tests.whole.nodes import is_state, sapo, until, worker

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
REPO = "someone/starter"
NAME = "someone--starter"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    with_a_network(monkeypatch)
    with running_hub() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.endpoint)
        files = {path.name: path.read_bytes() for path in resource("starter").iterdir()}
        weights = load(files["model.safetensors"])
        weights["model.norm.weight"] = 1.01 * weights["model.norm.weight"]  # another model than the starter
        files["model.safetensors"] = save(weights, {"format": "pt"})
        server.repos[REPO] = Repo(files, {"model.safetensors"})
        yield server


@pytest.fixture
def data(tmp_path: Path, hub: FakeHub) -> Path:
    """A node's folder that knows the hub, in silo."""
    folder = tmp_path / "node"
    folder.mkdir()
    settings = Settings(models_folder=str(tmp_path / "models"))
    settings_file.write(folder / "settings.toml", settings)
    return folder


def lines(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


async def goes_on_with(client: Client, model: str, *, after: int) -> None:
    """Choose a model, and play a round with it."""
    await client.call(SetSettings(values={"model": model}))
    await until(client, lambda event: isinstance(event, Snapshot) and event.status.state == "idle")
    are = await client.call(GetSettings())
    assert isinstance(are, SettingsAre) and are.settings.model == model and are.waiting == []
    await client.call(StartRounds(rounds=1))
    finished = await until(client, lambda event: isinstance(event, RoundFinished))
    assert isinstance(finished, RoundFinished) and finished.report.round == after + 1
    await until(client, is_state("idle"))


def test_a_downloaded_model_learns(data: Path) -> None:
    refused = sapo(data, "models", "download", REPO, check=False)
    assert refused.returncode == 1 and "in silo" in refused.stderr
    sapo(data, "silo", "off")
    sapo(data, "models", "download", REPO)
    sapo(data, "silo", "on")
    options = ("--set", "questions=8", "--set", "validate_every=0", "--json")
    played = lines(sapo(data, "run", "--rounds", "1", "--model", REPO, *options).stdout)
    assert next(line["model"] for line in played if "model" in line) == REPO
    assert [line["round"] for line in played if line["event"] == "round"] == [1]
    used = sapo(data, "run", "--rounds", "1", "--model", "nobody/none", "--json", check=False)
    assert used.returncode == 1 and "models download nobody/none" in used.stderr


async def test_a_node_downloads_while_it_learns_and_stops_in_silo(data: Path, hub: FakeHub) -> None:
    client = await worker(data, 1, silo="off")
    try:
        hub.plan("cdn", Fault(hold_after=1_000_000))
        await client.call(DownloadModel(model=REPO))
        await until(client, lambda event: isinstance(event, ModelProgressed) and event.transfer.done > 1_000_000)
        await client.call(SetSilo(on=True))
        failed = await until(client, lambda event: isinstance(event, ModelFailed))
        assert isinstance(failed, ModelFailed) and "cancelled" in str(failed.text)
        await client.call(SetSilo(on=False))
        await client.call(DownloadModel(model=REPO))
        installed = await until(client, lambda event: isinstance(event, ModelInstalled))
        assert isinstance(installed, ModelInstalled) and installed.installed.name == NAME
        ranges = [asked.headers.get("range") for asked in hub.asked if asked.place == "cdn"]
        assert ranges == [None, None], "a file that was cancelled begins again (docs/decisions/007)"
        found = await client.call(GetModels())
        assert isinstance(found, ModelsAre) and [model.name for model in found.contents.models] == [NAME]
        status = await client.call(GetStatus())
        assert isinstance(status, Status)
        if status.state != "idle":  # the event was read above, where the round was the faster one
            await until(client, is_state("idle"))
        await goes_on_with(client, NAME, after=1)
        await goes_on_with(client, "starter", after=2)
        listed = await client.call(ListCheckpoints())
        assert isinstance(listed, Checkpoints)
        assert {item.round for item in listed.items if item.other_model} == {1, 2}  # begun after 1, learned in 2
    finally:
        await client.call(Quit())
        await client.close()

"""Downloads in their own process: killed, suspended, cancelled, continued; and none at all in silo."""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest

from sapo_desktop.core.errors import AccessRefused, DownloadError, HostDied, InSilo, ModelError
from sapo_desktop.core.models import Access, Contents, Fetch, Kept, Look, Transfer
from sapo_desktop.core.settings import Settings
from sapo_desktop.models.files.store import Store
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.secrets.kept_secrets import hub_token
from sapo_desktop.worker.hosts import librarian
from sapo_desktop.worker.hosts.hosting import Host
from sapo_desktop.worker.hosts.protocol import KINDS, HostOptions
from tests.models.hub_server import FakeHub, Fault, Repo, running_hub, safetensors_hit, with_a_network
from tests.models.small_models import transformers_files, zeros

REPO = "someone/small"
HELD = 100_000
PIECE = 65_536
"""Of what is held, this much is reported: bytes come in pieces."""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    with_a_network(monkeypatch)
    with running_hub() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.endpoint)
        server.repos[REPO] = Repo(transformers_files(), {"model.safetensors"})
        yield server


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataFolder:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    return DataFolder.open(tmp_path / "node")


def settings(hub: FakeHub, data: DataFolder, **changed: Any) -> Settings:
    values = {"models_folder": str(data.root / "models"), "silo": False} | changed
    return msgspec.structs.replace(Settings(), **values)


def request(hub: FakeHub, data: DataFolder) -> Fetch:
    return Fetch(folder=str(data.root / "models"), reference=REPO, access=Access(endpoint=hub.endpoint))


def weights(data: DataFolder) -> bytes:
    return (data.root / "models" / "someone--small" / "model.safetensors").read_bytes()


def ranges(hub: FakeHub) -> list[str | None]:
    return [asked.headers.get("range") for asked in hub.asked if asked.place == "cdn"]


async def held(reports: list[Transfer]) -> None:
    """Until the download has come to where the hub holds it."""
    async with asyncio.timeout(60):
        while not reports or reports[-1].done < PIECE:
            await asyncio.sleep(0.01)


Scene = Callable[[Host, list[Transfer], "asyncio.Task[Kept]"], Awaitable[None]]


async def with_host(hub: FakeHub, data: DataFolder, scene: Scene) -> None:
    """A host that downloads, and what it has reported."""
    host, reports = await Host.start(HostOptions(kind=KINDS["librarian"], log=data.log("librarian"))), list[Transfer]()
    try:
        task = asyncio.create_task(host.call(request(hub, data), None, reports.append))
        await scene(host, reports, task)
    finally:
        await host.stop()


async def test_a_model_is_downloaded_and_nothing_else_is_written_or_asked(hub: FakeHub, data: DataFolder) -> None:
    reports: list[Transfer] = []
    kept = await librarian.fetch(settings(hub, data), data, REPO, [], reports.append)
    assert kept.model.name == "someone--small" and weights(data) == hub.repos[REPO].files["model.safetensors"]
    assert hub.count("other") == 0 and list(Path(os.environ["HOME"]).iterdir()) == []
    assert [report.done for report in reports] == sorted(report.done for report in reports)
    assert [report.total for report in reports if report.total][-1] == kept.model.bytes


async def test_after_kill_9_whole_files_are_kept_and_parts_deleted(hub: FakeHub, data: DataFolder) -> None:
    async def killed(host: Host, reports: list[Transfer], task: asyncio.Task[Kept]) -> None:
        await held(reports)
        assert host.pid is not None
        os.kill(host.pid, signal.SIGKILL)
        with pytest.raises(HostDied):
            await task

    hub.plan("cdn", Fault(hold_after=HELD))
    await with_host(hub, data, killed)
    assert Store(data.root / "models").contents().unfinished[0].bytes >= PIECE
    small = hub.count("file")
    await librarian.fetch(settings(hub, data), data, REPO, [])
    assert ranges(hub) == [None, None] and hub.count("file") == small
    assert not (data.root / "models" / ".partial" / "someone--small").exists()
    assert weights(data) == hub.repos[REPO].files["model.safetensors"]


async def test_after_a_sleep_in_which_the_line_broke_it_goes_on(hub: FakeHub, data: DataFolder) -> None:
    async def asleep(host: Host, reports: list[Transfer], task: asyncio.Task[Kept]) -> None:
        await held(reports)
        host.suspend()
        hub.release.set()
        await asyncio.sleep(0.2)
        host.resume()
        await task

    hub.plan("cdn", Fault(hold_after=HELD))
    await with_host(hub, data, asleep)
    assert ranges(hub) == [None, f"bytes={PIECE}-"]


async def test_to_cancel_ends_the_process(hub: FakeHub, data: DataFolder) -> None:
    hub.plan("cdn", Fault(hold_after=HELD))
    reports: list[Transfer] = []
    task = asyncio.create_task(librarian.fetch(settings(hub, data), data, REPO, [], reports.append))
    await held(reports)
    task.cancel()
    await asyncio.wait({task}, timeout=10)
    assert task.cancelled()
    assert [child for child in psutil.Process().children() if "librarian" in child.cmdline()] == []
    await librarian.fetch(settings(hub, data), data, REPO, [])
    assert weights(data) == hub.repos[REPO].files["model.safetensors"]


async def test_another_rate_holds_at_once(hub: FakeHub, data: DataFolder) -> None:
    rate, reports = librarian.Rate(), list[Transfer]()
    rate.kilobytes = 1
    files = hub.repos[REPO].files | {"model.safetensors": zeros(500_000)}
    hub.repos[REPO].files = files
    task = asyncio.create_task(librarian.fetch(settings(hub, data), data, REPO, [], reports.append, rate))
    await held(reports)
    assert not task.done(), "2 MB at a KB a second"
    rate.set(0)
    async with asyncio.timeout(30):
        await task
    assert weights(data) == files["model.safetensors"] and ranges(hub) == [None]


async def test_a_refusal_looks_up_the_token(hub: FakeHub, data: DataFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def load(endpoint: str) -> str | None:
        asked.append(endpoint)
        return tokens.get(endpoint)

    tokens: dict[str, str] = {}
    monkeypatch.setattr(hub_token, "load", load)
    hub.repos["someone/gated"] = Repo(transformers_files(), set(), token="hf_secret_word")
    await librarian.fetch(settings(hub, data), data, REPO, [])
    assert asked == []
    with pytest.raises(AccessRefused, match="models token set"):
        await librarian.fetch(settings(hub, data), data, "someone/gated", [])
    tokens[hub.endpoint] = "hf_secret_word"
    await librarian.fetch(settings(hub, data), data, "someone/gated", [])
    assert asked == [hub.endpoint] * 2
    assert "hf_secret_word" not in data.log("librarian").read_text()


async def test_in_silo_nothing_is_searched_and_what_is_here_is_found(
    hub: FakeHub, data: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    await librarian.fetch(settings(hub, data), data, REPO, [])
    hub.asked.clear()
    in_silo = settings(hub, data, silo=True)
    kept = await librarian.fetch(in_silo, data, REPO, [])
    assert kept.model.name == "someone--small" and Path(kept.path).is_dir() and "already" in str(kept.notes[0])
    with pytest.raises(InSilo, match=r"in silo: no network at all.*silo off.*models import"):
        await librarian.fetch(in_silo, data, "someone/other", [])

    def started(*args: object, **kwargs: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(Host, "start", started)
    with pytest.raises(InSilo, match=r"in silo: no network at all, so nothing is searched"):
        await librarian.search(in_silo, data, "small")
    assert hub.asked == []


async def test_a_search_gives_models_or_says_in_a_sentence_why_not(
    hub: FakeHub, data: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.found = [safetensors_hit("o/small", 10**8)]
    found = await librarian.search(settings(hub, data), data, "small")
    assert [model.repository for model in found.models] == ["o/small"]
    monkeypatch.setattr(librarian, "_SEARCH_SECONDS", 1.0)
    hub.plan("search", Fault(trickling_head=True))
    with pytest.raises(DownloadError, match="did not finish its answer within 1 s"):
        await librarian.search(settings(hub, data), data, "small")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(InSilo, match="HF_HUB_OFFLINE"):
        await librarian.search(settings(hub, data), data, "small")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of memory from /proc")
@pytest.mark.allowed_skip("other systems tell the peak otherwise")
async def test_a_host_that_sends_faster_than_we_write_fills_no_memory(hub: FakeHub, data: DataFolder) -> None:
    peaks: list[int] = []

    async def watched(host: Host, reports: list[Transfer], task: asyncio.Task[Kept]) -> None:
        await task
        status = Path(f"/proc/{host.pid}/status").read_text()
        peaks.append(int(status.partition("VmHWM:")[2].split()[0]))

    files = hub.repos[REPO].files
    await with_host(hub, data, watched)
    Store(data.root / "models").remove("someone--small")
    hub.repos[REPO].files = files | {"model.safetensors": zeros(75_000_000)}
    hub.repos[REPO].commit = "d" * 40
    await with_host(hub, data, watched)
    small, large = peaks
    assert large - small < 50_000, "KiB: the file has 300 MB"


async def test_a_name_that_the_catalogue_lacks_is_said(hub: FakeHub, data: DataFolder) -> None:
    with pytest.raises(ModelError, match="The catalogue has no model 'qwen9'"):
        await librarian.fetch(settings(hub, data), data, "qwen9", [])


async def test_looking_makes_no_folder(data: DataFolder) -> None:
    look = Look(folder=str(data.root / "models"))
    assert await librarian.ask(look, data) == Contents()
    assert not (data.root / "models").exists()


def test_the_endpoint_is_the_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    assert librarian.endpoint() == "https://huggingface.co"
    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.example/")
    assert librarian.endpoint() == "https://mirror.example"

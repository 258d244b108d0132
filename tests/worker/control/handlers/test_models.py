"""The worker's downloads and imports: one at a time, reported by events; cancel, silo and the end stop them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sapo_desktop.core.errors import DownloadError, InSilo, UsageError
from sapo_desktop.core.link.requests import Message
from sapo_desktop.core.models import Contents, Fetch, Installed, Kept, Look, Removed, StoreRequest, TakeIn, Transfer
from sapo_desktop.core.sentences import sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.secrets.kept_secrets import hub_token
from sapo_desktop.worker.control.handlers.models import ModelRequests
from sapo_desktop.worker.control.messages import models
from sapo_desktop.worker.control.messages.events import Event
from sapo_desktop.worker.hosts import librarian
from tests.models.hub_server import with_a_network

CANCELLED = models.ModelFailed(
    model="o/small", kind="HostCancelled", text=sentence("{model}: cancelled.", model="o/small")
)
MODEL = Installed(name="small", kind="gguf", source="o/small", installed=1.0, files={})


class Library:
    """Stands in for the process: gives the prepared answer, when the test wants it."""

    def __init__(self, folder: Path) -> None:
        self.settings = Settings(silo=False, models_folder=str(folder / "models"))
        self.events: list[Event] = []
        self.answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.asked: list[StoreRequest] = []
        self.rate: librarian.Rate | None = None
        self.requests = ModelRequests(DataFolder.at(folder), lambda: self.settings, self.events.append)

    async def ask(
        self,
        request: StoreRequest,
        data: DataFolder,
        moved: Any = None,
        rate: librarian.Rate | None = None,
    ) -> Any:
        self.asked.append(request)
        self.rate = rate
        if moved is not None:
            moved(Transfer(stage="fetching", done=1, total=2))
        return await asyncio.shield(self.answer)

    async def until(self, kind: type[Message]) -> Any:
        async with asyncio.timeout(5):
            while not isinstance(self.events[-1] if self.events else None, kind):
                await asyncio.sleep(0)
        return self.events[-1]


@pytest.fixture
async def it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Library]:
    with_a_network(monkeypatch)
    library = Library(tmp_path)
    monkeypatch.setattr(librarian, "ask", library.ask)
    yield library
    await library.requests.close()


async def test_a_download_is_answered_at_once_and_reported_by_events(it: Library) -> None:
    assert str((await it.requests.download(models.DownloadModel(model="o/small"))).text) == "Downloading o/small."
    moved = await it.until(models.ModelProgressed)
    assert (moved.model, moved.transfer.done) == ("o/small", 1)
    it.answer.set_result(Kept(model=MODEL, path="/models/small", notes=["A note."]))
    ended = await it.until(models.ModelInstalled)
    assert (ended.model, ended.installed, ended.notes) == ("o/small", MODEL, ["A note."])


async def test_a_failure_is_reported_with_its_kind(it: Library) -> None:
    await it.requests.download(models.DownloadModel(model="o/small"))
    it.answer.set_exception(DownloadError("The line is dead."))
    ended = await it.until(models.ModelFailed)
    assert (ended.kind, ended.text) == ("DownloadError", "The line is dead.")
    it.answer = asyncio.get_running_loop().create_future()
    it.events.clear()
    await it.requests.download(models.DownloadModel(model="o/small"))
    it.answer.set_exception(ZeroDivisionError("oops"))
    assert "internal error (ZeroDivisionError" in str((await it.until(models.ModelFailed)).text)


async def test_a_download_hears_of_the_rate_that_holds_now(it: Library) -> None:
    it.requests.at_rate(20)
    await it.requests.download(models.DownloadModel(model="o/small"))
    await it.until(models.ModelProgressed)
    (request,) = it.asked
    assert isinstance(request, Fetch) and request.access.most_bytes == 20_000
    assert it.rate is not None
    it.rate.changed.clear()
    it.requests.at_rate(20)
    assert not it.rate.changed.is_set()
    it.requests.at_rate(50)
    assert it.rate.changed.is_set() and it.rate.kilobytes == 50


async def test_one_at_a_time(it: Library) -> None:
    await it.requests.download(models.DownloadModel(model="o/small"))
    assert "already" in str((await it.requests.download(models.DownloadModel(model="o/small"))).text)
    with pytest.raises(UsageError, match="o/small is still downloading"):
        await it.requests.import_(models.ImportModel(path="/x"))
    await it.until(models.ModelProgressed)
    assert len(it.asked) == 1


async def test_cancel_ends_it_and_the_next_may_begin(it: Library) -> None:
    assert "Nothing" in str((await it.requests.cancel(models.CancelModelWork())).text)
    await it.requests.download(models.DownloadModel(model="o/small"))
    await it.until(models.ModelProgressed)
    assert "o/small: cancelled" in str((await it.requests.cancel(models.CancelModelWork())).text)
    assert it.events[-1] == CANCELLED
    await it.requests.import_(models.ImportModel(path="/x", name="y"))
    await it.until(models.ModelProgressed)
    assert isinstance(it.asked[-1], TakeIn) and it.asked[-1].name == "y"


async def test_what_is_cancelled_before_its_first_step_is_over_too(it: Library) -> None:
    for _ in range(2):
        assert "Downloading" in str((await it.requests.download(models.DownloadModel(model="o/small"))).text)
        await it.requests.cancel(models.CancelModelWork())
        assert it.events.pop() == CANCELLED
    assert it.asked == []
    assert "Nothing" in str((await it.requests.cancel(models.CancelModelWork())).text)


async def test_silo_forbids_a_download_and_ends_the_one_under_way(it: Library) -> None:
    await it.requests.download(models.DownloadModel(model="o/small"))
    await it.until(models.ModelProgressed)
    it.settings = msgspec.structs.replace(it.settings, silo=True)
    await it.requests.follow(it.settings)
    assert isinstance(it.events[-1], models.ModelFailed)
    it.answer.set_result(Contents())
    with pytest.raises(InSilo, match="in silo"):
        await it.requests.download(models.DownloadModel(model="o/small"))
    it.answer = asyncio.get_running_loop().create_future()
    await it.requests.import_(models.ImportModel(path="/x"))
    await it.until(models.ModelProgressed)
    await it.requests.follow(it.settings)
    assert isinstance(it.events[-1], models.ModelProgressed), "an import needs no network"


async def test_in_silo_a_download_of_what_is_here_succeeds(it: Library) -> None:
    it.settings = msgspec.structs.replace(it.settings, silo=True)
    it.answer.set_result(Contents(models=[MODEL]))
    await it.requests.download(models.DownloadModel(model="o/small"))
    ended = await it.until(models.ModelInstalled)
    assert ended.installed == MODEL and "already" in str(ended.notes[0])
    assert all(isinstance(asked, Look) and asked.reference == "o/small" for asked in it.asked)


async def test_silo_ends_a_search_and_says_so(it: Library) -> None:
    search = asyncio.create_task(it.requests.search(models.SearchHub(words="small")))
    while not it.asked:
        await asyncio.sleep(0)
    it.settings = msgspec.structs.replace(it.settings, silo=True)
    await it.requests.follow(it.settings)
    with pytest.raises(InSilo, match="nothing is searched"):
        await search
    with pytest.raises(InSilo, match="nothing is searched"):
        await it.requests.search(models.SearchHub(words="small"))
    assert len(it.asked) == 1


async def test_what_is_there_and_under_way_is_listed(it: Library) -> None:
    it.answer.set_result(Contents(models=[MODEL]))
    found = await it.requests.list(models.GetModels())
    assert found.contents.models == [MODEL] and found.working is None
    assert found.folder == it.settings.models_folder


async def test_the_nodes_own_model_is_not_removed(it: Library) -> None:
    it.settings = msgspec.structs.replace(it.settings, model="small")
    with pytest.raises(UsageError, match="is the model in use"):
        await it.requests.remove(models.RemoveModel(name="small"))
    it.settings = msgspec.structs.replace(it.settings, model="owner/small")
    with pytest.raises(UsageError, match="is the model in use"):
        await it.requests.remove(models.RemoveModel(name="owner--small"))
    it.answer.set_result(Removed(name="other", bytes=5))
    assert (await it.requests.remove(models.RemoveModel(name="other"))).bytes == 5


async def test_a_token_is_kept_for_its_endpoint(it: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[str, str] = {}
    monkeypatch.setattr(hub_token, "keep", kept.__setitem__)
    monkeypatch.setattr(hub_token, "forget", lambda hub: kept.pop(hub, None) is not None)

    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.example")
    await it.requests.set_token(models.SetHubToken(token="hf_word_of_mine"))
    assert kept == {"https://mirror.example": "hf_word_of_mine"}
    assert "deleted" in str((await it.requests.set_token(models.SetHubToken(token=None))).text)
    assert "no token" in str((await it.requests.set_token(models.SetHubToken(token=None))).text)
    assert "word" not in repr(models.SetHubToken(token="hf_word_of_mine"))

"""torch next to another server: when it is asked, what happens at its end, and one that accepts no adapter."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from sapo_desktop.core.errors import AdapterRefused, NotWritten, TooBig
from sapo_desktop.core.records import Sampling
from sapo_desktop.core.resources import resource
from sapo_desktop.core.settings import Settings
from sapo_desktop.engines import protocols as p
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.tasks.catalogue import load_catalogue
from sapo_desktop.worker import assembly
from sapo_desktop.worker.control.messages.events import Event
from sapo_desktop.worker.control.messages.facts import Notice
from sapo_desktop.worker.hosts import generator
from sapo_desktop.worker.hosts.choice import EngineChoice
from sapo_desktop.worker.hosts.engine import Engine
from sapo_desktop.worker.hosts.engine_hosts import load
from sapo_desktop.worker.hosts.generator import Server
from sapo_desktop.worker.hosts.trainer import EnginePlan, Kept, Trainer
from tests.builders import as_prompts
from tests.worker.fakes import engine_plan
from tests.worker.hosts.test_llama_cpp import LOADED, Recorder, full
from tests.worker.test_node import SETTINGS, Scene

LOAD = p.LoadRemote(url="http://gpu:8000", model="", folder="model")
WAY = EngineChoice(generator="remote", trains=True)


class RemoteHost(Recorder):
    """The host that speaks to a server."""

    def __init__(self, learns: bool = True) -> None:
        super().__init__()
        self.learns = learns
        self.refuses = False
        self.hangs = False
        self.asleep = False
        self.versions: dict[str, str] = {}

    async def call(self, request: Any, timeout: float, on_progress: Any = None, *, loading: bool = False) -> Any:
        done = await super().call(request, timeout, on_progress, loading=loading)
        match request:
            case p.LoadRemote():
                return msgspec.structs.replace(LOADED, learns=self.learns, context=2048)
            case p.UseAdapter() if self.refuses:
                raise AdapterRefused("The server takes none.")
            case p.UseAdapter() if self.hangs or self.asleep:
                await asyncio.Event().wait()
        return done

    async def cancel(self) -> None:
        self.asked.clear()

    def resume(self) -> None:
        self.asleep = False


class Remote:
    """An engine over two recorders."""

    def __init__(self, folder: Path, learns: bool = True) -> None:
        self.trainer, self.server = Recorder(), RemoteHost(learns)
        host: Any = self.server
        trainer = Trainer(self.trainer)  # type: ignore[arg-type]
        self.engine = Engine(trainer, engine_plan(choice=WAY), Server(host, LOAD, folder / "adapters", trainer))

    def load(self) -> None:
        asyncio.run(self.engine.load(None))


@pytest.fixture
def remote(tmp_path: Path) -> Remote:
    made = Remote(tmp_path)
    made.load()
    return made


def test_the_first_adapter_goes_over_at_once(remote: Remote) -> None:
    assert remote.server.kinds() == ["LoadRemote", "UseAdapter"]
    assert remote.trainer.kinds() == ["Load", "Save"]


async def test_after_a_restart_scores_are_of_the_average_again(remote: Remote) -> None:
    for _ in range(2):
        await remote.engine.generate_with(None, as_prompts(["1+1?"]), Sampling(), live=True)
        saved = [one.averaged for one in remote.trainer.asked if isinstance(one, p.Save)]
        assert saved == [False, True]
        remote.trainer.asked.clear()
        await remote.engine.restart(None)


async def test_a_full_disk_is_said_where_an_adapter_is_handed_over(
    remote: Remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(NotWritten, match="the disk is full"):
        await remote.engine.restart(None)


def test_a_server_that_takes_no_adapter_is_found_out_before_the_trainer_loads(tmp_path: Path) -> None:
    remote = Remote(tmp_path, learns=False)
    with pytest.raises(AdapterRefused, match="Set remote_adapters to empty"):
        remote.load()
    assert remote.trainer.kinds() == []


@pytest.mark.parametrize("asleep", [False, True])
async def test_a_node_that_ends_takes_its_adapter_out(remote: Remote, asleep: bool) -> None:
    remote.server.asleep = asleep
    await remote.engine.stop()
    assert remote.server.asked == [p.UseAdapter(file=None)]
    assert remote.server.pid is None and remote.trainer.pid is None


async def test_a_server_that_does_not_forget_keeps_nobody(remote: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generator, "PARTING_SECONDS", 0.01)
    remote.server.hangs = True
    await remote.engine.stop()
    assert remote.server.pid is None and remote.trainer.pid is None


async def test_what_is_not_connected_is_not_asked_at_the_end(tmp_path: Path) -> None:
    remote = Remote(tmp_path)
    await remote.engine.stop()
    assert remote.server.asked == []


async def nothing_fits(asked: EnginePlan, held: int, measure: object) -> EnginePlan:
    """A look at a memory that is full."""
    raise TooBig("It does not fit.")


async def test_no_smaller_model_takes_the_place_of_the_servers(tmp_path: Path) -> None:
    remote = Remote(tmp_path)
    remote.engine.fitting = nothing_fits
    scene = Scene(tmp_path, SETTINGS, 1e9, engine=remote.engine)
    with pytest.raises(TooBig):
        await load(scene.node.engine, None, scene.node.relief.take_smaller_model)
    assert scene.notices() == []
    scene.keeper.history.close()


class Assembly:
    """A node put together over recorders, whose server takes no adapter."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, *, learns: bool = True, trainer: str, fits: bool = True
    ) -> None:
        self.folder = folder
        self.settings = msgspec.convert(
            {"generator": "remote", "silo": False, "remote_url": LOAD.url, "remote_adapters": "/shared"}
            | {"trainer": trainer},
            Settings,
        )
        self.remote = Remote(folder, learns)
        self.remote.server.refuses = fits
        if not fits:
            monkeypatch.setattr(assembly, "Fitting", lambda *_: SimpleNamespace(fit=nothing_fits))
        self.events: list[Event] = []
        monkeypatch.setattr(assembly, "start_both", self._start)
        monkeypatch.setattr(assembly, "start_engine", self._start_engine)

    async def _start(self, hosting: Any, model: Any, settings: Any, plan: EnginePlan) -> tuple[Engine, RemoteHost]:
        self.remote.engine.plan = plan
        return self.remote.engine, RemoteHost()

    async def _start_engine(self, hosting: Any, model: Any, settings: Any, plan: EnginePlan) -> Engine:
        assert not plan.choice.trains
        host: Any = RemoteHost(learns=False)
        return Engine(Kept(self.folder / "kept"), plan, Server(host, LOAD, self.folder / "unused"))

    def run(self) -> Engine:
        async def work() -> Engine:
            folder = DataFolder.open(self.folder / "node")
            catalogue = load_catalogue(resource("tasks.toml"))
            made = await assembly.assemble(folder, self.settings, catalogue, self.events.append, "")
            await made.close()
            return made.node.engine

        return asyncio.run(work())


@pytest.mark.parametrize("trainer", ["auto", "torch"])
@pytest.mark.parametrize(
    ("learns", "fits", "error", "said"),
    [
        (False, True, AdapterRefused, "Until then this node only answers"),
        (True, True, AdapterRefused, "Until then this node only answers"),
        (True, False, TooBig, "It does not fit. So this node only answers"),
    ],
    ids=["known from what it is", "found out with the first adapter", "memory was taken meanwhile"],
)
def test_where_nothing_can_be_learned_the_server_still_answers_unless_torch_is_asked_for(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    trainer: str,
    learns: bool,
    fits: bool,
    error: type[Exception],
    said: str,
) -> None:
    put = Assembly(tmp_path, monkeypatch, learns=learns, trainer=trainer, fits=fits)
    if trainer == "torch":
        with pytest.raises(error):
            put.run()
    else:
        engine = put.run()
        assert not engine.trains and engine.plan.choice.note
        assert sum(said in str(event.text) for event in put.events if isinstance(event, Notice)) == 1
    assert put.remote.trainer.pid is None and put.remote.server.pid is None

"""Whatever happens while another checkpoint is loaded, the live adapter returns, or the host ends."""

import asyncio
import dataclasses
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sapo_desktop.core.errors import CardUnusable, CheckpointError, HostCancelled, HostDied
from sapo_desktop.core.records import Sampling
from sapo_desktop.engines.protocols import Done, Generate, Load, Restore, Save, Step, Stepped, TokenText
from sapo_desktop.worker.hosts import ahead
from sapo_desktop.worker.hosts.choice import EngineChoice
from sapo_desktop.worker.hosts.engine import Engine, is_on_card
from sapo_desktop.worker.hosts.trainer import EnginePlan, Trainer
from tests.builders import as_prompts, step_report
from tests.worker.fakes import FakeHost, engine_plan, generated
from tests.worker.hosts.test_llama_cpp import LOADED

CHECKPOINT = Path("checkpoints") / "00000007"


class CalledHost(FakeHost):
    """Remembers what it was to load and which state is in, and fails where the test wants it."""

    def __init__(self) -> None:
        super().__init__()
        self.state = "live"
        self.saved = ""
        self.cancelled_in_restore = False
        self.lost_live = False
        self.pieces: list[tuple[str, int]] = []
        self.loads: list[Load] = []

    async def call(
        self, request: msgspec.Struct, timeout: float | None, on_progress: Any = None, *, loading: bool = False
    ) -> msgspec.Struct:
        match request:
            case Load():
                self.loads.append(request)
                return LOADED
            case Save(folder=folder):
                self.saved = folder
            case Restore(folder=folder) if folder == self.saved:
                if self.lost_live:
                    raise CheckpointError("The folder is gone.")
                self.state = "live"
            case Restore(folder=folder):
                self.state = str(folder)
                if self.cancelled_in_restore:  # the host had done it before it heard that nobody waits
                    raise asyncio.CancelledError
            case Generate(prompts=prompts):
                for text, tokens in self.pieces:
                    on_progress(TokenText(text=text, tokens=tokens))
                return generated([prompt.question for prompt in prompts], 1, 1)
        return Done()


class BusyHost(CalledHost):
    """Its work takes until `done`; what is asked aside is counted, or given up."""

    def __init__(self) -> None:
        super().__init__()
        self.done = asyncio.Event()
        self.asides = 0
        self.gives_up = False

    async def call(self, request: msgspec.Struct, *rest: Any, **more: Any) -> msgspec.Struct:
        if isinstance(request, Generate):
            await self.done.wait()
        return await super().call(request, *rest, **more)

    async def call_aside(self, request: msgspec.Struct, *rest: Any) -> msgspec.Struct:
        assert isinstance(request, Generate) and self.state == "live"
        self.asides += 1
        if self.gives_up:
            raise HostCancelled("The work was cancelled on purpose.")
        return generated(request.prompts, 1, 1)


def engine_on(host: Any, **changes: Any) -> Engine:
    return Engine(Trainer(host), engine_plan(**changes))


async def begun(host: BusyHost, checkpoint: Path | None = None) -> tuple[Engine, asyncio.Task[Any]]:
    """An engine at work."""
    engine = engine_on(host)
    await engine.load(None)
    work = asyncio.create_task(engine.generate_with(checkpoint, as_prompts(["long?"]), Sampling()))
    while not engine.busy or (checkpoint is not None and host.state == "live"):
        await asyncio.sleep(0)
    return engine, work


def asked(engine: Engine, *, live: bool = True) -> asyncio.Task[Any]:
    return asyncio.create_task(engine.generate_with(None, as_prompts(["1+1?"]), Sampling(), live=live, urgent=True))


@pytest.mark.parametrize("live", [True, False])
async def test_a_person_is_answered_before_the_current_work_is_done(live: bool) -> None:
    host = BusyHost()
    engine, work = await begun(host)
    await asked(engine, live=live)
    assert host.asides == 1 and not work.done()
    host.done.set()
    await work


async def test_a_person_waits_while_another_checkpoint_is_in() -> None:
    host = BusyHost()
    engine, work = await begun(host, CHECKPOINT)
    asking = asked(engine)
    for _ in range(20):
        await asyncio.sleep(0)
    assert not asking.done()
    host.done.set()
    await asyncio.gather(work, asking)
    assert asking.result().completions and host.state == "live"  # a host that were asked meanwhile would say so


async def test_a_question_that_was_given_up_with_the_work_waits_for_its_turn() -> None:
    host = BusyHost()
    engine, work = await begun(host)
    host.gives_up = True
    asking = asked(engine)
    host.done.set()
    await asyncio.gather(work, asking)
    assert host.asides == 1 and asking.result().completions


class BesideHost(CalledHost):
    """Answers during a step, as asked."""

    def __init__(self) -> None:
        super().__init__()
        self.answered: list[list[str]] = []
        self.beside: list[Generate | None] = []

    async def call(self, request: msgspec.Struct, *rest: Any, **more: Any) -> msgspec.Struct:
        if isinstance(request, Generate):
            self.answered.append([prompt.question for prompt in request.prompts])
        if isinstance(request, Step):
            self.beside.append(request.beside)
            asked = [prompt.question for prompt in request.beside.prompts] if request.beside else []
            made = generated(asked, 2, 1) if request.beside else None
            return Stepped(report=step_report(skipped=False), beside=made)
        return await super().call(request, *rest, **more)


async def overlapping(threads: int = 2, room: bool = True) -> tuple[Engine, BesideHost]:
    """An engine that got the next round's prompts, and took a step."""
    host = BesideHost()
    engine = engine_on(host, threads=threads, overlap=room)
    await engine.load(None)
    engine.answer_ahead(as_prompts(["next?"]), 2, Sampling(seed=4))
    await engine.step([])
    return engine, host


async def ask_next(engine: Engine, question: str = "next?", seed: int = 4) -> None:
    made = await engine.generate(as_prompts([question]), 2, Sampling(seed=seed))
    assert len(made.completions) == 1


async def test_answers_made_during_the_step_is_there_until_the_next_one() -> None:
    engine, host = await overlapping()
    await ask_next(engine)
    await ask_next(engine)  # a round that is played again
    assert host.answered == []
    await engine.step([])
    await ask_next(engine)
    assert host.answered == [["next?"]]
    assert [beside is None for beside in host.beside] == [False, True]


async def test_answers_made_during_the_step_is_kept_with_its_checkpoint(tmp_path: Path) -> None:
    first, _ = await overlapping()
    await first.save(tmp_path)
    host = BesideHost()
    second = engine_on(host, threads=2, overlap=True)
    await second.load(tmp_path)
    await ask_next(second)
    assert host.answered == []
    await second.load(None)
    await ask_next(second)
    assert host.answered == [["next?"]]


async def test_another_checkpoint_that_is_in_for_a_while_does_not_lose_it() -> None:
    engine, host = await overlapping()
    await engine.generate_with(CHECKPOINT, as_prompts(["1+1?"]), Sampling())
    host.answered.clear()
    await ask_next(engine)
    assert host.answered == []


async def test_of_a_checkpoint_of_another_version_the_next_round_is_answered_again(tmp_path: Path) -> None:
    engine, host = await overlapping()
    (tmp_path / ahead.FILE).write_bytes(b"\x81\xa7request\x01")
    await engine.restore(tmp_path)
    await ask_next(engine)
    assert host.answered == [["next?"]]


async def test_answers_that_cannot_be_read_are_said(tmp_path: Path) -> None:
    engine, _ = await overlapping()
    (tmp_path / ahead.FILE).mkdir()
    with pytest.raises(CheckpointError, match="The saved answers could not be read"):
        await engine.restore(tmp_path)


@pytest.mark.parametrize(("question", "seed"), [("another?", 4), ("next?", 5)])
async def test_what_is_asked_otherwise_is_answered_in_its_turn(question: str, seed: int) -> None:
    engine, host = await overlapping()
    await ask_next(engine, question, seed)
    await ask_next(engine)
    assert host.answered == [[question]]


async def test_answers_of_an_adapter_that_was_gone_back_from_are_dropped() -> None:
    engine, host = await overlapping()
    await engine.restore(CHECKPOINT, weights_only=True)
    await ask_next(engine)
    assert host.answered == [["next?"]]


@pytest.mark.parametrize(("threads", "room"), [(1, True), (2, False)])
async def test_without_a_thread_or_room_for_it_nothing_is_answered_ahead(threads: int, room: bool) -> None:
    _, host = await overlapping(threads, room)
    assert host.beside == [None]


async def answer(host: CalledHost) -> None:
    engine = engine_on(host)
    await engine.generate_with(CHECKPOINT, as_prompts(["1+1?"]), Sampling())


async def test_the_live_adapter_is_put_back() -> None:
    host = CalledHost()
    await answer(host)
    assert host.state == "live"


async def test_a_request_cancelled_while_the_checkpoint_is_put_in_leaves_the_live_adapter() -> None:
    host = CalledHost()
    host.cancelled_in_restore = True
    with pytest.raises(asyncio.CancelledError):
        await answer(host)
    assert host.state == "live"


async def test_a_live_adapter_that_cannot_be_put_back_ends_the_host_so_that_no_round_trains_the_wrong_one() -> None:
    host = CalledHost()
    host.lost_live = True
    with pytest.raises(HostDied, match=r"The folder is gone\."):
        await answer(host)
    assert host.pid is None


async def test_torch_computes_where_it_was_found_to_fit() -> None:
    """A card that is too small leaves the processor, though the setting leaves it open."""

    host = CalledHost()
    way = EngineChoice("torch", trains=True, device="cpu")
    engine = engine_on(host, device="auto", choice=way)
    await engine.load(None)
    assert [load.device for load in host.loads] == ["cpu"]


async def test_a_host_that_died_comes_back_with_the_checkpoint() -> None:
    class DeadHost(CalledHost):
        async def restart(self) -> None:
            self.state = "untrained"

    host = DeadHost()
    engine = engine_on(host)
    await engine.restart(CHECKPOINT)
    assert host.state == str(CHECKPOINT)


@pytest.mark.parametrize(
    ("state", "dtype"),
    [
        (b'{"version": 1, "method": "lora", "steps": 3, "dtype": "bfloat16"}', "bfloat16"),
        (b'{"version": 1, "method": "lora", "steps": 3}', "auto"),
        (b'{"dtype": "int3"}', "auto"),
        (b"{", "auto"),
        (None, "auto"),
    ],
)
async def test_a_checkpoint_is_gone_on_with_in_its_number_format(
    tmp_path: Path, state: bytes | None, dtype: str
) -> None:
    if state is not None:
        (tmp_path / "trainer.json").write_bytes(state)
    host = CalledHost()
    engine = engine_on(host)
    await engine.load(tmp_path)
    assert [load.dtype for load in host.loads] == [dtype]
    await engine.load(None)
    assert host.loads[-1].dtype == dtype, "nor does it change where the engine restarts"


class HostWithoutCard(CalledHost):
    """There is a card, and CUDA does not begin on it."""

    async def call(self, request: msgspec.Struct, *rest: Any, **more: Any) -> msgspec.Struct:
        loaded = await super().call(request, *rest, **more)
        if isinstance(request, Load) and request.device == "cuda":
            raise CardUnusable("The card cannot be computed on (error 304).")
        return loaded


async def fitted(plan: EnginePlan, held: int, measure: object) -> EnginePlan:
    """Like the loader: the run's number format, otherwise what is best where it computes."""
    best = "bfloat16" if plan.choice.device == "cuda" else "float32"
    return dataclasses.replace(plan, dtype=plan.dtype or best)


async def test_where_the_card_cannot_be_used_the_processor_computes_and_that_is_said() -> None:
    host = HostWithoutCard()
    engine = engine_on(host, device="auto", choice=EngineChoice("torch", True, device="cuda"))
    engine.fitting = fitted
    await engine.load(None)
    assert [(load.device, load.dtype) for load in host.loads] == [("cuda", "bfloat16"), ("cpu", "float32")]
    assert [str(text) for text in engine.said] == [
        "The card cannot be computed on (error 304). So the processor is used."
    ]
    await engine.load(None)
    assert [load.device for load in host.loads[2:]] == ["cpu"], "it is not tried at every load"


async def test_who_insists_on_the_card_is_shown_what_to_do() -> None:
    engine = engine_on(HostWithoutCard(), device="cuda")
    with pytest.raises(CardUnusable, match=r"error 304.*Set device to auto"):
        await engine.load(None)


@pytest.mark.parametrize(("device", "card"), [("cuda:0", True), ("gpu", True), ("cpu", False), ("mps", False)])
def test_what_engines_say_of_their_device_tells_whether_a_card_holds_them(device: str, card: bool) -> None:
    assert is_on_card(msgspec.structs.replace(LOADED, device=device)) is card
    assert not is_on_card(None)

"""Questions to the model: answers, their progress, and the same question to two states of the model."""

from collections.abc import Awaitable, Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from sapo_desktop.core.errors import ContextFull, TaskError, UsageError
from sapo_desktop.core.records import Completion, Exchange, Generated, Prompt, Sampling
from sapo_desktop.worker.control.handlers.asking import TELL_SECONDS, Asking
from sapo_desktop.worker.control.messages.asking import Ask, AskProgressed, SetQuestion, TryTask
from sapo_desktop.worker.hosts.engine import Engine
from sapo_desktop.worker.hosts.trainer import EnginePlan, Trainer
from tests.builders import as_prompts, loaded
from tests.worker.control.handlers.test_human import Examiner
from tests.worker.fakes import FakeEngine
from tests.worker.hosts.test_engine import CalledHost
from tests.worker.membership.test_external import CATALOGUE, truth
from tests.worker.test_node import SETTINGS, Scene


class Client:
    """A client that asks, the events meanwhile, and a clock that advances at each look."""

    def __init__(self, folder: Path, step: float = TELL_SECONDS) -> None:
        self.scene = Scene(folder, SETTINGS, 1e9)
        self.scene.node.examiner = Examiner()  # type: ignore[assignment]
        self._times: Iterator[float] = (step * n for n in count())
        self.asking = Asking(self.scene.node, CATALOGUE, self.scene.publish, lambda: next(self._times))

    @property
    def texts(self) -> list[tuple[int, str, int]]:
        return [
            (event.stream, event.text, event.tokens) for event in self.scene.events if isinstance(event, AskProgressed)
        ]


async def test_an_answer_is_reported_while_it_is_written(tmp_path: Path) -> None:
    it = Client(tmp_path)
    asked = await it.asking.ask(Ask(question="1+1?", stream=7))
    assert (asked.text, asked.tokens) == ("right", 2)
    assert it.texts == [(7, "right"[:n], n) for n in range(1, 6)]


async def test_it_is_reported_no_more_often_than_anybody_can_read(tmp_path: Path) -> None:
    it = Client(tmp_path, TELL_SECONDS / 2)
    await it.asking.ask(Ask(question="1+1?", stream=7))
    assert [text for _, text, _ in it.texts] == ["r", "rig", "right"]


async def test_who_did_not_ask_for_reports_gets_none(tmp_path: Path) -> None:
    it = Client(tmp_path)
    await it.asking.ask(Ask(question="1+1?"))
    await it.asking.try_task(TryTask(task="gcd/easy", seed=3, answer="4", stream=8))
    assert it.texts == []


async def test_base_and_trained_model_answer_the_question_that_was_set(tmp_path: Path) -> None:
    it = Client(tmp_path)
    asked = await it.asking.set_question(SetQuestion(task="gcd/easy"))
    assert str(asked.example) == "a whole number, like 42" and not hasattr(asked, "truth")
    tried = [
        await it.asking.try_task(TryTask(task=asked.task, seed=asked.seed, checkpoint=name, stream=1))
        for name in ("base", "last")
    ]
    assert {one.question for one in tried} == {asked.question}
    assert {one.truth for one in tried} == {str(truth(asked.seed))}
    again = await it.asking.set_question(SetQuestion(task="gcd/easy", seed=asked.seed))
    assert again == asked


async def test_what_cannot_be_asked_is_said(tmp_path: Path) -> None:
    it = Client(tmp_path)
    with pytest.raises(UsageError, match="empty"):
        await it.asking.ask(Ask(question="  "))

    async def nothing(items: object) -> list[None]:
        return [None]

    it.scene.node.examiner.set_questions = nothing  # type: ignore[assignment,method-assign]
    with pytest.raises(TaskError, match="no question for seed 5"):
        await it.asking.set_question(SetQuestion(task="gcd/easy", seed=5))


async def test_pieces_become_the_text_so_far_and_a_host_that_begins_again_begins_the_text_again() -> None:
    host = CalledHost()
    host.pieces = [("on", 1), ("e", 2), ("tw", 1), ("o", 2)]
    plan = EnginePlan(Path("model"), FakeEngine().plan.trainer, threads=1, device="cpu")
    engine = Engine(Trainer(host), plan)  # type: ignore[arg-type]
    said: list[tuple[str, int]] = []
    await engine.generate_with(
        None, as_prompts(["1+1?"]), Sampling(), lambda done, total: None, spoken=lambda *now: said.append(now)
    )
    assert said == [("on", 1), ("one", 2), ("tw", 1), ("two", 2)]


async def test_a_question_that_fills_the_context_is_said_to(tmp_path: Path) -> None:
    it = Client(tmp_path)
    it.scene.engine.loaded = loaded(context=2)
    it.scene.engine.generate_with = no_room  # type: ignore[method-assign]
    for request in (it.asking.ask(Ask(question="1+1?")), it.asking.try_task(TryTask(task="gcd/easy", seed=3))):
        with pytest.raises(
            UsageError, match=r"has 3 tokens and leaves no room for an answer: this model has a context of 2"
        ):
            await request


async def no_room(*asked: object, **more: object) -> Generated:
    nothing = Completion(tokens=[], logprobs=[], text="", finish="length")
    return Generated(prompt_tokens=[[1, 2, 3]], completions=[[nothing]], seconds=0.1, batch=1)


async def test_a_chats_turns_reach_the_model_and_the_prompt_comes_back(tmp_path: Path) -> None:
    it = Client(tmp_path)
    turns = (Exchange(question="1+1?", answer="2"),)
    seen: list[tuple[Prompt, Sampling]] = []
    it.scene.engine.generate_with = answering(seen)  # type: ignore[method-assign]
    asked = await it.asking.ask(Ask(question="And 2+2?", turns=turns))
    assert (asked.prompt, asked.prompt_tokens) == ("<q>And 2+2?<a>", 3)
    assert seen[0][0] == Prompt(question="And 2+2?", turns=turns)


async def test_a_program_that_says_how_to_answer_is_not_shown_our_examples(tmp_path: Path) -> None:
    it = Client(tmp_path)
    seen: list[tuple[Prompt, Sampling]] = []
    it.scene.engine.generate_with = answering(seen)  # type: ignore[method-assign]
    sampling = Sampling(max_tokens=5, stop=("x",))
    for system in (None, "", "Be short."):
        await it.asking.answer_program("1+1?", [], system, sampling, lambda text, tokens: None)
    assert [(prompt.system, used) for prompt, used in seen] == [
        (None, sampling),
        ("", sampling),
        ("Be short.", sampling),
    ]


async def test_a_chat_that_fills_the_context_is_asked_to_begin_again(tmp_path: Path) -> None:
    it = Client(tmp_path)
    it.scene.engine.loaded = loaded(context=2)
    it.scene.engine.generate_with = no_room  # type: ignore[method-assign]
    with pytest.raises(ContextFull, match=r"This chat has 3 tokens .* reads 2 at once\. Start a new chat"):
        await it.asking.ask(Ask(question="1+1?", turns=(Exchange(question="0?", answer="0"),)))


def answering(seen: list[tuple[Prompt, Sampling]]) -> Callable[..., Awaitable[Generated]]:
    async def answer(checkpoint: object, prompts: list[Prompt], sampling: Sampling, **more: object) -> Generated:
        seen.append((prompts[0], sampling))
        said = Completion(tokens=[4], logprobs=[], text="4", finish="stop")
        asked = f"<q>{prompts[0].question}<a>"
        return Generated(prompt_tokens=[[1, 2, 3]], completions=[[said]], seconds=0.1, batch=1, asked=asked)

    return answer

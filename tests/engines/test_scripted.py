"""The engine without a model speaks the same messages."""

from pathlib import Path

import pytest

from sapo_desktop.core.errors import CheckpointError, HostCancelled, HostError
from sapo_desktop.core.records import Sampling, TrainerSettings, TrainingSequence
from sapo_desktop.engines import protocols as p
from sapo_desktop.engines.scripted import ScriptedService, create

LOAD = p.Load(model="none", trainer=TrainerSettings(), threads=1)
ASK = p.Generate(prompts=["a", "b"], answers=3, sampling=Sampling(seed=4))
LESSON = p.Step(batch=[TrainingSequence(prompt=[1], tokens=[2], advantage=1.0)])


def loaded(service: ScriptedService) -> ScriptedService:
    service.handle(LOAD, print)
    return service


def texts(service: ScriptedService, request: p.Generate = ASK) -> list[list[str]]:
    reply = service.handle(request, lambda _: None)
    assert isinstance(reply, p.Generated)
    return [[c.text for c in row] for row in reply.completions]


def test_the_same_requests_give_the_same_answers() -> None:
    assert texts(loaded(create())) == texts(loaded(create()))
    assert len({t for row in texts(loaded(create())) for t in row}) > 1


def test_a_script_sees_question_place_and_steps() -> None:
    service = loaded(ScriptedService(lambda question, number, steps: f"{question}{number}{steps}"))
    assert texts(service) == [["a40", "a50", "a60"], ["b70", "b80", "b90"]]
    service.handle(LESSON, print)
    assert texts(service)[0][0] == "a41"


def test_steps_are_saved_and_restored(tmp_path: Path) -> None:
    service = loaded(create())
    service.handle(LESSON, print)
    assert service.handle(p.Save(folder=str(tmp_path)), print) == p.Done(files=["scripted.json"])
    service.handle(p.Restore(folder=None), print)
    assert service.steps == 0
    service.handle(p.Restore(folder=str(tmp_path)), print)
    assert service.steps == 1
    with pytest.raises(CheckpointError):
        service.handle(p.Restore(folder=str(tmp_path / "no")), print)


def test_limits_cancel_and_order() -> None:
    with pytest.raises(HostError):
        create().handle(ASK, print)
    service = loaded(create())
    short = p.Generate(prompts=["a"], answers=1, sampling=Sampling(max_tokens=3))
    reply = service.handle(short, lambda _: None)
    assert isinstance(reply, p.Generated)
    assert reply.completions[0][0].finish == "length"
    service.cancelled.set()
    with pytest.raises(HostCancelled):
        service.handle(ASK, print)


def test_a_single_answer_is_told_piece_by_piece() -> None:
    told: list[p.TokenText] = []
    service = loaded(ScriptedService(lambda question, number, steps: "it is four"))
    service.handle(
        p.Generate(prompts=["2+2?"], answers=1, sampling=Sampling()),
        lambda message: told.append(message) if isinstance(message, p.TokenText) else None,
    )
    assert [(piece.text, piece.tokens) for piece in told] == [("it i", 4), ("s fo", 8), ("ur", 10)]

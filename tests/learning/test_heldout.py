"""The validation set asked a part at a time."""

from collections.abc import Sequence

import pytest

from sapo_desktop.core.records import Completion, Generated, Sampling
from sapo_desktop.core.statistics import paired_difference
from sapo_desktop.learning.heldout import Evaluator, Result, Standing, Subject
from tests.worker.fakes import FakeEngine, FakeExaminer, generated

LIVE = Subject("", 5, None, live=True)


class Able(FakeEngine):
    """Remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Sequence[str]] = []

    async def generate_with(self, checkpoint, questions, sampling, progress, *, live=False, spoken=None):  # type: ignore[no-untyped-def]
        self.asked.append(questions)
        return await super().generate_with(checkpoint, questions, sampling, progress, live=live, spoken=spoken)


def evaluator(engine: FakeEngine) -> Evaluator:
    return Evaluator(engine, FakeExaminer(), bytes(32))  # type: ignore[arg-type]


async def test_nothing_known_means_all_is_asked() -> None:
    engine = Able()
    report, standing = await evaluator(engine).refresh(LIVE, Standing(questions="set"), 4, Sampling(), print)
    assert len(engine.asked[0]) == report.questions == len(standing.results) == 8
    assert (standing.part, standing.questions, report.gain) == (0, "set", None)


async def test_a_part_is_asked_and_the_rest_stands() -> None:
    engine = Able()
    known = Standing(questions="set", results=[Result(solved=True, partial=1.0)] * 8, base=[False] * 8)
    asked = []
    for _ in range(4):
        _, known = await evaluator(engine).refresh(LIVE, known, 4, Sampling(), print)
        asked += engine.asked[-1]
    assert len(set(asked)) == 8, "four parts are the set"
    assert known.part == 0, "and then from the beginning"


async def test_the_score_is_that_of_the_newest_answers_and_its_gain_is_paired() -> None:
    engine = Able()
    base = [True, False] * 4
    known = Standing(questions="set", results=[Result(solved=True, partial=1.0)] * 8, base=base)
    report, after = await evaluator(engine).refresh(LIVE, known, 2, Sampling(), print)
    solved = [result.solved for result in after.results]
    assert report.solved == solved
    assert solved[1::2] == [True] * 4, "those were not asked"
    assert report.score == sum(solved) / 8
    expected = paired_difference(solved, base)
    assert report.gain is not None
    assert (report.gain.value, report.gain.low) == (pytest.approx(expected.value), pytest.approx(expected.low))


async def test_until_all_were_asked_the_gain_is_that_of_those_that_were() -> None:
    """Of eight questions the base solves four. It stays so until each is asked; two parts of four were, all solved."""
    questions = (await evaluator(FakeEngine()).held_out("validation")).questions
    engine = Grown([question.text for question in questions])
    engine.skill = 8
    base = [True, False, False, True, True, False, False, True]
    known = Standing(
        questions="set", results=[Result(solved=one, partial=float(one)) for one in base], base=base, unasked=4
    )
    seen = []
    for _ in range(5):
        report, known = await evaluator(engine).refresh(LIVE, known, 4, Sampling(), print)
        assert report.gain is not None
        seen.append((report.questions, report.score, report.gain.value))
    assert seen == [
        (2, 0.5, 0.0),  # places 0 and 4, which the base solves
        (4, 1.0, 0.5),  # and 1 and 5, which it does not: half more of the four
        (6, 1.0, 0.5),  # 4 of 6, for which all have no room
        (8, 1.0, 0.5),
        (8, 1.0, 0.5),
    ]
    assert (known.unasked, known.part) == (0, 1)


class Grown(FakeEngine):
    """Answers the first `skill` questions of the set, whatever they are asked with; the base none."""

    def __init__(self, questions: Sequence[str]) -> None:
        super().__init__()
        self._set = list(questions)
        self.asked_of_base: list[str] = []

    async def generate_with(self, checkpoint, questions, sampling, progress, *, live=False, spoken=None):  # type: ignore[no-untyped-def]
        if not live:
            self.asked_of_base += questions
        made = [generated([text], 1, live and self._set.index(text) < self.skill) for text in questions]
        prompts, answers = [one.prompt_tokens[0] for one in made], [one.completions[0] for one in made]
        return Generated(prompt_tokens=prompts, completions=answers, seconds=0.1, batch=8)


async def test_a_question_that_is_solved_for_the_first_time_is_told_with_both_answers() -> None:
    questions = (await evaluator(FakeEngine()).held_out("validation")).questions
    engine = Grown([question.text for question in questions])
    scored = evaluator(engine)
    engine.skill = 0
    _, standing = await scored.refresh(LIVE, Standing(questions="set", base=[False] * 8), 1, Sampling(), print)
    engine.skill = 2
    report, standing = await scored.refresh(LIVE, standing, 1, Sampling(), print)
    learned = report.learned
    assert learned is not None and learned.round == 5
    assert learned.question in {question.text for question in questions[:2]}
    assert learned.before != learned.now and engine.asked_of_base == [learned.question]
    again, standing = await scored.refresh(LIVE, standing, 1, Sampling(), print)
    assert again.learned is None, "it is no news"


async def test_nothing_is_learned_of_what_the_base_solves_or_where_it_was_never_asked() -> None:
    for base in ([True] * 8, []):
        engine = FakeEngine()
        report, _ = await evaluator(engine).refresh(LIVE, Standing(questions="set", base=base), 1, Sampling(), print)
        assert any(report.solved) and report.learned is None


class Short(FakeEngine):
    """Has no room for an answer to every other question."""

    async def generate_with(self, checkpoint, questions, sampling, progress, *, live=False, spoken=None):  # type: ignore[no-untyped-def]
        made = await super().generate_with(checkpoint, questions, sampling, progress, live=live, spoken=spoken)
        for row in made.completions[::2]:
            row[0] = Completion(tokens=[], logprobs=[], text="", finish="length")
        return made


async def test_a_score_says_how_many_questions_fill_the_context() -> None:
    able, short = (evaluator(engine) for engine in (FakeEngine(), Short()))
    held_out = await able.held_out("test")
    assert (await able.evaluate(LIVE, held_out, Sampling(), print)).too_long == 0
    assert (await short.evaluate(LIVE, held_out, Sampling(), print)).too_long == 4

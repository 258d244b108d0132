"""The validation set asked a part at a time."""

from collections.abc import Collection, Sequence

import pytest

from sapo_desktop.core.records import Completion, Generated, Question, Sampling
from sapo_desktop.core.statistics import paired_difference
from sapo_desktop.learning.heldout import Evaluator, HeldOutSet, Result, Standing, Subject
from tests.worker.fakes import FakeEngine, FakeExaminer, generated, question

LIVE = Subject("", 5, None, live=True)
HELD_OUT = HeldOutSet("validation", [question("gcd/easy", place) for place in range(8)])


class Able(FakeEngine):
    """Remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Sequence[str]] = []

    async def generate_with(self, checkpoint, prompts, sampling, progress, *, live=False, spoken=None):  # type: ignore[no-untyped-def]
        if live:
            self.asked.append([prompt.question for prompt in prompts])
        return await super().generate_with(checkpoint, prompts, sampling, progress, live=live, spoken=spoken)


def evaluator(engine: FakeEngine) -> Evaluator:
    return Evaluator(engine, FakeExaminer(), bytes(32))  # type: ignore[arg-type]


async def test_what_was_never_asked_is_put_to_the_untrained_model_too() -> None:
    engine = Able()
    engine.skill = 8
    report, standing = await evaluator(engine).refresh(LIVE, HELD_OUT, Standing(questions="set"), 4, Sampling(), print)
    assert len(engine.asked[0]) == report.questions == 2, "a part"
    assert [place for place, one in enumerate(standing.results) if one is not None] == [0, 4]
    assert [standing.base[0], standing.base[4]] == [True, False], "it solves the first that it is asked"
    assert (standing.part, standing.questions) == (1, "set")
    assert report.gain is not None and report.gain.value == 0.5


async def test_a_part_is_asked_and_the_rest_stands() -> None:
    engine = Able()
    known = Standing(questions="set", results=[Result(solved=True, partial=1.0)] * 8, base=[False] * 8)
    asked = []
    for _ in range(4):
        _, known = await evaluator(engine).refresh(LIVE, HELD_OUT, known, 4, Sampling(), print)
        asked += engine.asked[-1]
    assert len(set(asked)) == 8, "four parts are the set"
    assert known.part == 0, "and then from the beginning"


async def test_the_score_is_that_of_the_newest_answers_and_its_gain_is_paired() -> None:
    engine = Able()
    base = [True, False] * 4
    known = Standing(questions="set", results=[Result(solved=True, partial=1.0)] * 8, base=base)
    report, after = await evaluator(engine).refresh(LIVE, HELD_OUT, known, 2, Sampling(), print)
    solved = [result.solved for result in after.results]
    assert report.solved == solved
    assert solved[1::2] == [True] * 4, "those were not asked"
    assert report.score == sum(solved) / 8
    expected = paired_difference(solved, base)
    assert report.gain is not None
    assert (report.gain.value, report.gain.low) == (pytest.approx(expected.value), pytest.approx(expected.low))


async def test_until_all_were_asked_score_and_gain_are_over_those_that_were() -> None:
    """Of eight questions the base solves four; the trained model solves all."""
    questions = (await evaluator(FakeEngine()).held_out("validation")).questions
    engine = Grown([question.text for question in questions], base={0, 3, 4, 7})
    engine.skill = 8
    known = Standing(questions="set")
    seen = []
    for _ in range(5):
        report, known = await evaluator(engine).refresh(LIVE, HELD_OUT, known, 4, Sampling(), print)
        assert report.gain is not None
        seen.append((report.questions, report.score, report.gain.value))
    assert seen == [
        (2, 1.0, 0.0),  # places 0 and 4, which the base solves
        (4, 1.0, 0.5),  # and 1 and 5, which it does not
        (6, 1.0, pytest.approx(4 / 6)),
        (8, 1.0, 0.5),
        (8, 1.0, 0.5),
    ]
    assert known.part == 1
    assert set(engine.asked_of_base) == {question.text for question in questions}
    base = evaluator(engine).base_report(Subject("base", 0, None), HELD_OUT, known)
    assert (base.score, base.questions) == (0.5, 8)


class Grown(FakeEngine):
    """Answers the first `skill` questions of the set, whatever they are asked with; the base those of `base`."""

    def __init__(self, questions: Sequence[str], base: Collection[int] = ()) -> None:
        super().__init__()
        self._base = base
        self._set = list(questions)
        self.asked_of_base: list[str] = []

    async def generate_with(self, checkpoint, prompts, sampling, progress, *, live=False, spoken=None):  # type: ignore[no-untyped-def]
        questions = [prompt.question for prompt in prompts]
        if not live:
            self.asked_of_base += questions
        places = [self._set.index(text) for text in questions]
        solved = [place < self.skill if live else place in self._base for place in places]
        made = [generated([text], 1, one) for text, one in zip(questions, solved, strict=True)]
        ids, answers = [one.prompt_tokens[0] for one in made], [one.completions[0] for one in made]
        return Generated(prompt_tokens=ids, completions=answers, seconds=0.1, batch=8)


async def test_a_question_that_is_solved_for_the_first_time_is_reported_with_both_answers() -> None:
    questions = (await evaluator(FakeEngine()).held_out("validation")).questions
    engine = Grown([question.text for question in questions])
    scored = evaluator(engine)
    engine.skill = 0
    _, standing = await scored.refresh(
        LIVE, HELD_OUT, Standing(questions="set", base=[False] * 8), 1, Sampling(), print
    )
    engine.skill = 2
    report, standing = await scored.refresh(LIVE, HELD_OUT, standing, 1, Sampling(), print)
    learned = report.learned
    assert learned is not None and learned.round == 5
    assert learned.question in {question.text for question in questions[:2]}
    assert learned.before != learned.now and engine.asked_of_base == [learned.question]
    again, standing = await scored.refresh(LIVE, HELD_OUT, standing, 1, Sampling(), print)
    assert again.learned is None, "it is no news"


async def test_nothing_is_learned_of_what_the_base_solves() -> None:
    report, _ = await evaluator(FakeEngine()).refresh(
        LIVE, HELD_OUT, Standing(questions="set", base=[True] * 8), 1, Sampling(), print
    )
    assert any(report.solved) and report.learned is None


class Short(FakeEngine):
    """Has no room for an answer to every other question."""

    async def generate_with(self, checkpoint, prompts, sampling, progress, *, live=False, spoken=None):  # type: ignore[no-untyped-def]
        made = await super().generate_with(checkpoint, prompts, sampling, progress, live=live, spoken=spoken)
        for row in made.completions[::2]:
            row[0] = Completion(tokens=[], logprobs=[], text="", finish="length")
        return made


async def test_a_score_says_how_many_questions_fill_the_context() -> None:
    able, short = (evaluator(engine) for engine in (FakeEngine(), Short()))
    held_out = await able.held_out("test")
    assert (await able.evaluate(LIVE, held_out, Sampling(), print)).too_long == 0
    assert (await short.evaluate(LIVE, held_out, Sampling(), print)).too_long == 4


async def test_a_model_is_scored_on_levels_up_to_one_above_where_it_began() -> None:
    examiner = FakeExaminer()
    levels = ["first", "easy", "middle", "hard"]

    async def held_out(which: str, secret: bytes) -> list[Question]:
        return [question(f"gcd/{level}", place) for place, level in enumerate(levels)]

    examiner.held_out = held_out  # type: ignore[method-assign]
    scored = Evaluator(FakeEngine(), examiner, bytes(32))  # type: ignore[arg-type]
    for begin, count in (("first", 2), ("easy", 3), ("middle", 4), ("", 4)):
        assert len((await scored.of_reach(begin, ["gcd"])).questions) == count


async def test_a_model_is_scored_on_the_families_that_it_trains_on() -> None:
    examiner = FakeExaminer()
    tasks = ["gcd/first", "gcd/easy", "months/easy", "months/hard"]

    async def held_out(which: str, secret: bytes) -> list[Question]:
        return [question(task, place) for place, task in enumerate(tasks)]

    examiner.held_out = held_out  # type: ignore[method-assign]
    scored = Evaluator(FakeEngine(), examiner, bytes(32))  # type: ignore[arg-type]
    for begin, families, places in (
        ("first", ["months"], [2]),
        ("", ["months"], [2, 3]),
        ("first", ["gcd", "months"], [0, 1, 2]),
        ("first", ["sums"], [0, 1, 2, 3]),
    ):
        asked = (await scored.of_reach(begin, families)).questions
        assert [one.task for one in asked] == [tasks[place] for place in places], (begin, families)

"""Answers of a person: asked for, scored, shared, learned from; and mistakes of a person or a script."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import msgspec
import pytest

from sapo_desktop.core.errors import HistoryUnavailable, HostDied, TaskError, UsageError
from sapo_desktop.core.records import Mark, Prompt, Question
from sapo_desktop.engines.protocols import Encoded
from sapo_desktop.swarm.protocol.envelope import GroupBody, open_envelope
from sapo_desktop.tasks.service import QuestionRef
from sapo_desktop.worker.control.handlers.human import MOST_POSED, HumanAnswers, written
from sapo_desktop.worker.control.messages.replies import HumanMarked, PosedQuestion
from sapo_desktop.worker.control.messages.requests import AskForQuestion, GiveAnswer
from sapo_desktop.worker.governor import NodeState
from sapo_desktop.worker.membership.index_book import FIRST_PERSON_INDEX
from sapo_desktop.worker.membership.member import Member
from tests.builders import loaded
from tests.swarm.peers import NETWORK
from tests.worker.fakes import FakeEngine, FakeExaminer
from tests.worker.membership import test_external as gcds
from tests.worker.membership.test_external import CATALOGUE, truth
from tests.worker.membership.test_member import Seat
from tests.worker.test_node import SETTINGS, Scene, playing

SILO = "In silo: no network at all."


class Side:
    """The swarm's side: a member, or the reason why there is none."""

    def __init__(self, member: Member | None = None) -> None:
        self.member = member
        self.reason = SILO


class Examiner(FakeExaminer):
    """Asks for greatest common divisors when a person is asked."""

    def __init__(self) -> None:
        super().__init__()
        self._gcds = gcds.Examiner()

    async def set_questions(self, items: Sequence[QuestionRef]) -> list[Question | None]:
        return await self._gcds.set_questions(items)

    async def mark(
        self, questions: Sequence[Question], texts: Sequence[Sequence[str]], *, strict: bool
    ) -> list[list[Mark]]:
        if questions[0].text.startswith("Find"):
            return await self._gcds.mark(questions, texts, strict=strict)
        return await super().mark(questions, texts, strict=strict)

    async def truth(self, task: str, seed: int) -> str:
        return str(truth(seed))


class Engine(FakeEngine):
    """Also turns text into ids; one that spells `<q>` spells a special token."""

    async def encode(self, prompts: Sequence[Prompt], texts: Sequence[str]) -> Encoded:
        return await gcds.Encoder().encode(prompts, texts)


class Desk:
    """A node with its desk for people, and the time."""

    def __init__(self, scene: Scene, member: Member | None = None) -> None:
        self.scene = scene
        self.node = scene.node
        self.engine = scene.engine
        self.engine.loaded = loaded()
        self.node.examiner = Examiner()  # type: ignore[assignment]
        self.side = Side(member)
        self.time = 0.0
        self.human = HumanAnswers(self.node, self.side, CATALOGUE, lambda: self.time)

    async def pose(self, task: str | None = "gcd/easy") -> PosedQuestion:
        return await self.human.pose(AskForQuestion(task=task))

    async def give(self, posed: PosedQuestion, answer: str, reasoning: str = "") -> HumanMarked:
        return await self.human.give(GiveAnswer(id=posed.id, answer=answer, reasoning=reasoning))


@contextlib.asynccontextmanager
async def desk(folder: Path, member: Member | None = None) -> AsyncIterator[Desk]:
    """In silo, or with the membership of a seat; nothing trains."""
    scene = Scene(folder, SETTINGS, 1e9, engine=Engine())
    try:
        yield Desk(scene, member)
    finally:
        await scene.node.close()


def right(posed: PosedQuestion) -> str:
    """The greatest common divisor of the two numbers that the question ends with."""
    first, second = (int(word) for word in posed.question.rstrip(".").rpartition(": ")[2].split(","))
    while second:
        first, second = second, first % second
    return str(first)


async def test_a_right_answer_in_silo_is_marked_learned_and_kept_here(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        posed = await it.pose()
        assert (posed.task, str(posed.form), posed.shared) == ("gcd/easy", "a whole number, like 42", False)
        assert "stays on this computer" in str(posed.where) and SILO in str(posed.where)
        marked = await it.give(posed, f" {right(posed)} ", "I counted")
        assert marked.completion == f"I counted\n<answer>{right(posed)}</answer>"
        assert (marked.mark.solved, marked.truth) == (True, right(posed))
        assert (marked.model_solved, marked.model_answers) == (0, 7)
        assert (marked.shared, marked.learned, marked.note) == (False, True, "")


async def test_only_what_was_marked_of_a_persons_answer_reaches_the_trainer(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        posed = await it.pose()
        blanks = await it.give(posed, f"{' ' * 200}<answer>{' ' * 2000}{right(posed)}.0</answer>")
        assert blanks.mark.solved and blanks.learned
        (one,) = it.node.status.human_groups.next()
        assert one.group.completions[0].tokens == [*map(ord, f"<answer>{right(posed)}</answer>"), 0]
        unread = await it.give(await it.pose(), "about six")
        assert not unread.learned and "no answer to this question can be read" in str(unread.note)
        it.node.status.take_settings(msgspec.structs.replace(it.node.settings, max_tokens=20))
        long = await it.give(posed := await it.pose(), right(posed), "I counted")
        assert long.mark.solved and not long.learned


async def test_an_answer_is_shared_as_a_persons_under_an_index_of_its_own(tmp_path: Path, seat: Seat) -> None:
    async with desk(tmp_path, seat.member) as it:
        posed = await it.pose()
        assert posed.shared and 600 < posed.seconds <= 1200
        assert (
            "CC0" in str(posed.where)
            and seat.peer.signer.key.hex()[:16] in str(posed.where)
            and "7 of" in str(posed.where)
        )
        assert seat.outlet.published == []
        marked = await it.give(posed, right(posed))
        assert marked.shared and marked.learned
    (envelope,) = seat.outlet.published
    body = open_envelope(envelope, GroupBody, NETWORK).body
    assert [answer.kind for answer in body.answers] == ["human"] + ["model"] * 7
    assert body.index >= FIRST_PERSON_INDEX


async def test_a_person_does_not_wait_for_room_on_the_disk(tmp_path: Path, seat: Seat) -> None:
    def full() -> None:
        raise HistoryUnavailable("The disk is full.")

    async with desk(tmp_path, seat.member) as it, asyncio.timeout(10):
        seat.member.keep = it.node.keeper.patiently
        posed = await it.pose()
        seat.member._book.write = full  # type: ignore[method-assign]
        assert (await it.give(posed, right(posed))).shared, "the number of its question is on the disk already"
        with pytest.raises(HistoryUnavailable):
            await it.pose()


async def test_a_person_is_shown_where_the_text_goes_and_that_holds(tmp_path: Path, seat: Seat) -> None:
    async with desk(tmp_path, seat.member) as it:
        seat.member.sharing = False
        kept = await it.pose()
        assert not kept.shared and "run --share" in str(kept.where)
        seat.member.sharing = True
        promised = await it.pose()
        assert not (await it.give(kept, "1")).shared  # consent came after it was said to stay here
        seat.member.leave()
        marked = await it.give(promised, "1")
        assert not marked.shared and "was not shared" in str(marked.note)
        assert marked.learned
    assert seat.outlet.published == []


async def test_tasks_that_do_not_travel_are_answered_here(tmp_path: Path, seat: Seat) -> None:
    kept = next(f"{f.name}/{level.name}" for f in CATALOGUE.families for level in f.levels if not level.shared)
    async with desk(tmp_path, seat.member) as it:
        posed = await it.pose(kept)
        assert posed.task == kept and not posed.shared and "not shared" in str(posed.where)


async def test_a_family_alone_or_nothing_means_what_is_in_training(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        levels = it.node.levels
        for task in (None, next(iter(levels))):
            family, _, level = (await it.pose(task)).task.partition("/")
            assert level in levels[family]
        with pytest.raises(TaskError, match="no task family 'gdc'"):
            await it.pose("gdc")
        with pytest.raises(TaskError, match="no level 'esy'"):
            await it.pose("gcd/esy")


async def test_a_person_can_not_choose_among_endless_questions(tmp_path: Path, seat: Seat) -> None:

    async with desk(tmp_path, seat.member) as it:
        with pytest.raises(TaskError, match="Choose another task"):
            for _ in range(9):
                await it.pose()


async def test_a_question_is_answered_once(tmp_path: Path, seat: Seat) -> None:
    async with desk(tmp_path, seat.member) as it:
        posed = await it.pose()
        given = await asyncio.gather(it.give(posed, "1"), it.give(posed, "2"), return_exceptions=True)
        assert isinstance(given[0], HumanMarked) and isinstance(given[1], UsageError)
        with pytest.raises(UsageError, match="answered already"):
            await it.give(posed, "3")
    assert len(seat.outlet.published) == 1


async def test_after_its_slot_a_question_is_forgotten(tmp_path: Path, seat: Seat) -> None:
    async with desk(tmp_path, seat.member) as it:
        late, early = await it.pose(), await it.pose()
        it.time = late.seconds - 1
        assert (await it.give(early, "1")).shared
        it.time = late.seconds + 1
        with pytest.raises(UsageError, match="or its time is up"):
            await it.give(late, "1")
    assert len(seat.outlet.published) == 1


async def test_questions_that_nobody_answers_do_not_pile_up(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        posed = [await it.pose() for _ in range(MOST_POSED + 1)]
        assert len(it.human._posed) == MOST_POSED
        with pytest.raises(UsageError, match="or its time is up"):
            await it.give(posed[0], "1")
        await it.give(posed[1], "1")
        it.time = 1201.0
        await it.pose()
        assert len(it.human._posed) == 1


@pytest.mark.parametrize(
    ("answer", "reasoning", "said"),
    [
        ("", "", "empty"),
        (" \t\n", "", "empty"),
        ("1" * 10_000_000, "", "at most 4,096"),
        ("12", "x" * 10_000_000, "at most 4,096"),
        ("1" * 4090, "", "4,096 bytes"),
        ("12", "x" * 256, "at most 255"),
        ("1\x1b[2J", "", "symbols"),
        ("1\x00", "", "symbols"),
        ("\u202e21", "", "symbols"),
        ("\ud800", "", "symbols"),
        ("двенадцать", "", "symbols"),
        ("12", "\u2066x", "symbols"),
        ("<answer>1</answer><answer>2</answer>", "", "Give one answer at the end"),
        ("<answer>1</answer> or 2", "", "Give one answer at the end"),
        ("1</answer>", "", "Give one answer at the end"),
        ("12", "<answer>12</answer>", "Give one answer at the end"),
    ],
)
def test_what_may_not_travel_is_refused_with_a_sentence(answer: str, reasoning: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        written(answer, reasoning, "integer")


async def test_what_was_refused_can_be_typed_again(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        posed = await it.pose()
        with pytest.raises(UsageError):
            await it.give(posed, "\x07")
        assert (await it.give(posed, right(posed))).mark.solved


def test_an_answer_may_come_with_its_tags_and_formulas_with_their_signs() -> None:
    assert written("so: <answer>12</answer>", "", "integer") == "so: <answer>12</answer>"
    assert written("(P ∧ ¬Q)", "", "formula") == "<answer>(P ∧ ¬Q)</answer>"
    assert written("1 0\n0 1", "", "matrix") == "<answer>1 0\n0 1</answer>"


async def test_without_the_models_answers_it_is_a_group_of_one(tmp_path: Path, seat: Seat) -> None:
    async with desk(tmp_path, seat.member) as it:
        it.engine.errors.append(HostDied("The engine ended."))
        marked = await it.give(posed := await it.pose(), right(posed))
        assert (marked.model_answers, marked.shared, marked.learned) == (0, True, True)
    body = open_envelope(seat.outlet.published[0], GroupBody, NETWORK).body
    assert [answer.kind for answer in body.answers] == ["human"]


async def test_what_the_model_can_not_read_is_marked_and_not_learned_from(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        marked = await it.give(await it.pose(), "12", "<q>")
        assert not marked.learned and "does not learn from it" in str(marked.note)


@pytest.mark.parametrize("alone", [False, True], ids=["with the model's", "alone"])
async def test_the_next_round_trains_on_it_and_history_says_so(tmp_path: Path, alone: bool) -> None:
    async with playing(tmp_path, msgspec.structs.replace(SETTINGS, answers=4), rounds=2, engine=Engine()) as it:
        it.node.orders.pause(None)
        table = Desk(it)
        if alone:
            table.engine.errors.append(HostDied("The engine ended."))
        posed = await table.pose()
        assert (await table.give(posed, right(posed))).learned
        it.node.orders.resume()
        await it.until_state(NodeState.IDLE)
        first, second = it.keeper.history.rounds().rounds
        assert "1 group with a person's answer" in first.note and "person" not in second.note
        person = [item for item in it.keeper.history.sources() if item.origin == "human"]
        assert [(one.author, one.groups, one.answers) for one in person] == [("", 1, 1 if alone else 4)]
        answers = [item for item in it.keeper.history.rollouts().items if item.origin == "human"]
        assert [one.kind for one in answers] == ["human"] + ["model"] * (len(answers) - 1)
        # Never answered before, so b is a half: 0.5 for the right one, 0 for the wrong ones, then scaled alike.
        assert answers[0].advantage > 0 and not any(one.advantage for one in answers[1:])
        batch = table.engine.batches[0]
        # The wrong ones next to it teach nothing, and so are not in the batch.
        (persons,) = [sequence for sequence in batch if sequence.external]
        assert persons.tokens[:2] == [ord("<"), ord("a")]

"""External groups: recreated, scored here, and trimmed."""

import asyncio
import dataclasses
import math
from collections.abc import Sequence

import msgspec
import pytest
from msgspec.structs import replace

from sapo_desktop.core.errors import HostDied, HostError
from sapo_desktop.core.extraction import extract_answer
from sapo_desktop.core.records import Mark, Prompt, Question, Verdict
from sapo_desktop.core.resources import resource
from sapo_desktop.engines.protocols import Encoded
from sapo_desktop.swarm.pool.pool import Entry, Path, Pool
from sapo_desktop.swarm.protocol.envelope import Answer, GroupBody, open_envelope
from sapo_desktop.swarm.protocol.refusals import Reason, Refusals
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.tasks.catalogue import Catalogue, load_catalogue
from sapo_desktop.tasks.grammars import fraction, integer
from sapo_desktop.tasks.questions import question_hash, question_seed
from sapo_desktop.tasks.service import QuestionRef
from sapo_desktop.tasks.split import held_out_side
from sapo_desktop.worker.membership.external import External, Intake, Yardstick, as_marked
from tests.builders import as_prompts
from tests.swarm.peers import ALICE, NETWORK, group, group_body

GCD = b"g" * 32
OURS = Yardstick(max_tokens=500, context=1000, lengths={"gcd/easy": 200.0})
TASKS = {GCD: "gcd/easy"}


def gcd_shared(catalogue: Catalogue) -> Catalogue:
    """Which levels travel is the catalogue's own matter; those that these tests play with do."""
    families = (
        replace(family, levels=tuple(replace(level, shared=True) for level in family.levels))
        if family.name == "gcd"
        else family
        for family in catalogue.families
    )
    return Catalogue(families=tuple(families))


CATALOGUE = gcd_shared(load_catalogue(resource("tasks.toml")))
BOB = Signer(b"b" * 32)


class Examiner:
    """Asks for greatest common divisors; the right answer is the one in the tags."""

    slow: str | None = None

    async def set_questions(self, items: Sequence[QuestionRef]) -> list[Question | None]:
        return [question(item.seed) for item in items]

    async def prompts(self, questions: Sequence[Question], shots: int) -> list[Prompt]:
        return as_prompts([question.text for question in questions])

    async def mark(
        self, questions: Sequence[Question], texts: Sequence[Sequence[str]], *, strict: bool
    ) -> list[list[Mark]]:
        return [[self._mark(one, text) for text in row] for one, row in zip(questions, texts, strict=True)]

    def _mark(self, one: Question, text: str) -> Mark:
        written = extract_answer(text)
        read = integer(written) if written else None
        solved = read == str(truth(one.seed))
        verdict: Verdict = "timeout" if text == self.slow else "solved" if solved else "wrong"
        return Mark(solved=solved, partial=float(solved), reward=float(solved), answer=read, verdict=verdict)


def question(seed: int) -> Question:
    text = f"Find the Greatest Common Divisor (GCD) of these numbers: {seed % 97 + 2}, {seed % 89 + 2}."
    return Question(task="gcd/easy", seed=seed, text=text, hash=question_hash(text))


def truth(seed: int) -> int:
    return math.gcd(seed % 97 + 2, seed % 89 + 2)


class Encoder:
    """One id a character; text with `<q>` in it spells a special token."""

    async def encode(self, prompts: Sequence[Prompt], texts: Sequence[str]) -> Encoded:
        return Encoded(
            tokens=[None if "<q>" in text else [*map(ord, text), 0] for text in texts],
            prompts=[[len(prompt.question)] for prompt in prompts],
        )


def asked(index: int) -> Question:
    return question(question_seed(network=NETWORK, key=ALICE.key, slot=group_body().slot, task=GCD, index=index))


def indices(held_out: bool) -> list[int]:
    return [index for index in range(64) if held_out_side("gcd", asked(index).text) == held_out]


INDEX = indices(held_out=False)[0]
RIGHT = f"steps <answer>{truth(asked(INDEX).seed)}</answer>"


def taken(
    *answers: str,
    refusals: Refusals | None = None,
    limit: int = 8,
    slow: str | None = None,
    yardstick: Yardstick = OURS,
    **changes: object,
) -> list[External]:
    fields: dict[str, object] = {"task": GCD, "index": INDEX, "question": asked(INDEX).hash}
    fields |= {"answers": [Answer(text=text) for text in answers]} | changes
    pool = Pool(BOB.key)
    opened = open_envelope(group(ALICE, **fields), GroupBody, NETWORK)
    entry = pool.add(opened, Path(ALICE.key, ALICE.key, b""), 0.0)
    examiner = Examiner()
    examiner.slow = slow
    intake = Intake(examiner, Encoder(), CATALOGUE, TASKS, NETWORK, refusals or Refusals(), lambda: yardstick)
    return asyncio.run(intake.take([entry], limit, strict=True)).fit


def reasons(*answers: str, **changes: object) -> dict[Reason, int]:
    refusals = Refusals()
    assert taken(*answers, refusals=refusals, **changes) == []  # type: ignore[arg-type]
    return dict(refusals)


def test_question_and_marks_are_ours() -> None:
    (external,) = taken(RIGHT, "I guess <answer>0</answer>")
    assert external.group.question == asked(INDEX)
    assert [mark.solved for mark in external.group.marks] == [True, False]
    assert (external.group.origin, external.group.author) == ("peer", ALICE.key.hex())
    assert external.prompt == [len(asked(INDEX).text)]
    completion = external.group.completions[0]
    assert completion.tokens == [*map(ord, RIGHT), 0] and completion.logprobs == []


def test_a_group_is_cut_to_as_many_answers_as_our_own_have() -> None:
    (external,) = taken(*[RIGHT] * 12, limit=8)
    assert len(external.group.completions) == 8


@pytest.mark.parametrize(
    ("text", "origin", "kinds"), [(RIGHT, "human", ["human", "model"]), (f"{RIGHT} and more", "peer", ["model"])]
)
def test_a_human_answer_is_marked_so_where_it_is_fit(text: str, origin: str, kinds: list[str]) -> None:
    (external,) = taken(answers=[Answer(text=text, kind="human"), Answer(text=RIGHT)])
    assert external.group.origin == origin
    assert [completion.kind for completion in external.group.completions] == kinds


@pytest.mark.parametrize(
    "text",
    [
        "no answer at all",
        f"{RIGHT} and more",
        f"{RIGHT}{RIGHT}",
        f"<answer>1</answer> no: {RIGHT}",
        "steps <answer>12",
        "steps </answer>12<answer>",
        "x" * 401 + RIGHT,
        f"<q>{RIGHT}",
    ],
    ids=["none", "more", "twice", "another before", "open", "turned", "long", "special token"],
)
def test_text_that_no_own_answer_could_be_is_not_trained_on(text: str) -> None:
    assert reasons(text) == {Reason.UNFIT: 1}
    (external,) = taken(text, RIGHT)
    assert [completion.text for completion in external.group.completions] == [RIGHT]


def test_reasoning_up_to_twice_our_own_is_welcome() -> None:
    assert len(taken("x" * 380 + RIGHT)) == 1


def test_what_was_marked_is_what_is_trained_on_and_not_the_span_as_sent() -> None:
    answer = truth(asked(INDEX).seed)
    for blanks in (1, 40, 3900):
        (external,) = taken(f"steps <answer>{' ' * blanks}+{answer}.0\n\t{' ' * 100}</answer> \n")
        (completion,) = external.group.completions
        assert completion.text == f"steps <answer>{answer}</answer>"
        assert completion.tokens == [*map(ord, completion.text), 0]


def test_an_answer_keeps_a_usual_spelling_such_as_the_question_asked_for() -> None:
    family = CATALOGUE.family("fraction_simplification")
    for written, trained in (("$\\frac{1}{4}$", "$\\frac{1}{4}$"), ("1/4", "1/4"), ("\\frac{ 1 }{4}", "1/4")):
        mark = Mark(solved=True, partial=1.0, reward=1.0, answer=fraction(written), verdict="solved")
        text = f"steps <answer>{written}</answer>"
        assert as_marked(text, mark, family) == f"steps <answer>{trained}</answer>"
        silent = msgspec.structs.replace(family, reasoning=False)
        assert as_marked(text, mark, silent) == f"<answer>{trained}</answer>"


def test_an_answer_that_the_marker_cannot_read_is_not_trained_on() -> None:
    assert reasons("steps <answer>about six</answer>") == {Reason.UNFIT: 1}
    (external,) = taken("steps <answer>about six</answer>", RIGHT)
    assert [completion.text for completion in external.group.completions] == [RIGHT]


def test_an_answer_of_more_ids_than_our_own_may_have_is_not_trained_on() -> None:
    ids = len(RIGHT) + 1
    for room, fits in (
        (dataclasses.replace(OURS, max_tokens=ids), True),
        (dataclasses.replace(OURS, max_tokens=ids - 1), False),
        (dataclasses.replace(OURS, context=ids + 1), True),  # the question is one id here
        (dataclasses.replace(OURS, context=ids), False),
    ):
        assert bool(taken(RIGHT, yardstick=room)) == fits


def test_only_a_node_that_reasons_at_length_itself_learns_from_long_reasoning() -> None:
    room = dataclasses.replace(OURS, max_tokens=2000, context=2100)
    long = "x" * 1500 + RIGHT
    for median, fits in ((0.0, False), (700.0, False), (760.0, True), (1500.0, True)):
        assert bool(taken(long, yardstick=dataclasses.replace(room, lengths={"gcd/easy": median}))) == fits
    assert not taken(long, yardstick=dataclasses.replace(room, lengths={"lcm/easy": 1500.0}))


async def test_questions_that_come_out_otherwise_are_counted_by_the_peers_library() -> None:
    examiner, refusals = Busy(), Refusals()
    intake = intake_with(examiner, refusals)
    for number in range(100):
        entry = entry_of(ALICE, INDEX, hashed=b"8 others")
        path = entry.path._replace(examiner=b"new" if number < 3 else bytes([number]))
        await take(intake, entry._replace(path=path))
    assert refusals[Reason.OTHER_QUESTION] == 100
    counts = refusals.other_questions
    assert counts[b"new".hex()] == 3 and sum(counts.values()) == 100 and len(counts) <= 33


HELD_OUT = indices(held_out=True)[0]
SLOW = "<answer>slow</answer>"


@pytest.mark.parametrize(
    ("reason", "answers", "changes"),
    [
        (Reason.OTHER_QUESTION, [RIGHT], {"question": b"8 others"}),
        (Reason.HELD_OUT, [RIGHT], {"index": HELD_OUT, "question": asked(HELD_OUT).hash}),
        (Reason.UNKNOWN_TASK, [RIGHT], {"task": b"u" * 32}),
        (Reason.TIMED_OUT, [RIGHT, SLOW], {"slow": SLOW}),
    ],
)
def test_a_group_that_is_not_taken_is_counted_by_its_reason(
    reason: Reason, answers: list[str], changes: dict[str, object]
) -> None:
    assert reasons(*answers, **changes) == {reason: 1}


class Busy(Examiner):
    """Takes so many seconds a call by a clock that only it moves."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.now = 0.0
        self.seconds = seconds
        self.dies = False
        self.dies_of: int | None = None
        """The seed that it does not survive."""

    async def set_questions(self, items: Sequence[QuestionRef]) -> list[Question | None]:
        if self.dies or self.dies_of in [item.seed for item in items]:
            raise HostDied("The examiner ended.")
        return await super().set_questions(items)

    async def mark(
        self, questions: Sequence[Question], texts: Sequence[Sequence[str]], *, strict: bool
    ) -> list[list[Mark]]:
        self.now += self.seconds
        return await super().mark(questions, texts, strict=strict)


def entry_of(signer: Signer, index: int, *answers: str, link: bytes = b"", hashed: bytes | None = None) -> Entry:
    """A drawn group of this author to its question of this index, by a link of its own where none is named."""
    slot = group_body().slot
    seed = question_seed(network=NETWORK, key=signer.key, slot=slot, task=GCD, index=index)
    texts = [Answer(text=text) for text in answers or (f"<answer>{truth(seed)}</answer>",)]
    envelope = group(signer, task=GCD, index=index, question=hashed or question(seed).hash, answers=texts)
    opened = open_envelope(envelope, GroupBody, NETWORK)
    return Pool(b"").add(opened, Path(link or signer.key, link or signer.key, b""), 0.0)


def training_indices(signer: Signer) -> list[int]:
    def text(index: int) -> str:
        slot = group_body().slot
        return question(question_seed(network=NETWORK, key=signer.key, slot=slot, task=GCD, index=index)).text

    return [index for index in range(64) if not held_out_side("gcd", text(index))]


def intake_with(examiner: Busy, refusals: Refusals) -> Intake:
    return Intake(examiner, Encoder(), CATALOGUE, TASKS, NETWORK, refusals, lambda: OURS, lambda: examiner.now)


async def take(intake: Intake, *entries: Entry) -> list[int]:
    """Indices of the groups that came through."""
    return [one.entry.name.index for one in (await intake.take(entries, 8, strict=True)).fit]


@dataclasses.dataclass
class Table:
    """An intake over an examiner that tests drive, and what it refused."""

    examiner: Busy = dataclasses.field(default_factory=Busy)
    refusals: Refusals = dataclasses.field(default_factory=Refusals)

    def __post_init__(self) -> None:
        self.intake = intake_with(self.examiner, self.refusals)

    async def take(self, *entries: Entry) -> list[int]:
        return await take(self.intake, *entries)


MINE, THEIRS = training_indices(ALICE), training_indices(BOB)


async def test_an_author_whose_answers_time_out_is_not_tried_again_in_that_task_for_an_hour() -> None:
    it = Table()
    it.examiner.slow = SLOW
    assert await it.take(entry_of(ALICE, MINE[0], SLOW)) == []
    assert await it.take(entry_of(ALICE, MINE[1]), entry_of(BOB, THEIRS[0])) == [THEIRS[0]]
    assert dict(it.refusals) == {Reason.TIMED_OUT: 2}
    it.examiner.now += 3600
    assert await it.take(entry_of(ALICE, MINE[1])) == [MINE[1]]


async def test_who_uses_up_the_examiners_minute_waits_and_nobody_else_pays() -> None:
    it, link = Table(Busy(seconds=15.0)), b"l" * 32
    it.examiner.slow = SLOW
    hostile = entry_of(ALICE, MINE[0], SLOW, link=link)
    assert await it.take(hostile, entry_of(BOB, THEIRS[0])) == [THEIRS[0]]
    it.examiner.seconds = 0.0
    # 15 of the 10 seconds a minute that an identity has: what it did in another task would wait for half a minute.
    other = hostile._replace(name=msgspec.structs.replace(hostile.name, task=b"o" * 32))
    assert it.intake._budget.refuses(other, it.examiner.now) is Reason.BUSY
    assert it.intake._budget.refuses(other, it.examiner.now + 31) is None
    assert await it.take(entry_of(BOB, THEIRS[1])) == [THEIRS[1]]
    # And 15 of the 20 of its link: another identity over it still has five.
    assert await it.take(entry_of(BOB, THEIRS[2], link=link)) == [THEIRS[2]]


async def test_a_link_has_one_budget_for_all_identities_over_it() -> None:
    it, link = Table(Busy(seconds=9.0)), b"l" * 32
    signers = [Signer(bytes([n]) * 32) for n in range(8)]
    came = [bool(await it.take(entry_of(one, training_indices(one)[0], link=link))) for one in signers]
    # 9 s each, 3 s of which come back meanwhile: 20, 11, 5, -1 and nothing until it is paid back; no time passes.
    assert came == [True] * 3 + [False] * 5
    assert dict(it.refusals) == {Reason.BUSY: 5}


async def test_an_examiner_that_dies_of_one_group_leaves_its_author_alone_and_of_several_nobody() -> None:
    it = Table()
    it.examiner.dies = True
    assert await it.take(entry_of(ALICE, MINE[0]), entry_of(BOB, THEIRS[0])) == []
    assert await it.take(entry_of(BOB, THEIRS[1])) == []
    it.examiner.dies = False
    assert await it.take(entry_of(ALICE, MINE[1]), entry_of(BOB, THEIRS[2])) == [MINE[1]]
    assert dict(it.refusals) == {Reason.TIMED_OUT: 4}


async def test_of_a_draw_that_kills_the_examiner_only_the_culprit_is_left_out() -> None:
    it, carol = Table(), Signer(b"c" * 32)
    it.examiner.dies_of = question_seed(network=NETWORK, key=ALICE.key, slot=group_body().slot, task=GCD, index=MINE[0])
    hers = training_indices(carol)[0]
    came = await it.take(entry_of(BOB, THEIRS[0]), entry_of(ALICE, MINE[0]), entry_of(carol, hers))
    assert came == [THEIRS[0], hers] and dict(it.refusals) == {Reason.TIMED_OUT: 1}
    # The culprit's author is left alone in that task, the others are not.
    assert await it.take(entry_of(ALICE, MINE[1]), entry_of(BOB, THEIRS[1])) == [THEIRS[1]]


async def test_an_examiner_that_cannot_be_started_is_nobodys_doing() -> None:
    class Broken(Busy):
        async def set_questions(self, items: Sequence[QuestionRef]) -> list[Question | None]:
            raise HostError("There is no room for a process.")

    it, entry = Table(Broken()), entry_of(ALICE, MINE[0])
    assert await it.take(entry) == []
    assert it.intake._budget.refuses(entry, it.examiner.now) is None


async def test_what_was_marked_is_reported_even_where_nothing_of_it_is_trained_on() -> None:
    entries = [entry_of(ALICE, INDEX, f"<q>{RIGHT}"), entry_of(BOB, THEIRS[0], "no answer")]
    taken = await Table().intake.take(entries, 8, strict=True)
    assert taken.fit == []
    (marked,) = taken.marked
    assert (marked.entry.name.author, marked.task) == (ALICE.key, "gcd/easy")
    assert [mark.solved for mark in marked.marks] == [True]


async def test_an_engine_that_dies_is_no_authors_doing(monkeypatch: pytest.MonkeyPatch) -> None:
    examiner, refusals = Busy(), Refusals()
    intake = intake_with(examiner, refusals)
    first, second = (entry_of(ALICE, index) for index in training_indices(ALICE)[:2])

    async def dies(*given: object) -> Encoded:
        raise HostDied("The engine ended.")

    monkeypatch.setattr(Encoder, "encode", dies)
    with pytest.raises(HostDied):
        await intake.take([first], 8, strict=True)
    monkeypatch.undo()
    assert refusals[Reason.TIMED_OUT] == 0 and await take(intake, second) == [second.name.index]

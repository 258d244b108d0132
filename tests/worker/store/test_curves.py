"""The data of charts and of the list of first solved tasks, over all history."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from sapo_desktop.core.records import Group, Origin, RoundReport, SwarmReward, TaskMark
from sapo_desktop.worker.store.ahas import FEWEST_TRIES
from sapo_desktop.worker.store.history import History
from tests import builders
from tests.builders import round_report, run_manifest

PEER = "ab" * 32
HARD = "gcd/hard"


class Book:
    """A history and the run that is written into it."""

    def __init__(self, folder: Path) -> None:
        self.history = History(folder / "history.sqlite", lambda: 1_000_000.0)
        self.run = self.history.begin_run(run_manifest())

    def play(self, number: int, *groups: Group, solved: float = 0.0, answers: int = 32, **changes: object) -> None:
        """A round in which so many own answers to the hard task were given, and so much of them solved it."""
        marks = [TaskMark(task=HARD, answers=answers, solved=solved, partial=solved, reward=solved)]
        report: RoundReport = msgspec.structs.replace(round_report(number, tasks=marks), **changes)
        advantages = [[1.0 if mark.solved else -1.0 for mark in group.marks] for group in groups]
        self.history.record_round(self.run, report, groups, advantages)


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    book = Book(tmp_path)
    yield book
    book.history.close()


def group(origin: Origin, *solved: bool, task: str = HARD) -> Group:
    texts = [f"{origin} says {one}" for one in solved]
    author = PEER if origin == "peer" else ""
    return builders.group(*solved, texts=texts, origin=origin, author=author, task=task, text=f"What is it? ({origin})")


def test_a_curve_has_one_point_a_round_and_nothing_of_lost_ones(book: Book) -> None:
    swarm = SwarmReward(value=0.4, low=0.3, high=0.5, peers=3, tasks={}, mine=0.6)
    book.play(1, silo=True, reward=0.1)
    book.play(2, silo=False, reward=0.2, swarm_reward=swarm)
    book.play(3, silo=False, reward=0.9)
    book.history.reconcile(2)
    curve = book.history.curve()
    assert (curve.round, curve.reward, curve.silo) == ([1, 2], [0.1, 0.2], [True, False])
    assert (curve.swarm_reward, curve.swarm_low, curve.swarm_high, curve.swarm_peers) == (
        [None, 0.4],
        [None, 0.3],
        [None, 0.5],
        [None, 3],
    )
    assert curve.swarm_mine == [None, 0.6]
    assert book.history.curve(after=2).round == []


def test_a_task_first_solved_after_a_peers_answer_was_learned_from(book: Book) -> None:
    book.play(1)
    book.play(2, group("peer", False, True))
    book.play(3, group("own", False, True), solved=0.1)
    (aha,) = book.history.ahas()
    assert (aha.task, aha.round, aha.tries, aha.peer_round, aha.peer) == (HARD, 3, FEWEST_TRIES, 2, PEER)
    assert (aha.answer, aha.peer_answer) == ("own says True", "peer says True")
    assert aha.question == "What is it? (own)" and aha.peer_question == "What is it? (peer)"
    book.play(4, group("own", True), solved=1.0)
    assert len(book.history.ahas()) == 1, "the first time counts"


@pytest.mark.parametrize(
    "peers",
    [[], [group("peer", False, False)], [group("peer", True, True, task="lcm/hard")], [group("human", True, False)]],
    ids=["none", "unsolved", "another task", "no peer"],
)
def test_without_a_peers_solution_it_is_no_aha(book: Book, peers: list[Group]) -> None:
    book.play(1)
    book.play(2, *peers)
    book.play(3, group("own", True), solved=1.0)
    assert book.history.ahas() == []


def test_too_few_tries_or_an_answer_of_the_same_round_make_no_aha(book: Book) -> None:
    book.play(1, group("peer", True, False))
    book.play(2, group("own", True), solved=1.0)
    assert book.history.ahas() == [], "32 tries are no sign that it was hard"


def test_tries_of_lost_rounds_are_not_counted(book: Book) -> None:
    book.play(1, answers=FEWEST_TRIES - 10)
    for _ in range(3):
        book.play(2, group("peer", True, False), answers=20)
        book.history.reconcile(1)
    book.play(2, group("peer", True, False), answers=5)
    book.play(3, solved=0.5)
    assert book.history.ahas() == [], "it was tried 59 times before"


def test_what_was_solved_once_in_a_lost_round_and_once_before_stays_solved(book: Book) -> None:
    book.play(1, answers=FEWEST_TRIES, solved=0.5)
    book.play(2, solved=0.5)
    book.history.reconcile(1)
    book.play(2, group("peer", True, False))
    book.play(3, solved=0.5)
    assert book.history.ahas() == []


def test_what_was_solved_in_lost_rounds_is_still_to_be_solved(book: Book) -> None:
    book.play(1)
    book.play(2, group("peer", True, False))
    book.play(3, group("own", True), solved=1.0)
    book.history.reconcile(2)
    assert book.history.ahas() == []
    book.play(3, group("own", True), solved=1.0)
    assert [aha.round for aha in book.history.ahas()] == [3]
    book.history.reconcile(1)
    book.play(2, group("own", True), solved=1.0)
    assert book.history.ahas() == [], "the peer's answer was forgotten with its round"

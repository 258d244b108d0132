"""History: records are read back once, lost rounds count nowhere, the file stays bounded."""

import contextlib
import sqlite3
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from sapo_desktop.core.errors import HistoryDamaged, HistoryError
from sapo_desktop.core.records import (
    EvalReport,
    Group,
    Learned,
    Origin,
    RoundReport,
    TaskMark,
)
from sapo_desktop.worker.control.messages.replies import Week
from sapo_desktop.worker.control.messages.rollouts import GetRollouts
from sapo_desktop.worker.store import rows
from sapo_desktop.worker.store.history import WHOLE_ROUNDS, History, Written
from tests import builders
from tests.builders import eval_report, round_report, step_report
from tests.builders import run_manifest as manifest


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def report(round_number: int, solved: float = 0.5, note: str = "") -> RoundReport:
    marks = [
        TaskMark(task="gcd/easy", answers=2, solved=solved, partial=0.75, reward=solved),
        TaskMark(task="legs/middle", answers=6, solved=0.0, partial=0.1, reward=0.0),
    ]
    return round_report(
        round_number,
        reward=solved / 4,
        solved=solved / 4,
        partial=0.2,
        external_groups=1,
        tasks=marks,
        step=step_report(loss=-0.1, tokens=90),
        model=manifest().model_sha256,
        mix="24/8",
        weighting="paper",
        note=note,
    )


def group(seed: int, origin: Origin = "own", author: str = "", text: str = "because 3") -> Group:
    """A right answer and an empty one."""
    return builders.group(1, 0, texts=(text, ""), origin=origin, author=author, seed=seed)


def evaluation(round_number: int, score: float, which: str = "validation") -> EvalReport:
    return eval_report(str(round_number), score, which=which, solved=[True, False])


def recorded(path: Path, rounds: int) -> None:
    """A history of so many rounds, closed."""
    history = History(path, Clock())
    run = history.begin_run(manifest())
    for number in range(1, rounds + 1):
        record(history, run, number)
    history.close()


def record(history: History, run: int, round_number: int, solved: float = 0.5, text: str = "because 3") -> None:
    groups = [group(2**63 - 1 - round_number, text=text), group(5, "peer", "ab" * 32, text)]
    history.record_round(run, report(round_number, solved), groups, [[1.0, -1.0], [0.5, 0.0]])


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def history(tmp_path: Path, clock: Clock) -> History:
    return History(tmp_path / "history.db", clock)


@pytest.fixture
def run(history: History) -> int:
    return history.begin_run(manifest())


def test_a_round_is_read_back_as_it_was(history: History) -> None:
    record(history, history.begin_run(manifest()), 1)
    assert history.rounds().rounds == [report(1)]
    assert history.last_manifest() == manifest()
    first, _, third, last = history.rollouts().items
    assert (first.task, first.seed, first.question) == ("gcd/easy", str(2**63 - 2), "gcd of 6 and 9?")
    assert (first.completion, first.solved, first.advantage, first.verdict) == ("because 3", True, 1.0, "solved")
    assert (first.origin, first.author, third.origin, third.author) == ("own", "", "peer", "ab" * 32)
    assert (last.completion, last.solved, last.advantage) == ("", False, 0.0)


def test_conditions_are_compared_with_those_of_the_last_rounds_not_of_a_scoring_after_them(history: History) -> None:
    assert history.last_manifest() is None
    record(history, history.begin_run(manifest()), 1)
    history.begin_run(msgspec.structs.replace(manifest(), seed=99))  # `eval` begins a run and plays no round
    assert history.last_manifest() == manifest()


def test_text_that_is_no_utf8_or_holds_zeros_is_stored(history: History) -> None:
    record(history, history.begin_run(manifest()), 1, text="a\ud800b\0c")
    assert history.rollouts().items[0].completion == "a?b\0c"


def test_pages(run: int, history: History) -> None:
    for number in range(1, 6):
        record(history, run, number)
    page = history.rounds(after=1, limit=2)
    assert ([r.round for r in page.rounds], page.more) == ([2, 3], True)
    assert [r.round for r in history.last_rounds(2)] == [4, 5]
    assert not history.rounds(after=3, limit=2).more
    answers = history.rollouts(GetRollouts(limit=9))  # four a round: whole rounds only
    assert ([a.round for a in answers.items], answers.more) == ([1] * 4 + [2] * 4, True)
    assert len(history.rollouts(GetRollouts(after=4, limit=1)).items) == 4
    assert not history.rollouts(GetRollouts(after=4, limit=1)).more


def test_rounds_after_the_checkpoint_are_lost_and_replaced(run: int, history: History) -> None:
    for number in range(1, 6):
        record(history, run, number, solved=0.5)
        if number == 3:
            history.record_checkpoint(3, 3, 1000)
    history.record_eval(run, evaluation(3, 0.3))
    history.record_eval(run, evaluation(5, 0.9))
    assert history.reconcile(3, 3) == 2
    assert [(r.round, r.checkpoint) for r in history.rounds().rounds] == [(1, None), (2, None), (3, 3)]
    assert [e.round for e in history.evals()] == [3]
    assert history.latest().validation == 0.3
    run = history.begin_run(manifest())
    for number in (4, 5):
        record(history, run, number, solved=1.0)
    assert [r.round for r in history.rounds().rounds] == [1, 2, 3, 4, 5]
    assert len(history.rollouts().items) == 20
    assert history.task_totals(2)[0].solved == 1.0
    assert history.reconcile(5) == 0


def test_a_kill_between_checkpoint_and_its_row_is_repaired_and_without_a_checkpoint_all_is_lost(
    run: int, history: History
) -> None:
    record(history, run, 1)
    assert history.reconcile(1, 1) == 0
    assert history.rounds().rounds[0].checkpoint == 1
    assert history.reconcile(0) == 1
    assert history.rounds().rounds == [] == history.rollouts().items


def test_a_round_counts_once(run: int, history: History) -> None:
    record(history, run, 1)
    with pytest.raises(HistoryError, match="Round 1 is already in the history"):
        record(history, run, 1)
    assert len(history.rollouts().items) == 4


def test_a_round_is_stored_whole_or_not_at_all(run: int, history: History) -> None:
    with pytest.raises(ValueError, match="zip"):
        history.record_round(run, report(1), [group(1), group(2)], [[1.0, -1.0], [1.0]])
    assert history.rounds().rounds == []
    record(history, run, 1)


def test_totals_weigh_by_answers(run: int, history: History) -> None:
    record(history, run, 1, solved=1.0)
    record(history, run, 2, solved=0.0)
    easy, legs = history.task_totals(10)
    assert (easy.task, easy.answers, easy.solved) == ("gcd/easy", 4, 0.5)
    assert (legs.task, legs.answers) == ("legs/middle", 12)


def test_scores(run: int, history: History) -> None:
    for each in (evaluation(1, 0.2), evaluation(2, 0.4), evaluation(2, 0.9, "test")):
        history.record_eval(run, each)
    assert history.latest().validation == 0.4
    assert history.evals("test") == [evaluation(2, 0.9, "test")]
    assert len(history.evals()) == 3


def test_two_models_are_compared_on_the_questions_that_both_answered(history: History) -> None:
    def score(model: int, round_number: int, which: str, **tasks: tuple[str, list[bool]]) -> None:
        """Record a score of the model; of each task what names its questions, and which are solved."""
        none = TaskMark(task="", answers=0, solved=0.0, partial=0.0, reward=0.0)
        marks = [msgspec.structs.replace(none, task=task, answers=len(row)) for task, (_, row) in tasks.items()]
        solved = [one for _, row in tasks.values() for one in row]
        prints = [name for name, _ in tasks.values()]
        each = eval_report(str(round_number) if round_number else "base", 0.5, which=which)
        each = msgspec.structs.replace(each, round=round_number, tasks=marks, solved=solved, prints=prints)
        history.record_eval(runs[model], each)

    def begin(model: str) -> int:
        settings = {"model": f"model {model}"}
        return history.begin_run(msgspec.structs.replace(manifest(), model_sha256=model * 64, settings=settings))

    runs = [begin("a")]
    score(0, 0, "validation", x=("1", [False, False]), y=("1", [True, False]))
    score(0, 9, "validation", x=("1", [False, False]), y=("1", [False, False]))
    score(0, 12, "validation", x=("1", [True, True]), y=("1", [True, False]))
    runs.append(begin("b"))
    assert history.comparisons() == []
    score(1, 20, "validation", x=("1", [False, True]), y=("other", [True, True]), z=("1", [True] * 9))
    (found,) = history.comparisons()
    assert (found.questions, found.ours.name, found.other.name) == (2, "model b", "model a")
    assert (found.ours.base, found.ours.now, found.other.base, found.other.now) == (None, 0.5, 0.0, 1.0)
    assert found.difference.value == -0.5
    for model in (0, 1):
        score(model, 30, "test", x=("t", [True, bool(model), False]))
    (found,) = history.comparisons()
    assert (found.which, found.questions) == ("test", 3), "the set with more questions in common"
    assert found.difference.value == pytest.approx(1 / 3)


def test_a_week_counts_what_its_days_came_to(history: History, run: int, clock: Clock) -> None:
    def score(number: int, value: float) -> None:
        history.record_eval(run, msgspec.structs.replace(evaluation(number, value), line="a b c"))

    assert history.week() == Week()
    record(history, run, 1)
    score(1, 0.1)
    found = history.week()
    assert (found.score_before, found.score) == (None, 0.1), "there is nothing to compare it with"
    history.note_joules(1000)
    history.note_claims({"ab": 5, "cd": 0}, 5)
    clock.now += 8 * 86_400
    assert history.week() == Week(), "all of it is older"
    for number in (2, 3):
        record(history, run, number, solved=1.0)
    score(3, 0.4)
    history.note_joules(70)
    history.note_joules(30)
    history.note_claims({"ef": 1, "gh": 0}, 1)
    found = history.week()
    assert (found.rounds, found.solved, found.helped, found.joules) == (2, 4, 1, 100)
    assert (found.score_before, found.score) == (0.1, 0.4)
    history.reconcile(2)  # round 3 is lost, with its score
    assert history.week().rounds == 1 and history.week().score is None


def test_bytes_of_the_last_day(history: History, clock: Clock) -> None:
    history.record_checkpoint(1, 1, 100)
    clock.now += 86_000
    history.record_checkpoint(2, 2, 30)
    assert history.checkpoints_written(0) == [Written(time=1_000_000.0, bytes=100), Written(time=1_086_000.0, bytes=30)]


def test_old_rounds_keep_one_group_and_where_all_came_from(run: int, history: History, tmp_path: Path) -> None:
    newest = WHOLE_ROUNDS + 3
    for number in range(1, newest + 1):
        record(history, run, number)
    kept = [
        len([a for a in history.rollouts(GetRollouts(after=n - 1, limit=1)).items if a.round == n])
        for n in (1, 2, 3, 4, newest)
    ]
    assert kept == [2, 2, 2, 4, 4]
    assert {history.rollouts(GetRollouts(after=n, limit=1)).items[0].origin for n in (0, 1)} == {"own", "peer"}
    with sqlite3.connect(tmp_path / "history.db") as direct:
        assert direct.execute("SELECT count(*) FROM groups").fetchone() == (2 * newest,)


def test_the_file_stays_below_its_limit(tmp_path: Path) -> None:
    history = History(tmp_path / "history.db", Clock(), most_bytes=3_000_000)
    run = history.begin_run(manifest())
    for number in range(1, 61):
        record(history, run, number, text="x" * 50_000)
    history.close()
    assert (tmp_path / "history.db").stat().st_size < 4_000_000
    history = History(tmp_path / "history.db", Clock())
    assert len(history.rounds().rounds) == 60
    assert history.rollouts(GetRollouts(after=59)).items[0].completion == "x" * 50_000


@pytest.mark.parametrize("damage", ["head", "middle", "text", "marked"])
def test_a_damaged_database_is_set_aside_and_said(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "history.db"
    recorded(path, 29)
    data = bytearray(path.read_bytes())
    if damage == "text":
        data = bytearray(b"not a database at all, but long enough to be read as one" * 100)
    else:
        start = {"head": 0, "middle": 8192, "marked": 8192}[damage]
        data[start : start + 16384] = b"\xa5" * 16384
    path.write_bytes(data)
    if damage in ("middle", "marked"):
        path.with_name("history.db.suspect" if damage == "marked" else "history.db-wal").touch()
    history = History(path, Clock())
    assert "was damaged" in str(history.said)
    assert history.rounds().rounds == []
    record(history, history.begin_run(manifest()), 1)
    assert (tmp_path / "history.damaged-1000000.db").read_bytes() == bytes(data)
    history.close()
    assert History(path, Clock()).said == ""


def test_damage_found_while_in_use_is_explained_and_checked_at_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    recorded(path, 29)
    with contextlib.closing(sqlite3.connect(path)) as direct:
        (root,) = direct.execute("SELECT rootpage FROM sqlite_master WHERE name = 'rounds'").fetchone()
    data = path.read_bytes()
    path.write_bytes(data[: 4096 * (root - 1)] + b"\xa5" * 4096 + data[4096 * root :])
    history = History(path, Clock())
    assert history.said == ""
    with pytest.raises(HistoryError, match=r"is damaged.*Start again"):
        history.rounds()
    history.close()
    assert "was damaged" in str(History(path, Clock()).said)


@pytest.mark.parametrize(
    ("table", "value"),
    [
        ("rounds", "'{\"round\": 1}'"),
        ("rounds", "CAST(x'a5a5' AS TEXT)"),
        ("evals", "'{}'"),
        ("evals", "replace(report, '}', ')')"),
    ],
)
def test_a_row_that_only_sqlite_can_read_is_damage_too(tmp_path: Path, table: str, value: str) -> None:
    path = tmp_path / "history.db"
    history = History(path, Clock())
    run = history.begin_run(manifest())
    record(history, run, 1)
    history.record_eval(run, evaluation(1, 0.5))
    history.close()
    with contextlib.closing(sqlite3.connect(path)) as direct:
        direct.execute(f"UPDATE {table} SET report = {value}")
        direct.commit()
    history = History.for_node(path)
    if value == "'{}'":  # a start reads nothing of it
        with pytest.raises(HistoryDamaged, match=r"is damaged.*Start again"):
            history.curve()
        history.close()
        history = History.for_node(path)
    assert "was damaged" in str(history.said)
    record(history, history.begin_run(manifest()), 1)
    assert [report.round for report in history.rounds().rounds] == [1]


def test_a_full_disk_is_explained_and_leaves_what_was_there(run: int, history: History) -> None:
    record(history, run, 1)
    with history._database.reading() as db:
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {pages + 1}")
    with pytest.raises(HistoryError, match=r"full.*Free some space"):
        record(history, run, 2, text="x" * 100_000)
    assert [r.round for r in history.rounds().rounds] == [1]
    with history._database.reading() as db:
        db.execute("PRAGMA max_page_count = 100000")
    record(history, run, 2)


ELSEWHERE = """
import os, sys
from pathlib import Path
from tests.worker.store.test_history import History, manifest, record
history = History(Path(sys.argv[1]))
run = history.begin_run(manifest())
record(history, run, int(sys.argv[2]))
if sys.argv[3:]:
    with history._database.writing() as db:
        db.execute("UPDATE rounds SET reward = 99")
        os._exit(9)
"""


def record_elsewhere(tmp_path: Path, *arguments: str) -> int:
    """Record that round in tmp_path/history.db by another process, which is killed in the middle of more where a second
    argument says so; its exit code."""
    line = [sys.executable, "-c", ELSEWHERE, str(tmp_path / "history.db"), *arguments]
    return subprocess.run(line, cwd=Path(__file__).parents[3]).returncode


def test_a_kill_within_a_transaction_leaves_what_was_committed(tmp_path: Path) -> None:
    assert record_elsewhere(tmp_path, "1", "killed") == 9
    history = History(tmp_path / "history.db")
    assert history.said == ""
    assert history.rounds().rounds == [report(1)]


def test_two_processes_use_the_history_at_once(run: int, tmp_path: Path, history: History) -> None:
    record(history, run, 1)
    assert record_elsewhere(tmp_path, "2") == 0
    record(history, run, 3)
    assert [r.round for r in history.rounds().rounds] == [1, 2, 3]


def test_it_says_from_whom_how_much_was_learned_and_forgets_lost_rounds(run: int, history: History) -> None:
    for number in (1, 2, 3):
        record(history, run, number)
    history.reconcile(2)
    own, peer = history.sources()
    assert (own.origin, own.author, own.task, own.groups, own.answers, own.weight) == ("own", "", "gcd/easy", 2, 4, 4.0)
    assert (peer.origin, peer.author, peer.groups, peer.weight) == ("peer", "ab" * 32, 2, 1.0)


def test_of_very_many_sources_the_heaviest_are_named(
    run: int, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = [group(number, "peer", bytes([number]).hex() * 32) for number in (1, 2, 3)]
    history.record_round(run, report(1), groups, [[weight, -weight] for weight in (1.0, 2.0, 0.5)])
    monkeypatch.setattr(rows, "MOST_SOURCES", 1)
    heaviest, rest = history.sources()
    assert (heaviest.author[:2], heaviest.task, heaviest.weight) == ("02", "gcd/easy", 4.0)
    assert (rest.author, rest.task, rest.origin, rest.groups, rest.weight) == ("", "", "peer", 2, 3.0)


def test_each_answer_says_whether_a_person_gave_it(run: int, history: History) -> None:
    mixed = group(8, "human", "ab" * 32)
    person = msgspec.structs.replace(mixed.completions[0], kind="human")
    mixed = msgspec.structs.replace(mixed, completions=[person, mixed.completions[1]])
    history.record_round(run, report(1), [mixed], [[1.0, 0.0]])
    assert [(one.origin, one.kind) for one in history.rollouts().items] == [("human", "human"), ("human", "model")]


def test_the_newest_question_that_was_learned_is_kept_unless_its_round_was_lost(run: int, history: History) -> None:
    first, second = (Learned(round=number, task="gcd/easy", question="What?", before="1", now="2") for number in (1, 3))
    for number, learned in ((1, first), (2, None), (3, second)):
        record(history, run, number)
        history.record_eval(run, msgspec.structs.replace(evaluation(number, 0.2), learned=learned))
    assert history.latest().learned == second
    assert history.latest().after_eval(evaluation(4, 0.3)).learned == second
    history.reconcile(2)
    assert history.latest().learned == first


def test_every_row_and_score_names_its_model_and_the_latest_are_of_the_one_at_work(history: History) -> None:
    starter, larger = "ab", "cd" * 32
    for at, model in ((1, starter), (2, larger), (3, starter)):
        run = history.begin_run(msgspec.structs.replace(manifest(), model_sha256=model))
        if at < 3:
            record(history, run, at)
            learned = Learned(round=at, task="gcd/easy", question="?", before="1", now=model)
            history.record_eval(run, msgspec.structs.replace(evaluation(at, 0.1 * at), learned=learned))
            history.record_eval(run, eval_report("base", 0.01 * at))
    curve = history.curve()
    assert [curve.models[place].hash for place in curve.model] == [starter, larger[:16]]
    assert [point.model for point in curve.evals] == [starter, starter, larger[:16], larger[:16]]
    assert [one.model for one in history.rounds().rounds] == [starter, larger[:16]]
    latest = history.latest()
    assert latest.last is not None and latest.last.round == 1, "the starter is at work again, without a round so far"
    assert latest.learned is not None and latest.learned.now == starter
    assert history.checkpoint_scores()["base"] == 0.01
    assert {mark.answers for mark in history.task_totals(9)} == {2, 6}, "of one round, not of two"

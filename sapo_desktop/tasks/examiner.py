"""The examiner: makes questions, knows the right answers, scores answers. Only this module imports reasoning_gym.

It runs in its own process (`worker.host examiner`) with PYTHONHASHSEED=0, because six datasets depend on the hash seed,
and refuses to start otherwise. Every question is recreated from (task, seed) before it is scored, so only this code
decides what was asked and what is right. An answer must pass its family's grammar before a scorer sees it. Left out:
limits of the process (limits.py), and the choice of questions (sampler.py, heldout.py, service.py).
"""

from __future__ import annotations

import contextlib
import io
import math
import sys
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from decimal import localcontext
from typing import Any, Literal, TypeAlias

import msgspec

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.extraction import extract_answer, has_tags
from sapo_desktop.core.records import Mark, Question, Verdict
from sapo_desktop.core.sentences import sentence
from sapo_desktop.tasks.catalogue import Catalogue, Family, Level, TaskKey
from sapo_desktop.tasks.grammars import parse_answer
from sapo_desktop.tasks.identity import FINGERPRINT_SEEDS, fingerprint, task_id
from sapo_desktop.tasks.limits import TimeLimitReached, time_limit
from sapo_desktop.tasks.own.family import Rows
from sapo_desktop.tasks.questions import MOST_DRAWS, draw_seed, is_set, question_hash
from sapo_desktop.tasks.scoring import SOLVED, right_answers, score

RewardRule: TypeAlias = Literal["strict", "partial"]

KEPT_ENTRIES = 4096
MARK_SECONDS = 1.0
QUESTION_SECONDS = 5.0


def require_fixed_hashing() -> None:
    """Raise TaskError unless this interpreter was started with PYTHONHASHSEED=0."""
    if sys.flags.hash_randomization or sys.flags.ignore_environment:
        raise TaskError(
            sentence(
                "The examiner must run with PYTHONHASHSEED=0; otherwise some tasks ask other questions. "
                "Start it through `sapo_desktop.worker.hosts.host`, which sets it."
            )
        )


class Examiner:
    """Makes questions and scores answers for one catalogue. Not thread-safe."""

    def __init__(self, catalogue: Catalogue) -> None:
        require_fixed_hashing()
        self.catalogue = catalogue
        self._datasets: dict[TaskKey, Any] = {}
        self._entries: OrderedDict[tuple[TaskKey, int], dict[str, Any]] = OrderedDict()
        self._ids: dict[TaskKey, bytes] = {}

    def question(self, task: TaskKey, seed: int) -> Question:
        """The question of this task and seed. Raises TaskError if the dataset cannot make one."""
        text = self.entry(task, seed)["question"]
        return Question(task=task, seed=seed, text=text, hash=question_hash(text))

    def entry(self, task: TaskKey, seed: int) -> Mapping[str, Any]:
        """The dataset's entry for the question, with its metadata. Raises TaskError."""
        key = (task, seed)
        if key in self._entries:
            self._entries.move_to_end(key)
            return self._entries[key]
        entry = self._entries[key] = self._make(task, seed)
        if len(self._entries) > KEPT_ENTRIES:
            self._entries.popitem(last=False)
        return entry

    def truth(self, task: TaskKey, seed: int) -> str:
        """A right answer in canonical form, for display; the shortest if there are several."""
        return self.right_answers(task, seed)[0]

    def right_answers(self, task: TaskKey, seed: int) -> tuple[str, ...]:
        """The right answers in canonical form, shortest first; each once, however it may be written."""
        family, _ = self.catalogue.find(task)
        return right_answers(family.dataset, family.grammar, self.entry(task, seed))

    def mark(self, task: TaskKey, seed: int, completion: str, rule: RewardRule = "strict") -> Mark:
        """Score one completion. Never raises because of its content."""
        family, level = self.catalogue.find(task)
        entry = self.entry(task, seed)
        written = extract_answer(completion)
        if written is None:
            return _mark("no_answer", 0.0, None, rule)
        answer = parse_answer(family.grammar, written)
        if answer is None:
            return _mark("unparsed" if written else "no_answer", 0.0, None, rule)
        mark = self._score(family, level, entry, answer, rule)
        return msgspec.structs.replace(mark, readable=has_tags(completion))

    def task_id(self, task: TaskKey) -> bytes:
        """The 32 bytes by which all nodes know this task; computed at first use (200 questions, up to about a
        second)."""
        if task not in self._ids:
            family, level = self.catalogue.find(task)
            self._ids[task] = task_id(family, level, fingerprint(self._fingerprint_entries(task)))
        return self._ids[task]

    def _score(self, family: Family, level: Level, entry: Mapping[str, Any], answer: str, rule: RewardRule) -> Mark:
        dataset = self._dataset(f"{family.name}/{level.name}")
        try:
            with time_limit(MARK_SECONDS), localcontext():
                points = float(score(family.dataset, family.grammar, level.config, answer, entry, dataset.score_answer))
        except TimeLimitReached:
            return _mark("timeout", 0.0, answer, rule)
        except Exception:  # noqa: BLE001 - a library's scorer may raise anything; the verdict keeps it visible
            return _mark("scorer_failed", 0.0, answer, rule)
        if math.isnan(points) or not 0.0 <= points <= 1.0:
            return _mark("scorer_failed", 0.0, answer, rule)
        if points >= SOLVED:
            return _mark("solved", points, answer, rule)
        return _mark("partial" if points > 0 else "wrong", points, answer, rule)

    def _make(self, task: TaskKey, seed: int) -> dict[str, Any]:
        """The first acceptable question among those drawn under this seed. Raises TaskError."""
        family, level = self.catalogue.find(task)
        for draw in range(MOST_DRAWS):
            entry = self._draw(task, draw_seed(seed, draw))
            right = right_answers(family.dataset, family.grammar, entry)
            if is_set(seed, draw, entry["question"], right, level.keep):
                return entry
        raise TaskError(
            "There is no question {task} with seed {seed}: {reason}.",
            task=task,
            seed=str(seed),
            reason=f"none of {MOST_DRAWS} drawn is set",
        )

    def _draw(self, task: TaskKey, seed: int) -> dict[str, Any]:
        """The dataset's entry for this seed. Raises TaskError."""
        dataset = self._dataset(task)
        # All datasets of the catalogue seed item i with `self.seed + i`. Setting the seed of one dataset object
        # therefore equals a new dataset of size 1 (a test compares them), without reading its word lists each time.
        dataset.seed = seed
        try:
            # Some generators print, and some change the precision of decimals globally.
            with time_limit(QUESTION_SECONDS), localcontext(), contextlib.redirect_stdout(io.StringIO()):
                entry = dataset[0]
        except TimeLimitReached as error:
            raise TaskError(
                "Making the question {task} with seed {seed} took too long, so it is left out.",
                task=task,
                seed=str(seed),
            ) from error
        except Exception as error:  # a library's generator may raise anything, for example a division by zero
            raise TaskError(
                "There is no question {task} with seed {seed}: {reason}.", task=task, seed=str(seed), reason=repr(error)
            ) from error
        return dict(entry)

    def _dataset(self, task: TaskKey) -> Any:
        if task not in self._datasets:
            self._datasets[task] = _create_dataset(*self.catalogue.find(task))
        return self._datasets[task]

    def _fingerprint_entries(self, task: TaskKey) -> Sequence[dict[str, Any] | None]:
        entries: list[dict[str, Any] | None] = []
        for seed in FINGERPRINT_SEEDS:
            try:
                entries.append(self._make(task, seed))
            except TaskError:
                entries.append(None)
        return entries


def _mark(verdict: Verdict, partial: float, answer: str | None, rule: RewardRule) -> Mark:
    solved = verdict == "solved"
    reward = partial if rule == "partial" else float(solved)
    return Mark(solved=solved, partial=partial, reward=reward, answer=answer, verdict=verdict)


def load_library() -> Any:
    """Import reasoning_gym (1 to 3 CPU-s) in the one process that needs it, before its limits apply."""
    import reasoning_gym

    return reasoning_gym


def _create_dataset(family: Family, level: Level) -> Any:
    if family.own:
        return Rows(level)
    try:
        dataset = load_library().create_dataset(family.dataset, seed=0, size=1, **level.config)
        if family.dataset == "propositional_logic":
            # It also searches for an example of a conclusion, which takes most of its time and is not needed here.
            dataset._find_valid_conclusion = lambda rng, premises, variables: premises[0]
        return dataset
    except (TypeError, ValueError, AssertionError) as error:
        raise TaskError(
            "The task '{task}' in the catalogue does not fit reasoning_gym {version} ({reason}). Set "
            "SAPO Desktop up again.",
            task=f"{family.name}/{level.name}",
            version=library_version(),
            reason=str(error),
        ) from error


def library_version() -> str:
    """Version of the installed reasoning_gym, without importing it."""
    from importlib.metadata import version

    return version("reasoning_gym")

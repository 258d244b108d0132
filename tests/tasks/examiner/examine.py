"""Runs one scene with a real examiner and prints its result as JSON; started by the tests as a process of
its own.

`python examine.py SCENE`: the examiner needs PYTHONHASHSEED=0, which a running test cannot set for itself.
"""

import contextlib
import json
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.resources import resource
from sapo_desktop.core.task_list import FIRST
from sapo_desktop.tasks.catalogue import Catalogue, Family, Level, family_of, level_of, load_catalogue
from sapo_desktop.tasks.examiner import Examiner, load_library
from sapo_desktop.tasks.heldout import held_out_set
from sapo_desktop.tasks.questions import draw_seed
from sapo_desktop.tasks.split import canonical, held_out_side
from sapo_desktop.tasks.worked.examples import OF_A_FAMILY, worked_examples
from tests.tasks.examiner.checks import faults
from tests.tasks.examiner.twins import TWINS, other_families

HOSTILE = (
    "__import__('os').system('touch {marker}')",
    "[[__import__('os').system('touch {marker}')]]",
    "[__import__('os').system('touch {marker}')]",
    "open('{marker}', 'w')",
    "exec(\"import os; os.system('touch {marker}')\")",
    "().__class__.__bases__[0].__subclasses__()",
    "(lambda: open('{marker}', 'w'))()",
    "{{(open('{marker}', 'w'))}}",
    "9**9**9",
    "[[9**9**9]]",
    "1e999999999",
    "1e-999999999",
    "-1E+99999",
    "nan",
    "-inf",
    "0x1F",
    "1_000",
    "9" * 5000,
    "-" + "9" * 100_000,
    "1/" + "9" * 5000,
    "(" * 5000,
    "(" * 500 + "P" + ")" * 500,
    "[" * 5000,
    "[" * 500 + "1" + "]" * 500,
    "¬" * 5000 + "P",
    " ∨ ".join("P" * 3000),
    "A# " * 5000,
    "2 × " * 5000 + "2",
    "\\frac{" * 3000,
    "$" * 5000,
    "x" * 100_000,
    "\n" * 5000 + "x",
    "\ud800\udfff",
    "\u202e123\u202c",
    "1\x002",
    "\u0664\u0662",
    "Ⅷ",
    "½",
    "<answer>" * 3000,
    "%s%s%n {0.__class__}",
    "'; DROP TABLE rounds; --",
    "\x1b[2J\x1b]0;title\x07",
    "None",
    "True",
    "P ∨ ¬P ∨ __import__",
    "lambda: 0",
)


def truths(catalogue: Catalogue, examiner: Examiner) -> dict[str, Any]:
    """Verdicts of the true answer, bare and in a span, over 50 seeds of every task."""
    verdicts: dict[str, dict[str, int]] = {}
    for task in catalogue.tasks():
        count: Counter[str] = Counter()
        for seed in range(50):
            try:
                truth = examiner.truth(task, seed)
            except TaskError:
                count["no question"] += 1
                continue
            count[examiner.mark(task, seed, f"some steps <answer> {truth} </answer>").verdict] += 1
        verdicts[task] = dict(count)
    return verdicts


def sound(catalogue: Catalogue, examiner: Examiner) -> dict[str, Any]:
    """What an independent solver finds wrong with 3,000 questions of each task: one part of so many."""
    part, parts = int(sys.argv[2]), int(sys.argv[3])
    return {task: wrong for task in catalogue.tasks()[part::parts] if (wrong := faults(examiner, task, range(3000)))}


NEVER_ASKED = {
    "calendar_arithmetic/hard": (1, 3, 85, 102, 107, 166),  # a day of the year after, under the year before
    "base_conversion/easy": (139, 174, 336, 737),  # no number
    "base_conversion/paper": (1514, 1651),
    "simple_equations/middle": (1973,),  # 0 = 0
    "simple_equations/hard": (2369,),
}
RIGHT = (
    *(("fraction_simplification/easy", seed, "1") for seed in (0, 13, 60, 63, 67, 83)),
    ("fraction_simplification/middle", 2, "1"),
    ("fraction_simplification/paper", 63, "1"),
    ("decimal_arithmetic/hard", 471, "1,080.8"),
    ("decimal_arithmetic/middle", 22, ".039604"),
    ("chain_sum/middle", 0, "\N{MINUS SIGN}1444"),
)


def reported(catalogue: Catalogue, examiner: Examiner) -> dict[str, Any]:
    """Questions that should not be asked, of those that were; right answers that are not solved."""
    asked = [
        f"{task} {seed}"
        for task, seeds in NEVER_ASKED.items()
        for seed in seeds
        if faults(examiner, task, range(seed, seed + 1))
    ]
    unsolved = [f"{task} {seed}" for task, seed, text in RIGHT if not examiner.mark(task, seed, text).solved]
    return {"asked": asked, "not solved": unsolved}


class Noting:
    """Makes entries, and remembers where each question came from."""

    def __init__(self, examiner: Examiner) -> None:
        self._examiner = examiner
        self.places: dict[str, tuple[str, int]] = {}

    def entry(self, task: str, seed: int) -> Mapping[str, Any]:
        entry = self._examiner.entry(task, seed)
        self.places[entry["question"]] = (task, seed)
        return entry


def examples(catalogue: Catalogue, examiner: Examiner) -> dict[str, Any]:
    """The worked examples of every family: how many, and those that are wrong, of the held-out side, or of another
    level than the questions that they are shown before."""
    maker, counts = Noting(examiner), dict[str, int]()
    misplaced, unsolved, held_out = list[str](), list[str](), list[str]()
    for family in catalogue.families:
        examples = worked_examples(maker, family)
        shown = [*examples.first, *examples.longer]
        counts[family.name] = len(shown)
        first = any(level.name == FIRST for level in family.levels)
        for one in shown:
            of_first = level_of(maker.places[one.question][0]) == FIRST
            misplaced += [one.question] if of_first != (one in examples.first) else []
        misplaced += [family.name] if first and len(examples.first) < OF_A_FAMILY else []
        held_out += [one.question for one in shown if held_out_side(family.name, one.question)]
        unsolved += [
            f"{one.question} {one.answer}"
            for one in shown
            if not examiner.mark(*maker.places[one.question], one.answer).solved
        ]
    return {"counts": counts, "not solved": unsolved, "held out": held_out, "misplaced": misplaced}


def hostile(catalogue: Catalogue, examiner: Examiner) -> dict[str, Any]:
    """Marks of hostile answers: bare, in a span, and glued to the true answer on either side."""
    solved: list[list[str]] = []
    verdicts: Counter[str] = Counter()
    slowest = 0.0
    texts = [text.replace("{marker}", sys.argv[2]) for text in HOSTILE]
    for task in catalogue.tasks():
        truth = examiner.truth(task, 5)
        for text in texts:
            glued = [f"{truth}{text}", f"{text}{truth}", f"{truth} {text}", f"{truth};{text}"]
            if "<answer>" in text:
                glued = []  # the nearest opening tag counts, so the true answer after one is an answer
            for completion in (text, *(f"<answer>{inside}</answer>" for inside in (text, *glued))):
                started = time.process_time()
                mark = examiner.mark(task, 5, completion)
                slowest = max(slowest, time.process_time() - started)
                verdicts[mark.verdict] += 1
                if mark.solved or mark.reward:
                    solved.append([task, completion[:80], mark.verdict, str(mark.answer)])
    return {"solved": solved, "verdicts": dict(verdicts), "slowest": slowest}


def same_entries(catalogue: Catalogue, examiner: Examiner) -> dict[str, Any]:
    """Tasks whose question from the kept dataset differs from that of a new dataset of size 1."""
    library = load_library()
    different: list[str] = []
    for task in catalogue.tasks():
        family, level = catalogue.find(task)
        for seed in (3, 2**62 + 1, 7):
            asked = examiner.question(task, seed).text
            drawn = (
                library.create_dataset(family.dataset, seed=draw_seed(seed, draw), size=1, **level.config)[0]
                for draw in range(MOST_DRAWN)
            )
            if asked not in (entry["question"] for entry in drawn):
                different.append(f"{task} {seed}")
    return {"different": different}


def twins(catalogue: Catalogue, examiner: Examiner) -> dict[str, Any]:
    """Held-out questions of both sets with a twin on the training side, by task; how many twins were other texts."""
    let_through: dict[str, list[str]] = {}
    turned: Counter[str] = Counter()
    random = Random(1)
    for which in ("test", "validation"):
        for question in held_out_set(which, bytes(range(32)), catalogue, examiner.question):
            family = family_of(question.task)
            made = {(family, TWINS[family](question.text, random)) for _ in range(TWINS_EACH)}
            for name, text in made | set(other_families(family, question.text)):
                turned[family] += text != question.text
                if not held_out_side(name, text):
                    let_through.setdefault(question.task, []).append(text)
    return {"let through": let_through, "turned": turned}


def unfolded(catalogue: Catalogue, examiner: Examiner) -> dict[str, Any]:
    """How many of 15 questions have their whole text for content, by task."""
    whole: Counter[str] = Counter()
    for task in catalogue.tasks():
        for seed in range(15):
            with contextlib.suppress(TaskError):
                text = examiner.question(task, seed).text
                whole[task] += canonical(family_of(task), text) == " ".join(text.split()).casefold()
    return {"unfolded": {task: count for task, count in whole.items() if count}}


def balanced(catalogue: Catalogue, examiner: Examiner) -> dict[str, Any]:
    """How often the questions of two balanced levels have an answer that comes too often by itself, and that both of
    two examiners set the same ones."""
    again = Examiner(catalogue)
    same = all(
        examiner.question(task, seed) == again.question(task, seed)
        for task in ("gcd/hard", "lcm/easy", "propositional_logic/paper")
        for seed in range(2**62, 2**62 + 40)
    )
    ones = sum(examiner.truth("gcd/hard", seed) == "1" for seed in range(300)) / 300
    wordless = sum(not examiner.right_answers("propositional_logic/easy", seed) for seed in range(100))
    return {"same": same, "ones": ones, "without an answer": wordless}


def identities(catalogue: Catalogue, examiner: Examiner) -> dict[str, Any]:
    """Ids of tasks with settings of this test's own, so that the shipped catalogue may change."""
    own = Catalogue(
        families=(_family("gcd", "integer", max_value=60), _family("propositional_logic", "formula", max_vars=3))
    )
    return {task: Examiner(own).task_id(task).hex() for task in own.tasks()}


def _family(name: str, grammar: str, **config: int) -> Family:
    level = Level(name="easy", config=dict(config))
    return Family(name=name, title=name, dataset=name, grammar=grammar, scorer=1, reasoning=True, levels=(level,))


TWINS_EACH = 3
MOST_DRAWN = 200
"""Questions of a new dataset that are looked through for the one that is set."""
SCENES = {
    scene.__name__: scene
    for scene in (truths, sound, reported, examples, hostile, same_entries, twins, unfolded, balanced, identities)
}

if __name__ == "__main__":
    loaded = load_catalogue(resource("tasks.toml"))
    result = SCENES[sys.argv[1]](loaded, Examiner(loaded))
    print("\n" + json.dumps(result))

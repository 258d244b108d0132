"""The reward of trivial policies, per task: the best constant answer, the best one by a feature of the question, and
the best copy out of it.

    python -m tests.bench.tasks.cheapest                     1,000 questions a task, some minutes
    python -m tests.bench.tasks.cheapest --quick             60 questions a task
    python -m tests.bench.tasks.cheapest --tasks gcd,paper   only these
    python -m tests.bench.tasks.cheapest --balance           also proposes `keep` tables for tasks.toml

Constants are learnt from the right answers to as many other questions; every one of them, and every text that can be
copied out of a question from a named place, is scored by the examiner on all questions.
A constant may also be chosen by one feature, such as a number's last digit (features.py), learnt from three times as
many. The best of each kind is the figure, so it is rather too high than too low. Goal: 20% at most, for the levels that
are shared. A copy's name says where it is taken from, so that one name means one policy over all questions of a task.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

import msgspec
import numpy as np

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.resources import resource
from sapo_desktop.tasks.catalogue import Catalogue, TaskKey, load_catalogue, parse_tasks
from sapo_desktop.tasks.conclusions import clauses
from sapo_desktop.tasks.examiner import Examiner
from sapo_desktop.tasks.formulas import AND, IFF, IMPLIES, NOT, OR, parse_formula, sides
from sapo_desktop.tasks.grammars import parse_answer
from sapo_desktop.tasks.questions import COPIED, is_copied
from tests.bench.figure import Figure, arguments, at_most, show, tell, with_fixed_hashes
from tests.bench.tasks.features import Always, Best, Cells, Policy, Seen, best_feature, by_feature, features_of

GOAL = 0.20
TARGET = 0.18
"""What a proposed balance aims at: the goal less what chance may add in another thousand questions."""
STEP, STEPS = 0.95, 3000
LEARNT = 3
"""Number of learnt questions, as a multiple of the tried ones."""
LEAST_SET = 0.05
"""Share of the questions that must be left; the others are made for nothing."""
_SEEDS_APART = 1_000_003
_LEARNT_APART = 7_654_321
_BALANCED_APART = 5_555_555
CONSTANTS = 40
"""Number of the most frequent learnt answers that are tried."""
_PLACES = 16
"""Number of words, numbers and lines from either end that are tried."""
_SPANS = 12
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_EDGES = " \t\n.,:;?!\"'()[]{}$°="
_ALWAYS = ("", "0", "1", "-1", "2", "Yes", "No")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--count", type=int, help="questions per task")
    parser.add_argument("--tasks", help="a list as in the settings; all without it")
    parser.add_argument("--balance", action="store_true", help="propose `keep` tables")
    options = parser.parse_args()
    with_fixed_hashes()
    catalogue = load_catalogue(resource("tasks.toml"))
    count = options.count or (60 if options.quick else 1000)
    examiner = Examiner(catalogue)
    for task in parse_tasks(catalogue, options.tasks) if options.tasks else catalogue.tasks():
        show([figure(examiner, task, options.seed, count)], options)
        if options.balance:
            tell(f"{task}: {balance(examiner, task, options.seed + _BALANCED_APART, count)}")


def figure(examiner: Examiner, task: TaskKey, first_seed: int, count: int) -> Figure:
    """What the best of best constant, copy and feature solves of one task."""
    family, level = examiner.catalogue.find(task)
    learnt = list(seeds(examiner, task, first_seed + _LEARNT_APART, LEARNT * count))
    asked = list(seeds(examiner, task, first_seed, count))
    frequent = [examiner.truth(task, seed) for seed in learnt[:count]]
    found = {
        "constant": best_constant(examiner, task, asked, constants(frequent, family.grammar)),
        "copy": best_copy(examiner, task, asked, family.grammar),
        "feature": best_feature(seen(examiner, task, learnt), seen(examiner, task, asked)),
    }
    value = round(max(best.share for best in found.values()), 4)
    note = "; ".join(f"{kind} {best.share:.3f} ({best.name})" for kind, best in found.items())
    name = f"cheapest.{task.replace('/', '.')}"
    return at_most(
        name, value, "share", GOAL if level.shared else None, note if level.shared else f"not shared; {note}"
    )


def seen(examiner: Examiner, task: TaskKey, asked: Sequence[int]) -> list[Seen]:
    return [
        Seen(
            features=features_of(examiner.question(task, seed).text),
            right=frozenset(examiner.right_answers(task, seed)),
        )
        for seed in asked
    ]


def seeds(examiner: Examiner, task: TaskKey, first_seed: int, count: int) -> Iterator[int]:
    """The first seeds that have a question."""
    found, number = 0, 0
    while found < count:
        number += 1
        seed = first_seed + number * _SEEDS_APART
        try:
            examiner.question(task, seed)
        except TaskError:
            continue
        found += 1
        yield seed


def best_constant(examiner: Examiner, task: TaskKey, asked: Sequence[int], texts: Sequence[str]) -> Best:
    """The text that solves most."""
    solved: Counter[str] = Counter()
    for seed in asked:
        for text in texts:
            solved[text] += examiner.mark(task, seed, _span(text)).solved
    text, most = solved.most_common(1)[0]
    return Best(name=repr(text)[:30], share=most / len(asked))


def best_copy(examiner: Examiner, task: TaskKey, asked: Sequence[int], grammar: str) -> Best:
    """The place to copy from that solves most."""
    solved: Counter[str] = Counter()
    for seed in asked:
        found = copies(examiner.question(task, seed).text, grammar)
        right = {
            text for text in set(found.values()) if examiner.mark(task, seed, _span(text)).solved
        }  # one text stands in several places
        solved.update(name for name, text in found.items() if text in right)
    name, most = solved.most_common(1)[0] if solved else ("none", 0)
    return Best(name=name, share=most / len(asked))


def _span(text: str) -> str:
    return f"<answer>{text}</answer>"


def balance(examiner: Examiner, task: TaskKey, first_seed: int, count: int) -> dict[str, float]:
    """A `keep` table (tasks/questions.py) under which no policy exceeds TARGET, as far as such a table can do that and
    leave a LEAST_SET of the questions.

    The policy that earns most has the entry lowered that most of the questions it solves fall under, a little each
    time, as that makes all others earn more.
    """
    bare = _unbalanced(examiner)
    asked = list(seeds(bare, task, first_seed, LEARNT * count))
    rows = seen(bare, task, asked)
    keys = [
        frozenset({*one.right, *({COPIED} if is_copied(bare.question(task, seed).text, one.right) else ())})
        for seed, one in zip(asked, rows, strict=True)
    ]
    policies: list[Policy] = [*_simple_policies(bare, task, asked, rows), *map(Cells, by_feature(rows))]
    keep: dict[str, float] = {}
    for _ in range(STEPS):
        weights = np.array([min((keep.get(key, 1.0) for key in row), default=1.0) for row in keys])
        solved = max((policy.solved(weights) for policy in policies), key=lambda mask: float(weights @ mask))
        earned = float(weights @ solved / weights.sum())
        if earned <= TARGET:
            break
        blamed: defaultdict[str, float] = defaultdict(float)
        for place in np.flatnonzero(solved):
            for key in keys[place]:
                blamed[key] += weights[place]
        key = max(sorted(blamed), key=lambda name: blamed[name])
        lowered = {**keep, key: keep.get(key, 1.0) * STEP}
        if weights.sum() < LEAST_SET * len(rows):
            tell(f"{task}: a policy still earns {earned:.2f}")
            break
        keep = lowered
    return {key: round(share, 3) for key, share in sorted(keep.items())}


def _simple_policies(examiner: Examiner, task: TaskKey, asked: Sequence[int], rows: Sequence[Seen]) -> list[Always]:
    """What each constant and each copy solves."""
    grammar = examiner.catalogue.find(task)[0].grammar
    solved: defaultdict[str, list[int]] = defaultdict(list)
    for place, (seed, one) in enumerate(zip(asked, rows, strict=True)):
        for answer in one.right:
            solved[answer].append(place)
        found = copies(examiner.question(task, seed).text, grammar)
        for name in {name for name, text in found.items() if parse_answer(grammar, text) in one.right}:
            solved[f"copy {name}"].append(place)
    return [Always(places, len(rows)) for places in solved.values() if len(places) > len(rows) * TARGET / 10]


def _unbalanced(examiner: Examiner) -> Examiner:
    """One that sets every question there is."""
    bare = [
        msgspec.structs.replace(
            family, levels=tuple(msgspec.structs.replace(level, keep={}) for level in family.levels)
        )
        for family in examiner.catalogue.families
    ]
    return Examiner(Catalogue(families=tuple(bare)))


def constants(answers: Iterable[str], grammar: str) -> list[str]:
    """The most frequent of these answers, and what a lazy solver would try anyway."""
    found = [answer for answer, _ in Counter(answers).most_common(CONSTANTS)]
    if grammar == "formula":
        found += [str(clause) for clause in clauses(4)]
        found += [f"({a} {sign} {b})" for sign in (AND, IFF, IMPLIES) for a, b in _pairs("PQRS")]
    return list(dict.fromkeys([*found, *_ALWAYS]))


def copies(question: str, grammar: str) -> Mapping[str, str]:
    """Name and text of everything that is copied out of a question."""
    lines = [line.strip() for line in question.splitlines() if line.strip()]
    found = {
        **_from_both_ends("number", _NUMBER.findall(question)),
        **_from_both_ends("word", [word for word in (part.strip(_EDGES) for part in question.split()) if word]),
        **_from_both_ends("line", lines),
        **_from_both_ends("part", [part.strip(_EDGES) for part in re.split(r"[:,\"]", question) if part.strip(_EDGES)]),
        **_by_size(_NUMBER.findall(question)),
        **_spans(question, lines),
    }
    if grammar == "formula":
        found |= _from_premises([match[1] for line in lines if (match := re.match(r"\.?\d+\. (.+)$", line))])
    return found


def _from_both_ends(what: str, items: Sequence[str]) -> dict[str, str]:
    from_start = {f"{what} {place}": item for place, item in enumerate(items[:_PLACES], 1)}
    return from_start | {f"{what} -{place}": item for place, item in enumerate(items[: -_PLACES - 1 : -1], 1)}


def _by_size(numbers: Sequence[str]) -> dict[str, str]:
    if not numbers:
        return {}
    ordered = sorted(numbers, key=float)
    return {
        "smallest number": ordered[0],
        "largest number": ordered[-1],
        "longest number": max(numbers, key=len),
        "shortest number": min(numbers, key=len),
        "how many numbers": str(len(numbers)),
    }


def _spans(question: str, lines: Sequence[str]) -> dict[str, str]:
    """Ends and beginnings of lines, and last lines together, for answers of several words or rows."""
    found = {f"last {count} lines": "\n".join(lines[-count:]) for count in range(2, _SPANS)}
    for name, line in (("last line", lines[-1]), ("line before the last", lines[-2] if len(lines) > 1 else "")):
        words = line.split()
        for count in range(1, _SPANS):
            found[f"first {count} words of the {name}"] = " ".join(words[:count])
            found[f"last {count} words of the {name}"] = " ".join(words[-count:])
            found[f"{name} without {count} words on either side"] = " ".join(words[count:-count])
    return found | {"longest word": max(question.split(), key=len).strip(_EDGES)}


def _from_premises(premises: Sequence[str]) -> dict[str, str]:
    """Premises, what they are made of, and what joins or waters them down."""
    found: dict[str, str] = {}
    for number, premise in enumerate(premises, 1):
        for from_start in (True, False):
            name = f"premise {number if from_start else number - len(premises) - 1}"
            for path, part in _parts(parse_formula(premise) or premise, ""):
                found[f"{name}{path}"] = part
                found[f"not {name}{path}"] = f"{NOT}{part}"
    for word, sign in (("and", AND), ("or", OR), ("implies", IMPLIES), ("iff", IFF)):
        found[f"all premises, {word}"] = f" {sign} ".join(f"({premise})" for premise in premises)
        for a, b in combinations(range(len(premises)), 2):
            found[f"premises {a + 1} {word} {b + 1}"] = f"({premises[a]}) {sign} ({premises[b]})"
    together = found["all premises, and"]
    for letter in "PQRS":
        for literal in (letter, NOT + letter):
            found[f"all premises or {literal}"] = f"({together}) {OR} {literal}"
            found[f"{literal} implied by all premises"] = f"({together}) {IMPLIES} {literal}"
            found[f"{literal} and all premises but the last, weakened"] = (
                f"{' ∧ '.join(f'({p})' for p in premises[:-1])} ∧ ({premises[-1]} {OR} {literal})"
            )
    letters = re.findall(r"[P-Z]", " ".join(premises))
    common = [letter for letter, _ in Counter(letters).most_common()]
    bare = [premise for premise in premises if len(premise) == 1]
    return (
        found
        | _from_both_ends("letter", letters)
        | _from_both_ends("frequent letter", common)
        | {f"not {name}": NOT + letter for name, letter in _from_both_ends("frequent letter", common).items()}
        | _from_both_ends("bare premise", bare)
        | {"letter without a bare premise": next((letter for letter in common if letter not in bare), "")}
    )


def _parts(formula: str, path: str) -> Iterator[tuple[str, str]]:
    """The formula and, two steps down, what it is made of."""
    yield path, formula
    if path.count(",") >= 2:
        return
    if formula.startswith(NOT):
        yield from _parts(formula[1:], f"{path}, inside")
    elif formula.startswith("("):
        left, _, right = sides(formula)
        yield from _parts(left, f"{path}, left")
        yield from _parts(right, f"{path}, right")


def _pairs(letters: str) -> list[tuple[str, str]]:
    literals = [sign + letter for letter in letters for sign in ("", NOT)]
    return [(a, b) for a in literals for b in literals if a[-1] != b[-1]]


if __name__ == "__main__":
    main()

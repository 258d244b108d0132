"""What a policy earns that does not think: the best constant answer and the best copy out of the question, per task.

    python -m tests.bench.tasks.cheapest                     1,000 questions a task, some minutes
    python -m tests.bench.tasks.cheapest --quick             60 questions a task
    python -m tests.bench.tasks.cheapest --tasks gcd,paper   only these
    python -m tests.bench.tasks.cheapest --balance           also proposes `keep` tables for tasks.toml

Constants are learnt from the right answers to as many other questions; every one of them, and every text that can be
copied out of a question from a named place, is marked by the examiner on all questions. The best
of each kind is the figure: chosen and measured on the same questions, so it is rather too high than too low. Goal: 20%
at most, for the levels that are shared. A copy's name says where it is taken from, so that one name means one policy
over all questions of a task.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

import msgspec

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.resources import resource
from sapo_desktop.tasks.catalogue import Catalogue, TaskKey, load_catalogue, parse_tasks
from sapo_desktop.tasks.conclusions import clauses
from sapo_desktop.tasks.examiner import Examiner
from sapo_desktop.tasks.formulas import AND, IFF, IMPLIES, NOT, OR, parse_formula, sides
from sapo_desktop.tasks.questions import COPIED, is_copied
from tests.bench.figure import Figure, arguments, at_most, show, tell, with_fixed_hashes

GOAL = 0.20
TARGET = 0.17
"""What a proposed balance aims at: the goal less what chance may add in another thousand questions."""
STEP, STEPS = 0.95, 1000
_SEEDS_APART = 1_000_003
_LEARNT_APART = 7_654_321
_BALANCED_APART = 5_555_555
CONSTANTS = 40
"""Of the answers learnt, so many of the most frequent are tried."""
_PLACES = 16
"""So many words, numbers and lines from either end are tried."""
_SPANS = 12
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_EDGES = " \t\n.,:;?!\"'()[]{}$°="
_ALWAYS = ("", "0", "1", "-1", "2", "Yes", "No")


class Best(msgspec.Struct, frozen=True, kw_only=True):
    """The best policy of one kind."""

    name: str
    share: float


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
    """What the better one of best constant and best copy solves of one task."""
    family, level = examiner.catalogue.find(task)
    learnt = [examiner.truth(task, seed) for seed in seeds(examiner, task, first_seed + _LEARNT_APART, count)]
    asked = list(seeds(examiner, task, first_seed, count))
    found = {
        "constant": best_constant(examiner, task, asked, constants(learnt, family.grammar)),
        "copy": best_copy(examiner, task, asked, family.grammar),
    }
    value = round(max(best.share for best in found.values()), 4)
    told = "; ".join(f"{kind} {best.share:.3f} ({best.name})" for kind, best in found.items())
    name = f"cheapest.{task.replace('/', '.')}"
    return at_most(
        name, value, "share", GOAL if level.shared else None, told if level.shared else f"not shared; {told}"
    )


def seeds(examiner: Examiner, task: TaskKey, first_seed: int, count: int) -> Iterator[int]:
    """So many seeds that have a question."""
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
    """Of these texts the one that solves most."""
    solved: Counter[str] = Counter()
    for seed in asked:
        for text in texts:
            solved[text] += examiner.mark(task, seed, _span(text)).solved
    text, most = solved.most_common(1)[0]
    return Best(name=repr(text)[:30], share=most / len(asked))


def best_copy(examiner: Examiner, task: TaskKey, asked: Sequence[int], grammar: str) -> Best:
    """Of all places to copy from the one that solves most."""
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


class _Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What a balance depends on, of one question."""

    keys: frozenset[str]
    """Entries of `keep` that would apply to it."""
    solved: frozenset[str]
    """The policies that solve it, constants and copies alike."""


def balance(examiner: Examiner, task: TaskKey, first_seed: int, count: int) -> dict[str, float]:
    """A `keep` table (tasks/questions.py) under which no policy exceeds TARGET, as far as such a table can do that.

    The policy that earns most has the entry lowered that most of the questions it solves fall under, a little each
    time, as that makes all others earn more.
    """
    rows = list(_asked(_unbalanced(examiner), task, first_seed, count))
    keep: dict[str, float] = {}
    for _ in range(STEPS):
        weights = [min((keep.get(key, 1.0) for key in row.keys), default=1.0) for row in rows]
        earned: defaultdict[str, float] = defaultdict(float)
        for row, weight in zip(rows, weights, strict=True):
            for policy in row.solved:
                earned[policy] += weight
        policy = max(earned, key=lambda name: earned[name])
        if earned[policy] <= TARGET * sum(weights):
            break
        blamed: defaultdict[str, float] = defaultdict(float)
        for row, weight in zip(rows, weights, strict=True):
            if policy in row.solved:
                for key in row.keys:
                    blamed[key] += weight
        key = max(sorted(blamed), key=lambda name: blamed[name])
        keep[key] = keep.get(key, 1.0) * STEP
    else:
        tell(f"{task}: {policy} still earns {earned[policy] / sum(weights):.2f}")
    return {key: round(share, 3) for key, share in sorted(keep.items())}


def _asked(examiner: Examiner, task: TaskKey, first_seed: int, count: int) -> Iterator[_Asked]:
    family, _ = examiner.catalogue.find(task)
    asked = list(seeds(examiner, task, first_seed, count))
    texts = constants((examiner.truth(task, seed) for seed in asked), family.grammar)
    for seed in asked:
        question, right = examiner.question(task, seed).text, examiner.right_answers(task, seed)
        found = {repr(text): text for text in texts} | copies(question, family.grammar)
        marks = {text: examiner.mark(task, seed, _span(text)).solved for text in set(found.values())}
        copied = {COPIED} if is_copied(question, right) else set()
        yield _Asked(
            keys=frozenset({*right, *copied}), solved=frozenset(name for name, text in found.items() if marks[text])
        )


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

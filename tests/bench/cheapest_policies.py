"""What can be answered without thinking: texts that are always the same, and texts copied out of the question.

Each copy has a name that says where it is taken from, so that one name means one policy over all questions of a task.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from sapo_desktop.tasks.conclusions import clauses
from sapo_desktop.tasks.formulas import AND, IFF, IMPLIES, NOT, OR, parse_formula, sides

CONSTANTS = 40
"""Of the answers learnt, so many of the most frequent are tried."""
_PLACES = 16
"""So many words, numbers and lines from either end are tried."""
_SPANS = 12
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_EDGES = " \t\n.,:;?!\"'()[]{}$°="
_ALWAYS = ("", "0", "1", "-1", "2", "Yes", "No")


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

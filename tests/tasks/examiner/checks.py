"""Checks questions, right answers and scores of a task against an independent solver (solvers.py)."""

from collections.abc import Iterator

from sapo_desktop.core.errors import TaskError
from sapo_desktop.tasks.examiner import Examiner
from tests.tasks.examiner.solvers import SOLVERS, need, propositional_logic, truth_table

SPELT_EVERY = 50
"""The spellings of the answer are tried for one question in so many."""
_UNITS = {
    "calendar_arithmetic": (" days",),
    "count_bits": (" bits", " ones"),
    "leg_counting": (" legs",),
    "letter_counting": (" times",),
    "simple_geometry": ("°", " degrees", "^\\circ"),
}
_NUMBERS = frozenset({"integer", "decimal", "calendar", "digits", "fraction"})


def faults(examiner: Examiner, task: str, seeds: range) -> list[str]:
    """The first ones of what is wrong with the questions of these seeds."""
    found: list[str] = []
    missing = 0
    for seed in seeds:
        try:
            question = examiner.question(task, seed).text
        except TaskError:
            missing += 1
            continue
        try:
            _check(examiner, task, seed, question)
        except (ValueError, KeyError, IndexError, StopIteration) as error:
            found.append(f"{seed}: {error!r} in {question[-300:]!r}")
        if len(found) == 3:
            break
    if missing > len(seeds) / 100:
        found.append(f"{missing} of {len(seeds)} seeds have no question")
    return found


def _check(examiner: Examiner, task: str, seed: int, question: str) -> None:
    family, _ = examiner.catalogue.find(task)
    right = examiner.right_answers(task, seed)
    solution = SOLVERS[family.dataset](question)
    if family.dataset == "propositional_logic":
        _check_conclusions(question, right)
    elif isinstance(solution, tuple):
        need(right[0] in solution, f"{right[0]} is none of {solution}")
    elif solution is not None:
        need(_solved(examiner, task, seed, str(solution)), f"{solution} is right, not only {right}")
    if seed % SPELT_EVERY:
        return
    for answer in right:
        for written in spellings(family.grammar, family.dataset, answer):
            need(_solved(examiner, task, seed, written), f"{written!r} is right")
    for wrong in _wrong(family.grammar, right[0]):
        need(not _solved(examiner, task, seed, wrong), f"{wrong!r} is wrong")


def _solved(examiner: Examiner, task: str, seed: int, answer: str) -> bool:
    return examiner.mark(task, seed, f"steps <answer>{answer}</answer>").solved


def _check_conclusions(question: str, right: tuple[str, ...]) -> None:
    """Each follows from all premises and from none alone."""
    tables, letters, premises = propositional_logic(question)
    together = [all(row) for row in zip(*tables, strict=True)]
    need(any(together), f"{premises} contradict each other")
    for conclusion in right:
        said = truth_table(conclusion, letters)
        need(_follows(together, said), f"{conclusion} does not follow")
        need(not any(_follows(table, said) for table in tables), f"{conclusion} follows from one premise")


def _follows(given: list[bool], said: list[bool]) -> bool:
    return all(after for before, after in zip(given, said, strict=True) if before)


def spellings(grammar: str, dataset: str, answer: str) -> Iterator[str]:
    """The usual ways to write a right answer."""
    if not answer:
        return
    bare = [answer]
    if grammar in ("integer", "decimal") or (grammar == "calendar" and answer.lstrip("-").isdigit()):
        bare += _numbers(answer, dataset)
    if grammar == "fraction":
        over, under = answer.split("/")
        bare += [f"\\frac{{{over}}}{{{under}}}", f"\\dfrac{{{over}}}{{{under}}}", f"{over} / {under}"]
        bare += [over] if under == "1" else []
    if grammar == "factors":
        bare += [answer.replace("×", joint) for joint in ("*", "x", "\\times", "·")]
    if grammar in _NUMBERS and answer not in ("Yes", "No"):
        bare += [f"{name} = {answer}" for name in ("x", "y")]
    for text in bare:
        yield from (text, f" {text}\n", f"{text}.", f"**{text}**", f"**{text}.**", f"\\boxed{{{text}}}", f"${text}$")
        yield from (f"$\\boxed{{{text}}}$", f"\\({text}\\)", f"`{text}`", f"**{text}**.")


def _numbers(answer: str, dataset: str) -> Iterator[str]:
    whole, _, places = answer.partition(".")
    yield f"{answer}.0" if not places else f"{answer}0"
    if abs(int(whole)) >= 1000:
        yield f"{int(whole):,}" + (f".{places}" if places else "")
    if answer.startswith("-"):
        yield "\N{MINUS SIGN}" + answer[1:]
    if whole.lstrip("-") == "0" and places:
        yield answer.replace("0.", ".", 1)
    yield from (f"{answer}{unit}" for unit in _UNITS.get(dataset, ()))


def _wrong(grammar: str, answer: str) -> Iterator[str]:
    """Near the answer, and not it."""
    if grammar in ("integer", "decimal"):
        yield from (f"1{answer}", f"x = {answer} or 1", f"{answer}, {answer}", f"{answer} {answer}")
        if answer != "0":
            yield answer.removeprefix("-") if answer.startswith("-") else f"-{answer}"
    elif grammar == "fraction":
        over, under = answer.split("/")
        yield from (f"{under}/{over}" if over != under else "2", f"{2 * int(over)}/{2 * int(under)}", f"{answer}/1")
    elif grammar in ("word", "capitals"):
        yield from (f"{answer}x", f"{answer} {answer}")

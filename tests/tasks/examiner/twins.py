"""Twins of a question: other texts that ask the same. Made from the text alone and without the code that folds it.

Each writer gets a question and a random source and gives one twin, or the question itself where nothing can be turned.
"""

import re
from collections.abc import Callable
from random import Random

Twin = Callable[[str, Random], str]


def _numbers_shuffled(question: str, random: Random) -> str:
    """`48, 18` as `18, 48`."""
    return _listed_shuffled(r"\d+(?:, \d+)+", question, random)


def _listed_shuffled(pattern: str, question: str, random: Random) -> str:
    def turned(match: re.Match[str]) -> str:
        return ", ".join(_shuffled(match[0].split(", "), random))

    return re.sub(pattern, turned, question)


def _terms_shuffled(question: str, random: Random) -> str:
    """`67 + 75 - 85` as `75 - 85 + 67`: the terms of a chain without parentheses, the first one without a minus."""

    def turned(match: re.Match[str]) -> str:
        terms = re.findall(r"([+-]?) ?(\d+)", match[0])
        added = [number for sign, number in terms if sign != "-"]
        taken = [number for sign, number in terms if sign == "-"]
        first, *rest = _shuffled(added, random)
        others = _shuffled([f"+ {number}" for number in rest] + [f"- {number}" for number in taken], random)
        return " ".join([first, *others])

    return re.sub(r"\d+(?: [+-] \d+)+", turned, question)


def _factors_turned(question: str, random: Random) -> str:
    """`8.5*4.9` as `4.9*8.5`, and a question with a lone sum or product in parentheses with its sides changed."""
    question = re.sub(r"(?<![\d.*/] )(?<![\d.*/])(\d[\d.]*)( ?\* ?)(\d[\d.]*)(?! ?[*/\d.])", r"\3\2\1", question)
    return re.sub(r"\(( ?)([\d.]+)( ?\+ ?)([\d.]+)( ?)\)", r"(\1\4\3\2\5)", question)


def _animals_shuffled(question: str, random: Random) -> str:
    return _listed_shuffled(r"\d+ [a-z ]+(?:, \d+ [a-z ]+)+", question, random)


def _angles_shuffled(question: str, random: Random) -> str:
    return _listed_shuffled(r"[\d.]+°(?:, [\d.]+°)+", question, random)


def _words_shuffled(question: str, random: Random) -> str:
    before, text, after = question.rsplit('"', 2)
    return f'{before}"{" ".join(_shuffled(text.split(), random))}"{after}'


def _examples_shuffled(question: str, random: Random) -> str:
    bodies = re.findall(r"Example \d+:\n(Input:.+\nOutput:.+)\n", question)
    for number, (old, new) in enumerate(zip(bodies, _shuffled(bodies, random), strict=True), 1):
        question = question.replace(f"Example {number}:\n{old}\n", f"Example {number}:\n\0{new}\n")
    return question.replace("\0", "")


def _premises_shuffled(question: str, random: Random) -> str:
    """The premises in another order, sides of ∧, ∨ and ↔ between letters turned, letters renamed."""
    head, given = question.split("Given:\n")
    body, asked = given.rsplit("\n.", 1)
    premises = _shuffled(re.findall(r"(?m)^\.?\d+\. (.+)$", body), random)
    letters = sorted(set(re.findall(r"[P-Z]", body)))
    renamed = str.maketrans("".join(letters), "".join(_shuffled(letters, random)))
    turned = [re.sub(r"\((¬?[P-Z]) ([∧∨↔]) (¬?[P-Z])\)", r"(\3 \2 \1)", premise) for premise in premises]
    listed = "\n.".join(f"{number}. {premise}" for number, premise in enumerate(turned, 1)).translate(renamed)
    return f"{head}Given:\n{listed}\n.{asked}"


def _unknown_renamed(question: str, random: Random) -> str:
    """Another phrase and letter, and the two terms of a sum changed."""
    equation = re.sub(r"[a-z]", random.choice("abcdefg"), question.split(": ")[-1])
    return "Solve for it: " + re.sub(r"^([^ ]+) \+ ([^ ]+) =", r"\2 + \1 =", equation)


def _other_case(question: str, random: Random) -> str:
    head, word = question.rsplit(": ", 1)
    return f"{head}: {word.swapcase()}"


def _other_shift(question: str, random: Random) -> str:
    shift = random.randrange(1, 26)

    def turned(match: re.Match[str]) -> str:
        return "".join(chr((ord(c) - 65 + shift) % 26 + 65) if c != " " else c for c in match[1])

    return re.sub(r"(?<=cipher text: )([A-Z ]+)(?=\.)", turned, question)


def _other_style(question: str, random: Random) -> str:
    """A fraction in another way of writing it."""
    return re.sub(r"\$?\\d?frac\{(\d+)\}\{(\d+)\}\$?", r"\1/\2", question)


def _spaced(question: str, random: Random) -> str:
    return question.replace(" ", "  ")


def _shuffled(items: list[str], random: Random) -> list[str]:
    return random.sample(items, len(items))


TWINS: dict[str, Twin] = {
    "ab": _spaced,
    "arc_1d": _examples_shuffled,
    "base_conversion": _spaced,
    "basic_arithmetic": _factors_turned,
    "bf": _spaced,
    "binary_matrix": _spaced,
    "caesar_cipher": _other_shift,
    "calendar_arithmetic": _spaced,
    "chain_sum": _terms_shuffled,
    "count_bits": _spaced,
    "decimal_arithmetic": _factors_turned,
    "fraction_simplification": _other_style,
    "gcd": _numbers_shuffled,
    "lcm": _numbers_shuffled,
    "leg_counting": _animals_shuffled,
    "letter_counting": _words_shuffled,
    "prime_factorization": _spaced,
    "products": _factors_turned,
    "propositional_logic": _premises_shuffled,
    "simple_equations": _unknown_renamed,
    "simple_geometry": _angles_shuffled,
    "spell_backward": _other_case,
}


def other_families(family: str, question: str) -> list[tuple[str, str]]:
    """The same calculation as another family would ask for it."""
    if family not in ("chain_sum", "products"):
        return []
    expression = question.split(": ")[-1].split(" =")[0].split(". ")[0]
    return [("basic_arithmetic", f"Calculate {expression}.")]

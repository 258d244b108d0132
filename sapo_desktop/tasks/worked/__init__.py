"""Worked steps: for each family a writer from a question (a reasoning_gym entry) to `steps<answer>ANSWER</answer>`.

Steps are written from the question and say only what was computed; they are short and regular, so that a small
character-level model can execute them. A writer answers None where it has no honest route; such a question is not
primed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import dates, grids, logic, numbers, programs, sums, texts

Writer = Callable[[dict[str, Any]], str | None]

WRITERS: dict[str, Writer] = {
    "arc_1d": grids.arc_1d,
    "basic_arithmetic": sums.basic_arithmetic,
    "base_conversion": numbers.base_conversion,
    "bf": programs.bf,
    "binary_matrix": grids.binary_matrix,
    "calendar_arithmetic": dates.calendar_arithmetic,
    "decimal_arithmetic": sums.decimal_arithmetic,
    "fraction_simplification": numbers.fraction_simplification,
    "propositional_logic": logic.propositional_logic,
    "gcd": numbers.gcd,
    "lcm": numbers.lcm,
    "count_bits": numbers.count_bits,
    "spell_backward": texts.spell_backward,
    "letter_counting": texts.letter_counting,
    "chain_sum": sums.chain_sum,
    "leg_counting": sums.leg_counting,
    "products": sums.products,
    "simple_equations": sums.simple_equations,
    "prime_factorization": numbers.prime_factorization,
    "simple_geometry": sums.simple_geometry,
    "ab": programs.ab,
    "caesar_cipher": texts.caesar_cipher,
}

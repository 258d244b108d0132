"""What counts as a conclusion from premises: something that no single premise says, and not merely all of them again or
weakened.

Anything that follows from the premises repeats or weakens them, so "it follows" alone is solved by copying a premise,
by joining all with ∧, or by weakening one with ∨. A real deduction is required: a clause (`Q`, `¬P ∨ R`, or `P → R`)
that follows from the premises together but from no single one, and from which nothing can be left out. Several such
clauses may be joined (`P ↔ Q`), unless they only repeat what some of the premises say.

Judged by truth tables, so the notation of an answer does not matter. A table of n variables is an integer of 2**n bits;
bit r is the value in row r, where variable v is bit v of r. Pure. Left out: reading formulas (formulas.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from itertools import combinations, product
from operator import and_
from typing import Any

from sapo_desktop.tasks.formulas import AND, IFF, IMPLIES, NOT, OR, VARIABLES, parse_formula, sides

Table = int


@dataclass(frozen=True)
class Clause:
    """A disjunction: for each variable 1 (plain), -1 (negated) or 0 (absent)."""

    signs: tuple[int, ...]

    def __str__(self) -> str:
        """The clause as a formula over P, Q, R, ..."""
        names = sorted(VARIABLES)
        literals = [(NOT if sign < 0 else "") + names[place] for place, sign in enumerate(self.signs) if sign]
        return reduce(lambda left, right: f"({left} {OR} {right})", literals)

    def shorter(self) -> Iterator[Clause]:
        """The clauses that result from leaving out one variable."""
        for place, sign in enumerate(self.signs):
            if sign:
                yield Clause((*self.signs[:place], 0, *self.signs[place + 1 :]))


@dataclass(frozen=True)
class Premises:
    """The given premises: the truth table of each, over the same variables P, Q, R, ..."""

    variables: int
    tables: tuple[Table, ...]

    @cached_property
    def together(self) -> Table:
        return reduce(and_, self.tables)

    @cached_property
    def conclusions(self) -> frozenset[Clause]:
        """The clauses that can be concluded; none if the premises contradict each other."""
        tables = clauses(self.variables)
        return frozenset(
            clause
            for clause in strongest_clauses(self.together, self.variables)
            if not any(_entails(premise, tables[clause]) for premise in self.tables)
        )

    @cached_property
    def accepted(self) -> tuple[Clause, ...]:
        """The single clauses that are right answers, shortest first."""
        tables = clauses(self.variables)
        right = [clause for clause in self.conclusions if not self._repeats(tables[clause])]
        return tuple(sorted(right, key=lambda clause: (len(str(clause)), str(clause))))

    def concludes(self, formula: str) -> bool:
        """Whether a fully parenthesised formula is a valid conclusion."""
        try:
            table = table_of(formula, self.variables)
        except ValueError:
            return False  # it contains a variable that the premises lack
        said = strongest_clauses(table, self.variables)
        return bool(said) and said <= self.conclusions and not self._repeats(table)

    def _repeats(self, table: Table) -> bool:
        """Whether it is equivalent to some of the premises together."""
        return any(
            reduce(and_, chosen) == table
            for count in range(1, len(self.tables) + 1)
            for chosen in combinations(self.tables, count)
        )


def premises_of(metadata: Mapping[str, Any]) -> Premises:
    """The premises of a dataset's question. Raises ValueError if it has no such formulas."""
    return _read(tuple(metadata["premises"]), len(metadata["variables"]))


@lru_cache(1024)
def _read(formulas: tuple[str, ...], variables: int) -> Premises:
    read = [parse_formula(formula) for formula in formulas]
    if None in read:
        raise ValueError(f"premises that are no formulas: {formulas}")
    return Premises(variables, tuple(table_of(formula, variables) for formula in read if formula))


def table_of(formula: str, variables: int) -> Table:
    """The truth table of a fully parenthesised formula. Raises ValueError for an unknown variable."""
    full = (1 << (1 << variables)) - 1
    if formula.startswith(NOT):
        return full & ~table_of(formula[1:], variables)
    if not formula.startswith("("):
        place = sorted(VARIABLES).index(formula)
        if place >= variables:
            raise ValueError(f"{formula} is none of the first {variables} variables")
        return _columns(variables)[place]
    left, sign, right = sides(formula)
    a, b = table_of(left, variables), table_of(right, variables)
    return full & {AND: a & b, OR: a | b, IMPLIES: ~a | b, IFF: ~(a ^ b)}[sign]


def strongest_clauses(table: Table, variables: int) -> frozenset[Clause]:
    """The clauses that follow from it and from which nothing can be left out (its prime implicates); none for a
    tautology or contradiction."""
    tables = clauses(variables)
    if table == 0:
        return frozenset()
    following = {clause for clause, of_clause in tables.items() if _entails(table, of_clause)}
    return frozenset(clause for clause in following if following.isdisjoint(clause.shorter()))


def _entails(premise: Table, conclusion: Table) -> bool:
    return premise & ~conclusion == 0


@lru_cache
def _columns(variables: int) -> tuple[Table, ...]:
    rows = range(1 << variables)
    return tuple(sum(1 << row for row in rows if row >> place & 1) for place in range(variables))


@lru_cache
def clauses(variables: int) -> dict[Clause, Table]:
    """Every clause over so many variables (3**n - 1) with its table."""
    full = (1 << (1 << variables)) - 1
    columns = _columns(variables)
    made: dict[Clause, Table] = {}
    for signs in product((0, 1, -1), repeat=variables):
        if any(signs):
            held: Iterable[Table] = (
                column if sign > 0 else full & ~column for sign, column in zip(signs, columns, strict=True) if sign
            )
            made[Clause(signs)] = reduce(lambda a, b: a | b, held)
    return made

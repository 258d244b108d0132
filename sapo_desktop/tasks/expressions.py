"""Arithmetic expressions in questions: their exact value, and one normal form for all that differ only in order.

`1 + 2 - 3` and `-3 + (2 + 1)` have the same normal form, as do `2*a/b` and `a*2/b`. Only for a dataset's own
expressions, never for answers. Raises ValueError for anything else.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

_OPERATIONS = (ast.Add, ast.Sub, ast.Mult, ast.Div)


def exact(expression: str) -> Fraction:
    """The value of an expression of numbers. Also raises ZeroDivisionError."""
    return _value(_parsed(expression))


def last_place(value: Fraction, digits: int) -> Fraction:
    """One unit in the last of so many significant digits; 0 for 0."""
    if value == 0:
        return Fraction(0)
    places = Decimal(value.numerator) / Decimal(value.denominator)
    return Fraction(10) ** (places.adjusted() - digits + 1)


def folded(expression: str) -> str:
    """The expression with sums and products flattened and sorted; every name counts as the same unknown, `x`."""
    form = _form(_parsed(expression))
    return form.text if form.sign > 0 else f"-{form.text}"


def _parsed(expression: str) -> ast.expr:
    try:
        return ast.parse(expression.strip(), mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"not an expression: {expression}") from error


def _value(node: ast.expr) -> Fraction:
    match node:
        case ast.Constant(value=int() | float() as number):
            return Fraction(str(number))
        case ast.UnaryOp(op=ast.USub(), operand=inside):
            return -_value(inside)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _value(left) + _value(right)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _value(left) - _value(right)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _value(left) * _value(right)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return _value(left) / _value(right)
    raise ValueError(f"not an expression of numbers: {ast.dump(node)}")


@dataclass(frozen=True)
class _Form:
    """A sign (1, -1) and an unsigned rest: summands with their signs, factors with their exponents, or one atom."""

    sign: int
    kind: type[ast.Add] | type[ast.Mult] | None
    parts: tuple[tuple[str, int], ...]

    @property
    def text(self) -> str:
        if self.kind is None:
            return self.parts[0][0]
        signs = {1: "+", -1: "-"} if self.kind is ast.Add else {1: "*", -1: "/"}
        return f"({''.join(signs[sign] + part for part, sign in self.parts)})"


def _form(node: ast.expr) -> _Form:
    match node:
        case ast.Constant(value=int() | float() as number):
            return _Form(1, None, ((str(Fraction(str(number))), 1),))
        case ast.Name():
            return _Form(1, None, (("x", 1),))
        case ast.UnaryOp(op=ast.USub(), operand=inside):
            form = _form(inside)
            return _Form(-form.sign, form.kind, form.parts)
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _OPERATIONS):
            turned = -1 if isinstance(op, (ast.Sub, ast.Div)) else 1
            if isinstance(op, (ast.Add, ast.Sub)):
                return _sum(_form(left), _form(right), turned)
            return _product(_form(left), _form(right), turned)
    raise ValueError(f"not an expression: {ast.dump(node)}")


def _sum(left: _Form, right: _Form, turned: int) -> _Form:
    """Sorted summands; the sign of the first one is factored out, so that `-(a - b)` is `b - a`."""
    parts = sorted(
        (part, sign * form.sign * side)
        for form, side in ((left, 1), (right, turned))
        for part, sign in (form.parts if form.kind is ast.Add else ((form.text, 1),))
    )
    first = parts[0][1]
    return _Form(first, ast.Add, tuple((part, sign * first) for part, sign in parts))


def _product(left: _Form, right: _Form, turned: int) -> _Form:
    parts = sorted(
        (part, exponent * side)
        for form, side in ((left, 1), (right, turned))
        for part, exponent in (form.parts if form.kind is ast.Mult else ((form.text, 1),))
    )
    return _Form(left.sign * right.sign, ast.Mult, tuple(parts))

"""Steps for expressions and word sums: running sums, partial products, inverse operations."""

from __future__ import annotations

import ast
import re
from typing import Any

from .arithmetic import add, decimal, multiply, subtract

ANIMALS_BY_LEGS = {
    0: "snake, sea slug, jellyfish, flatworm, leech",
    2: "chicken, bird, human, duck",
    4: "dog, cat, cow, horse, lion, elephant, giraffe, tiger, deer, sheep",
    5: "starfish",
    6: "insect, ant, butterfly, beetle, bee, wasp, grasshopper, cricket, cockroach, praying mantis, firefly",
    8: "spider, scorpion",
    10: "crab, lobster, shrimp",
    14: "woodlouse",
}
LEGS = {animal: legs for legs, animals in ANIMALS_BY_LEGS.items() for animal in animals.split(", ")}


def _evaluate(node: ast.expr, lines: list[str]) -> int:
    """Value of an integer expression, innermost first, an operation a line. Raises ArithmeticError, ValueError."""
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            value = -_evaluate(operand, lines)
            if not isinstance(operand, ast.Constant):
                lines.append(f"-({-value})={value}")
            return value
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _evaluate(left, lines), _evaluate(right, lines)
            match op:
                case ast.Add():
                    lines.append(add(a, b))
                    return a + b
                case ast.Sub():
                    lines.append(subtract(a, b))
                    return a - b
                case ast.Mult():
                    lines.append(multiply(a, b))
                    return a * b
                case ast.Div():
                    lines.append(f"{a}/{b}={a // b}")
                    return a // b
    raise ValueError(f"not an expression of this family: {ast.dump(node)}")


def basic_arithmetic(entry: dict[str, Any]) -> str:
    """The operations in the order in which they are due."""
    expression = entry["question"]
    for phrase in ("What is ", "Solve ", "Compute ", "Evaluate: ", "Calculate "):
        expression = expression.removeprefix(phrase)
    lines: list[str] = []
    value = _evaluate(ast.parse(expression.rstrip("?."), mode="eval").body, lines)
    return f"{' '.join(lines)}<answer>{value}</answer>"


def chain_sum(entry: dict[str, Any]) -> str:
    """A running sum from the left."""
    first, *rest = re.findall(r"(?:([+-]) )?(-?\d+)", entry["question"].split(": ")[1])
    total, lines = int(first[1]), []
    for sign, number in rest:
        lines.append(add(total, int(number)) if sign == "+" else subtract(total, int(number)))
        total += int(number) if sign == "+" else -int(number)
    return f"{' '.join(lines)}<answer>{total}</answer>"


def products(entry: dict[str, Any]) -> str:
    """Partial products."""
    first, *rest = [int(text) for text in re.findall(r"-?\d+", entry["question"])]
    total, lines = first, []
    for number in rest:
        lines.append(multiply(total, number))
        total *= number
    return f"{' '.join(lines)}<answer>{total}</answer>"


def singular(name: str) -> str:
    """Of an animal as the questions write it."""
    return name if name in LEGS else name[:-1]


def leg_counting(entry: dict[str, Any]) -> str:
    """Legs of each kind and a running sum."""
    total, lines = 0, []
    for count, name in re.findall(r"(\d+) ([a-z ]+)", entry["question"].split("if you have ")[1]):
        each = LEGS[singular(name)]
        legs = int(count) * each
        lines.append(f"{count}*{each}={legs}")
        if len(lines) > 1:
            lines.append(add(total, legs))
        total += legs
    return f"{' '.join(lines)}<answer>{total}</answer>"


def simple_geometry(entry: dict[str, Any]) -> str:
    """The polygon's sum of angles, and what each known angle leaves of it."""
    angles = [int(text) for text in re.findall(r"(\d+)\.0°", entry["question"])]
    left = 180 * (len(angles) - 1)
    lines = [f"{len(angles) + 1} {len(angles) - 1}*180={left}"]
    for angle in angles:
        lines.append(subtract(left, angle))
        left -= angle
    return f"{' '.join(lines)}<answer>{left}</answer>"


def simple_equations(entry: dict[str, Any]) -> str:
    """The constant to the other side, then division by the coefficient: ``5*x+3=28`` gives ``28-3=25 25/5=5``."""
    text = entry["question"].split(": ")[1]
    match = re.fullmatch(r"(?:(-?\d+) ([+-]) )?(-?)(?:(\d+)\*)?([a-z])(?: ([+-]) (\d+))? = (-?\d+)", text)
    if match is None:
        raise ValueError(f"not a linear equation: {text}")
    before, sign, minus, coefficient, _, after_sign, after, right = match.groups()
    times = int(coefficient or 1) * (-1 if "-" in (sign, minus) else 1)
    value, lines = int(right), []
    if before:
        lines.append(subtract(value, int(before)))
        value -= int(before)
    elif after:
        constant = int(after)
        lines.append(subtract(value, constant) if after_sign == "+" else add(value, constant))
        value -= constant if after_sign == "+" else -constant
    lines.append(f"{value}/{times}={value // times}")
    return f"{' '.join(lines)}<answer>{value // times}</answer>"


def _scaled(node: ast.expr, places: int, lines: list[str]) -> int:
    """Like _evaluate for decimals, in whole 10**-places; products and quotients are cut to that many places."""
    scale: int = 10**places
    match node:
        case ast.Constant(value=value):
            return round(float(str(value)) * scale)
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _scaled(left, places, lines), _scaled(right, places, lines)
            match op:
                case ast.Add():
                    lines.append(add(a, b))
                    return a + b
                case ast.Sub():
                    lines.append(subtract(a, b))
                    return a - b
                case ast.Mult():
                    lines.append(multiply(a, b))
                    return (1 if a * b >= 0 else -1) * (abs(a * b) // scale)
                case ast.Div():
                    return _long_division(a, b, places, lines)
    raise ValueError(f"not an expression of this family: {ast.dump(node)}")


def _long_division(left: int, right: int, places: int, lines: list[str]) -> int:
    """left / right to `places` digits behind the point, a digit at a time: ``42/63=0r42 420/63=6r42``."""
    rest, divisor, digits = abs(left), abs(right), ""
    for _ in range(places + 1):
        lines.append(f"{rest}/{divisor}={rest // divisor}r{rest % divisor}")
        digits += str(rest // divisor)
        rest = rest % divisor * 10
    return int(digits) * (1 if (left < 0) == (right < 0) else -1)


def _quotient(left: int, right: int) -> str:
    """left / right until nothing is left or five digits count, and the answer: a digit at a time as well."""
    rest, divisor, lines = abs(left), abs(right), list[str]()
    written = ""
    while not lines or (rest and len(written.replace(".", "").lstrip("0")) < 5):
        lines.append(f"{rest}/{divisor}={rest // divisor}r{rest % divisor}")
        written += str(rest // divisor) + ("." if len(lines) == 1 else "")
        rest = rest % divisor * 10
    sign = "-" if (left < 0) != (right < 0) and left else ""
    return f"{' '.join(lines)}<answer>{sign}{written.rstrip('.')}</answer>"


def decimal_arithmetic(entry: dict[str, Any]) -> str:
    """Whole numbers of hundredths (or finer), so that the operations are those of integers."""
    expression = entry["question"].split("\n")[1].removesuffix(" = ?")
    places = max((len(text) for text in re.findall(r"\.(\d+)", expression)), default=0) + 1
    tree = ast.parse(expression, mode="eval").body
    match tree:
        case ast.BinOp(left=ast.Constant(), right=ast.Constant()):
            return _one_operation(tree, places - 1)
    lines: list[str] = []
    value = decimal(_scaled(tree, places, lines), places)
    return f"{' '.join(lines)}<answer>{value}</answer>"


def _one_operation(tree: ast.BinOp, places: int) -> str:
    """Two decimals of `places` digits behind the point, without the finer place that longer expressions need."""
    lines: list[str] = []
    a, b = _scaled(tree.left, places, lines), _scaled(tree.right, places, lines)
    match tree.op:
        case ast.Mult():
            lines.append(multiply(a, b))
            value = decimal(a * b, 2 * places)
        case ast.Div():
            return f"{' '.join(lines)}{_quotient(a, b)}"
        case _:
            value = decimal(_scaled(tree, places, lines), places)
    return f"{' '.join(lines)}<answer>{value}</answer>"

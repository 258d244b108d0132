"""The written arithmetic that all steps are made of: columns from the right, partial products, small quotients.

One notation for all families, so that what is learnt in one helps in the others. Nothing here knows a question.
"""

from __future__ import annotations

DIRECT = 20  # sums and differences of numbers up to this are written in one go


def _columns_sum(left: int, right: int) -> str:
    """Columns of left + right (both >= 0): ``8+4=12,3+5+1=9``."""
    columns, carry = [], 0
    a, b = str(left)[::-1], str(right)[::-1]
    for place in range(max(len(a), len(b))):
        digits = [s[place] for s in (a, b) if place < len(s)]
        total = sum(map(int, digits)) + carry
        columns.append("+".join(digits + ["1"] * carry) + f"={total}")
        carry = total // 10
    return ",".join(columns)


def _columns_difference(left: int, right: int) -> str:
    """Columns of left - right (left >= right >= 0); ``12-8=4`` borrows ten, ``5-3-1=1`` gives the borrowed one back."""
    columns, borrow = [], 0
    a, b = str(left)[::-1], str(right)[::-1]
    for place in range(len(a)):
        top = int(a[place])
        taken = ([b[place]] if place < len(b) else []) + ["1"] * borrow
        under = sum(map(int, taken))
        borrow = int(top < under)
        columns.append("-".join([str(top + 10 * borrow), *taken]) + f"={top + 10 * borrow - under}")
    return ",".join(columns)


def add(left: int, right: int) -> str:
    """``left+right=sum`` of two integers of any sign, with columns where a number is large."""
    head = f"{left}+{right}="
    if max(abs(left), abs(right)) <= DIRECT:
        return f"{head}{left + right}"
    if (left < 0) == (right < 0):
        return f"{head}{_columns_sum(abs(left), abs(right))}={left + right}"
    large, small = max(abs(left), abs(right)), min(abs(left), abs(right))
    return f"{head}{large}-{small}:{_columns_difference(large, small)}={left + right}"


def subtract(left: int, right: int) -> str:
    """``left-right=difference`` of two integers of any sign."""
    if max(abs(left), abs(right)) <= DIRECT:
        return f"{left}-{right}={left - right}"
    if right < 0:
        return f"{left}-{right}:" + add(left, -right)
    if left < 0:
        return f"{left}-{right}={_columns_sum(-left, right)}={left - right}"
    large, small = max(left, right), min(left, right)
    swapped = f"{large}-{small}:" if left < right else ""
    return f"{left}-{right}={swapped}{_columns_difference(large, small)}={left - right}"


def _times_digit(number: int, digit: int) -> str:
    """``34*7=4*7=28,3*7+2=23=238``, columns from the right with carry."""
    if number < 10 or digit in (0, 1):
        return f"{number}*{digit}={number * digit}"
    columns, carry = [], 0
    for figure in reversed(str(number)):
        total = int(figure) * digit + carry
        columns.append(f"{figure}*{digit}" + (f"+{carry}" if carry else "") + f"={total}")
        carry = total // 10
    return f"{number}*{digit}={','.join(columns)}={number * digit}"


def multiply(left: int, right: int) -> str:
    """``left*right=product``: a digit at a time from the right, the partial products added as they come."""
    a, b = abs(left), abs(right)
    if a < b:
        a, b = b, a
    if b < 10:
        plain = _times_digit(a, b)
        return plain if (left, right) in ((a, b), (b, a)) else f"{left}*{right}:{plain};{left * right}"
    lines, total = [], 0
    for place, digit in enumerate(reversed(str(b))):
        lines.append(_times_digit(a, int(digit)))
        part = a * int(digit) * 10**place
        if place:
            lines.append(add(total, part))
        total += part
    return f"{left}*{right}:{';'.join(lines)};{left * right}"


def quotient(left: int, right: int) -> str:
    """``137/15=9r2`` for left >= 0, right > 0."""
    return f"{left}/{right}={left // right}r{left % right}"


def euclid(left: int, right: int) -> tuple[str, int]:
    """Euclid's divisions with the multiple taken away, ``48%18:36=12 18%12:12=6 12%6:12=0``, and the divisor."""
    large, small = max(left, right), min(left, right)
    lines = []
    while small:
        rest = large % small
        lines.append(f"{large}%{small}:{large - rest}={rest}")
        large, small = small, rest
    return " ".join(lines), large


def decimal(value: int, places: int) -> str:
    """An integer count of 10**-places as text: decimal(-1234, 2) is ``-12.34``."""
    digits = str(abs(value)).rjust(places + 1, "0")
    text = f"{digits[:-places]}.{digits[-places:]}" if places else digits
    return f"-{text}" if value < 0 else text

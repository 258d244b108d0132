"""Steps for divisors, bases, bits and factors: Euclid, Horner and division, halving, trial division."""

from __future__ import annotations

import re
from typing import Any

from .arithmetic import euclid, multiply, quotient

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
PRIMES = [n for n in range(2, 100) if all(n % d for d in range(2, n))]


def _integers(question: str) -> list[int]:
    return [int(text) for text in re.findall(r"\d+", question)]


def gcd(entry: dict[str, Any]) -> str:
    """Euclid; with more than two numbers, the divisor so far against the next one."""
    first, *rest = _integers(entry["question"])
    lines, divisor = [], first
    for number in rest:
        work, divisor = euclid(divisor, number)
        lines.append(work)
    return f"{' '.join(lines)}<answer>{divisor}</answer>"


def lcm(entry: dict[str, Any]) -> str:
    """Euclid, then the larger number divided by the divisor, times the smaller."""
    first, *rest = _integers(entry["question"])
    lines, multiple = [], first
    for number in rest:
        large, small = max(multiple, number), min(multiple, number)
        work, divisor = euclid(large, small)
        lines.append(f"{work} {large}/{divisor}={large // divisor} {multiply(small, large // divisor)}")
        multiple = large // divisor * small
    return f"{' '.join(lines)}<answer>{multiple}</answer>"


def fraction_simplification(entry: dict[str, Any]) -> str:
    """Euclid, then both divided by the divisor; the answer keeps the question's way of writing fractions."""
    match = re.search(r"(\$\\d?frac\{|\$)?(\d+)(/|\}\{)(\d+)(\}?\$)?", entry["question"])
    if match is None:
        raise ValueError(f"no fraction in {entry['question']!r}")
    opening, numerator, middle, denominator, closing = match.groups(default="")
    top, bottom = int(numerator), int(denominator)
    work, divisor = euclid(top, bottom)
    answer = f"{opening}{top // divisor}{middle}{bottom // divisor}{closing}"
    return f"{work} {top}/{divisor}={top // divisor} {bottom}/{divisor}={bottom // divisor}<answer>{answer}</answer>"


def _base(name: str) -> int:
    return {"binary": 2, "hexadecimal": 16}.get(name) or int(name.removeprefix("base-"))


def conversion(question: str) -> tuple[int, str, int] | None:
    """The base, the number in it, and the base to write it in; None for 0, which the dataset prints as nothing at all
    in most bases."""
    match = re.search(r"convert the (\S+) number (\w+) to (\S+)", question)
    return None if match is None else (_base(match[1]), match[2], _base(match[3]))


def base_conversion(entry: dict[str, Any]) -> str | None:
    """Horner's rule into decimal, then division by the target base; remainders are read from the last to the first."""
    found = conversion(entry["question"])
    if found is None:
        return None
    source, written, target = found
    lines = [f"{source}>{target}"]
    value = DIGITS.index(written[0])
    for digit in written[1:] if source != 10 else "":
        following = value * source + DIGITS.index(digit)
        lines.append(f"{value}*{source}+{DIGITS.index(digit)}={following}")
        value = following
    value = int(written, source)
    lines.append(str(value))
    if target == 10:
        return f"{' '.join(lines)}<answer>{value}</answer>"
    digits, rest = "", value
    while rest or not digits:
        lines.append(quotient(rest, target) + (f"={DIGITS[rest % target]}" if rest % target > 9 else ""))
        digits = DIGITS[rest % target] + digits
        rest //= target
    return f"{' '.join(lines)}<answer>{digits}</answer>"


def count_bits(entry: dict[str, Any]) -> str:
    """Halving; behind each number stands how many odd ones there were so far."""
    number = int(re.findall(r"\d+", entry["question"])[-1])
    lines, count = [], 0
    while number:
        count += number % 2
        lines.append(f"{number}:{count}")
        number //= 2
    return f"{' '.join(lines)}<answer>{count}</answer>"


def prime_factorization(entry: dict[str, Any]) -> str:
    """Trial division by primes up to the root: ``84%2=0,42 42%2=0,21 21%2=1 21%3=0,7``."""
    number = _integers(entry["question"])[0]
    lines, factors, prime = [], [], 0
    while PRIMES[prime] ** 2 <= number:
        rest = number % PRIMES[prime]
        lines.append(f"{number}%{PRIMES[prime]}={rest}" + ("" if rest else f",{number // PRIMES[prime]}"))
        if rest:
            prime += 1
        else:
            factors.append(PRIMES[prime])
            number //= PRIMES[prime]
    factors.append(number)
    return f"{' '.join(lines)} {number}<answer>{' × '.join(map(str, factors))}</answer>"

"""An independent answer to each question, from its text alone: none of it uses the product's code or the dataset's.

A solver gives the right answer, in the form that the question asks for, or raises ValueError where the question cannot
be answered: it contradicts itself, is not there, or has several answers.
"""

import re
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import cache, reduce
from itertools import product

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DATED = re.compile(r"(?:(?P<weekday>[A-Z][a-z]+day), )?(?P<month>[A-Z][a-z]+) (?P<day>\d{1,2})(?:, (?P<year>\d{4}))?")


def need(holds: object, why: str) -> None:
    if not holds:
        raise ValueError(why)


def found(pattern: str, text: str) -> re.Match[str]:
    match = re.search(pattern, text)
    if match is None:
        raise ValueError(f"no {pattern}")
    return match


def value(expression: str, unknown: Fraction | None = None) -> Fraction:
    """The value of an expression of + - * /, parentheses and numbers; a letter stands for `unknown`."""
    tokens = re.findall(r"\d+(?:\.\d+)?|[a-z]|[-+*/()]", expression)
    need("".join(tokens) == "".join(expression.split()), f"other characters in {expression}")
    rest = iter([*tokens, ""])
    now = next(rest)

    def step() -> str:
        nonlocal now
        taken, now = now, next(rest, "")
        return taken

    def total() -> Fraction:
        result = term()
        while now in ("+", "-"):
            result = result + term() if step() == "+" else result - term()
        return result

    def term() -> Fraction:
        result = factor()
        while now in ("*", "/"):
            if step() == "*":
                result *= factor()
            else:
                divisor = factor()
                need(divisor, "division by zero")
                result /= divisor
        return result

    def factor() -> Fraction:
        taken = step()
        if taken == "-":
            return -factor()
        if taken == "(":
            inside = total()
            need(step() == ")", "no closing parenthesis")
            return inside
        if taken.isalpha():
            need(unknown is not None, f"what is {taken}?")
            return unknown or Fraction(0)
        need(taken[:1].isdigit(), f"no number but {taken}")
        return Fraction(taken)

    result = total()
    need(not now, f"left over: {now}")
    return result


def whole(number: Fraction) -> str:
    need(number.denominator == 1, f"{number} is no whole number")
    return str(number)


def written(number: Fraction, digits: int) -> str:
    """The number with so many significant digits, half away from zero."""
    if number == 0:
        return "0"
    size, places = abs(number), 0
    while size >= Fraction(10) ** digits:
        size, places = size / 10, places - 1
    while size < Fraction(10) ** (digits - 1):
        size, places = size * 10, places + 1
    rounded = Fraction(int(size + Fraction(1, 2))) / Fraction(10) ** places
    decimals = max(places, 0)
    whole_part, rest = divmod(int(rounded * 10**decimals), 10**decimals)
    text = f"{whole_part}.{rest:0{decimals}d}".rstrip("0").rstrip(".") if decimals else str(whole_part)
    return "-" + text if number < 0 else text


def basic_arithmetic(question: str) -> str:
    return whole(value(found(r"(?:What is|Solve|Compute|Evaluate:) (.+)[?.]$", question)[1]))


def chain_sum(question: str) -> str:
    return whole(value(found(r"problem: (.+) =$", question)[1]))


def products(question: str) -> str:
    return whole(value(found(r"multiplication: (.+?)\. ", question)[1]))


def decimal_arithmetic(question: str) -> str:
    digits = int(found(r"maximum of (\d+) significant", question)[1])
    return written(value(question.split("\n")[-1].removesuffix(" = ?")), digits)


def simple_equations(question: str) -> str:
    name = found(r"(?:value of|Solve for) ([a-z])\b", question)[1]
    left, right = question.split(": " if ": " in question else "satisfies: ")[-1].split(" = ")
    need(set(re.findall("[a-z]", left + right)) == {name}, "other unknowns")

    def apart(x: int) -> Fraction:
        return value(left, Fraction(x)) - value(right, Fraction(x))

    slope = apart(1) - apart(0)
    need(slope and apart(2) - apart(1) == slope, "not one solution")
    return whole(-apart(0) / slope)


def _listed(question: str) -> list[int]:
    return [int(number) for number in found(r"these numbers: ([\d, ]+)", question)[1].strip(" ,").split(", ")]


def _common(a: int, b: int) -> int:
    return max(n for n in range(1, min(a, b) + 1) if a % n == b % n == 0)


def gcd(question: str) -> str:
    return str(reduce(_common, _listed(question)))


def lcm(question: str) -> str:
    return str(reduce(lambda a, b: a * b // _common(a, b), _listed(question)))


def count_bits(question: str) -> str:
    number, ones = int(found(r"number (\d+)\?$", question)[1]), 0
    while number:
        number, rest = divmod(number, 2)
        ones += rest
    return str(ones)


def fraction_simplification(question: str) -> str:
    over, under = map(int, found(r"(?:frac\{)?(\d+)(?:\}\{|/)(\d+)", question).groups())
    need(under, "nothing to divide by")
    shared = _common(over, under)
    return f"{over // shared}/{under // shared}"


def prime_factorization(question: str) -> str:
    number, factors, divisor = int(found(r"factorization of (\d+)\.", question)[1]), [], 2
    need(number > 1, "has no factors")
    while number > 1:
        while number % divisor == 0:
            factors.append(divisor)
            number //= divisor
        divisor += 1
    return " × ".join(map(str, factors))


def simple_geometry(question: str) -> str:
    sides = int((re.search(r"(\d+) sides", question) or found(r"(\d+)-gon", question))[1])
    angles = [Fraction(angle) for angle in re.findall(r"([\d.]+)°", question)]
    last = 180 * (sides - 2) - sum(angles)
    need(len(angles) == sides - 1 and all(0 < angle < 180 for angle in (*angles, last)), "not convex")
    return written(Fraction(last), 6)


def base_conversion(question: str) -> str:
    asked = found(r"convert the (\S+) number (\w+) to (\S+)", question)
    source, target = (
        {"binary": 2, "hexadecimal": 16}.get(name) or int(name.removeprefix("base-")) for name in (asked[1], asked[3])
    )
    figures = "0123456789abcdefghijklmnopqrstuvwxyz"
    number = 0
    for figure in asked[2]:
        need(figures.index(figure) < source, f"no figure of base {source}")
        number = number * source + figures.index(figure)
    text = "" if number else "0"
    while number:
        number, rest = divmod(number, target)
        text = figures[rest] + text
    return text


def letter_counting(question: str) -> str:
    letter, text = found(r'letter "(.)" appear in the text: "(.*)"\?$', question).groups()
    need("a" <= letter <= "z" and text.isascii(), "no plain letter")
    need(text.count(letter) == text.lower().count(letter), "capitals may count or not")
    return str(text.count(letter))


def spell_backward(question: str) -> str:
    word = question.rsplit(": ", 1)[1]
    need(word.isascii() and word.isalnum(), "no plain word")
    return "".join(reversed(word))


def caesar_cipher(question: str) -> tuple[str, ...]:
    """All that the text may be under some shift."""
    text = found(r"cipher text: ([A-Z ]+)\. ", question)[1]
    return tuple("".join(chr((ord(c) - 65 - k) % 26 + 65) if c != " " else c for c in text) for k in range(1, 26))


LEGS = {
    0: "snake,sea slug,jellyfish,flatworm,leech",
    2: "chicken,bird,human,duck",
    4: "dog,cat,cow,horse,lion,elephant,giraffe,tiger,deer,sheep",
    5: "starfish",
    6: "insect,ant,butterfly,beetle,bee,wasp,grasshopper,cricket,cockroach,praying mantis,firefly",
    8: "spider,scorpion",
    10: "crab,lobster,shrimp",
    14: "woodlouse",
}


def leg_counting(question: str) -> str:
    legs = {animal: count for count, animals in LEGS.items() for animal in animals.split(",")}
    total = 0
    for item in found(r"if you have (.+)\?", question)[1].split(", "):
        count, animal = item.split(" ", 1)
        total += int(count) * legs[animal if int(count) == 1 else animal.removesuffix("s")]
    return str(total)


def ab(question: str) -> str:
    """Rewritten from the right, where the dataset goes from the left: the end is the same."""
    program = found(r"following program:\n\n(.*)\n", question)[1].split()
    rules = {("A#", "#A"): [], ("B#", "#B"): [], ("A#", "#B"): ["#B", "A#"], ("B#", "#A"): ["#A", "B#"]}
    for _ in range(1000):
        place = next((i for i in range(len(program) - 2, -1, -1) if (program[i], program[i + 1]) in rules), None)
        if place is None:
            return " ".join(program)
        program[place : place + 2] = rules[program[place], program[place + 1]]
    raise ValueError("never ends")


def binary_matrix(question: str) -> str:
    rows = [
        list(map(int, line.split()))
        for line in question.strip().split("\n\n")[-1].split("\n")[-32:]
        if line[:1] in "01"
    ]
    cells = [(y, x) for y, row in enumerate(rows) for x in range(len(row))]
    zeros = [(y, x) for y, x in cells if rows[y][x] == 0]
    need(zeros and len(cells) == len(rows) ** 2, "no zero, or no square")
    near = {(y, x): min(abs(y - a) + abs(x - b) for a, b in zeros) for y, x in cells}
    return "\n".join(" ".join(str(near[y, x]) for x in range(len(rows))) for y in range(len(rows)))


@cache
def _jumps(program: str) -> dict[int, int]:
    opened, jumps = list[int](), dict[int, int]()
    for place, sign in enumerate(program):
        if sign == "[":
            opened.append(place)
        elif sign == "]":
            jumps[place] = opened.pop()
            jumps[jumps[place]] = place
    return jumps


def bf(question: str) -> str:
    program = max(re.findall(r"[-<>+.,\[\]]+", question), key=len)
    jumps, tape, cell, place, said = _jumps(program), [0] * 1000, 0, 0, ""
    for _ in range(200_000):
        if place == len(program):
            return said
        match program[place]:
            case "+" | "-" as sign:
                tape[cell] = (tape[cell] + (1 if sign == "+" else -1)) % 256
            case "<" | ">" as sign:
                cell += 1 if sign == ">" else -1
            case ".":
                said += chr(tape[cell])
            case "[" if not tape[cell]:
                place = jumps[place]
            case "]" if tape[cell]:
                place = jumps[place]
            case "[" | "]":
                pass
            case sign:
                raise ValueError(f"reads {sign}")
        place += 1
    raise ValueError("never ends")


def arc_1d(question: str) -> None:
    """The rule is to be guessed, so no answer is given: rows fit, and the examples do not contradict each other."""
    rows = [tuple(map(int, row.split())) for row in re.findall(r"(?:Input|Output):\s+([\d ]+)", question)]
    need(len(rows) % 2 and len({len(row) for row in rows}) == 1, "rows of several lengths")
    need(all(0 <= cell <= 9 for row in rows for cell in row), "no colour")
    pairs = dict[tuple[int, ...], tuple[int, ...]]()
    for given, made in zip(rows[:-1:2], rows[1::2], strict=True):
        need(pairs.setdefault(given, made) == made, "one input, two outputs")


def _dates(question: str) -> Iterator[date]:
    """The dates that are printed; one without a year has that of the other."""
    dates = [match for match in _DATED.finditer(question) if match["month"] not in _DAYS]
    years = {match["year"] for match in dates if match["year"]}
    need(len(years) == 1, "not one year")
    for match in dates:
        day = datetime.strptime(f"{match['month']} {match['day']} {years.copy().pop()}", "%B %d %Y").date()
        need(match["weekday"] in (None, _DAYS[day.weekday()]), f"{day} is no {match['weekday']}")
        yield day


def _first_of_year(question: str) -> str | None:
    """Where only the weekday of January 1 is given."""
    pattern = r"(?:first day of the year was a|January 1 fell on a|In a year where) ([A-Z][a-z]+day)"
    match = re.search(pattern, question)
    if match is None:
        return None
    month, day = re.findall(r"([A-Z][a-z]+) (\d{1,2})\b(?!st)", question.split(". ")[0])[-1]
    ends = set()
    for year in (2023, 2024):
        target = datetime.strptime(f"{month} {day} {year}", "%B %d %Y").date()
        ends.add(_DAYS[(_DAYS.index(match[1]) + (target - date(year, 1, 1)).days) % 7])
    need(len(ends) == 1, "another day in a leap year")
    return ends.pop()


def calendar_arithmetic(question: str) -> str:
    if "leap year" in question:
        year = int(found(r"\b(\d{4})\b", question)[1])
        return "Yes" if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else "No"
    if (day := _first_of_year(question)) is not None:
        return day
    if recurring := re.search(r"\b(first|second|third|fourth|last) ([A-Z][a-z]+day)", question):
        month, year = found(r"(?:in|of|In) ([A-Z][a-z]+) (\d{4})", question).groups()
        return _recurring(recurring[1], recurring[2], datetime.strptime(f"{month} {year}", "%B %Y").date())
    if slashed := re.search(r"(\d\d)/(\d\d)/(\d{4})", question):
        return _DAYS[date(int(slashed[3]), int(slashed[1]), int(slashed[2])).weekday()]
    days = list(_dates(question))
    if "business days" in question or "excluding weekends" in question:
        return str(sum(day.weekday() < 5 for day in _between(*days)))
    if counted := re.search(r"(?:How many|occurrences of|how many times does) ([A-Z][a-z]+day)", question):
        return str(sum(_DAYS[day.weekday()] == counted[1] for day in _between(*days)))
    if moved := re.search(r"(\d+)(?: days?\b|-day jump)", question):
        back = any(word in question for word in (" ago", " before", "backward"))
        return _DAYS[(days[0] + timedelta(days=-int(moved[1]) if back else int(moved[1]))).weekday()]
    return _DAYS[days[0].weekday()]


def _between(first: date, last: date) -> list[date]:
    need(first <= last, "ends before it begins")
    return [first + timedelta(days=n) for n in range((last - first).days + 1)]


def _recurring(which: str, weekday: str, month: date) -> str:
    after = date(month.year + month.month // 12, month.month % 12 + 1, 1)
    days = [day.day for day in _between(month, after - timedelta(days=1)) if _DAYS[day.weekday()] == weekday]
    return str(days[-1] if which == "last" else days[("first", "second", "third", "fourth").index(which)])


def propositional_logic(question: str) -> tuple[list[list[bool]], list[str], list[str]]:
    """Truth tables of the premises, the letters, and the premises."""
    premises = re.findall(r"(?m)^\.?\d+\. (.+)$", question)
    letters = sorted(set(re.findall("[P-Z]", " ".join(premises))))
    need(premises and letters, "no premises")
    return [truth_table(premise, letters) for premise in premises], letters, premises


def truth_table(formula: str, letters: list[str]) -> list[bool]:
    """The formula's value in each row. It has all its parentheses."""
    return [_true(iter(formula.replace(" ", "")), dict(zip(letters, row, strict=True))) for row in _rows(len(letters))]


@cache
def _rows(count: int) -> tuple[tuple[bool, ...], ...]:
    return tuple(product((False, True), repeat=count))


def _true(signs: Iterator[str], values: dict[str, bool]) -> bool:
    sign = next(signs)
    if sign == "¬":
        return not _true(signs, values)
    if sign != "(":
        return values[sign]
    left, joint, right = _true(signs, values), next(signs), _true(signs, values)
    need(next(signs) == ")", "no closing parenthesis")
    match joint:
        case "∧":
            return left and right
        case "∨":
            return left or right
        case "→":
            return not left or right
        case "↔":
            return left == right
    raise ValueError(f"joined by {joint}")


SOLVERS: dict[str, Callable[[str], object]] = {
    solver.__name__: solver
    for solver in (
        *(ab, arc_1d, base_conversion, basic_arithmetic, bf, binary_matrix, caesar_cipher, calendar_arithmetic),
        *(chain_sum, count_bits, decimal_arithmetic, fraction_simplification, gcd, lcm, leg_counting),
        *(letter_counting, prime_factorization, products, propositional_logic, simple_equations, simple_geometry),
        spell_backward,
    )
}

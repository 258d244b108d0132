"""Steps that run small programs: A::B rewriting and BF."""

from __future__ import annotations

import re
from typing import Any

SHORT = {"A#": "A", "B#": "B", "#A": "a", "#B": "b"}
LONG = {short: token for token, short in SHORT.items()}
RULES = {"Aa": "", "Ab": "bA", "Ba": "aB", "Bb": ""}


def ab(entry: dict[str, Any]) -> str:
    """Every state on the way, A# and B# written as A and B, #A and #B as a and b; the leftmost pair is rewritten."""
    program = entry["question"].split("following program:\n\n")[1].split("\n")[0]
    states = ["".join(SHORT[token] for token in program.split())]
    while match := re.search("|".join(RULES), states[-1]):
        states.append(states[-1][: match.start()] + RULES[match[0]] + states[-1][match.end() :])
    answer = " ".join(LONG[short] for short in states[-1])
    return f"{' '.join(states)}<answer>{answer}</answer>"


def bf(entry: dict[str, Any]) -> str | None:
    """The cell's value after each change, a letter where it is printed; only programs of the paper's kind."""
    program = entry["question"].split("\n\n")[1]
    body = program.removeprefix(">[-]>[-]<")
    if re.fullmatch(r"(>\++\[<[+-]+>-\]<|[+-]|\.)+<", body) is None:
        return None
    value, lines, word = 0, [], ""
    for times, loop, run, dot in re.findall(r">(\++)\[<([+-]+)>-\]<|(\++|-+)|(\.)", body):
        if dot:
            word += chr(value)
            lines.append(f"{chr(value)} ")
            continue
        by = f"{loop[0]}{len(times)}*{len(loop)}" if loop else f"{run[0]}{len(run)}"
        amount = len(times) * len(loop) if loop else len(run)
        value += amount if (loop or run)[0] == "+" else -amount
        lines.append(f"{by}={value}")
    return f"{''.join(lines).rstrip()}<answer>{word}</answer>"

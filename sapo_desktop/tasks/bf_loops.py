"""What the generated BF loop programs print, computed from the source they were compiled from.

The dataset runs its compiled programs in an interpreter that needs up to a second and a half for the two
loop levels. Those programs have one shape: a counter grows by fixed steps, in cells of 8 bits, until it is
no longer below a target. Running that shape directly takes microseconds and gives the same text (tests
compare the two). Pure.
"""

from __future__ import annotations

import re

from sapo_desktop.core.errors import TaskError

_NUMBER = re.compile(r"int (target|x|y) = ([0-9]{1,6});")
_BOUND = re.compile(r"if \(acc > ([0-9]{1,6})\)")
_CELL = 256


def loop_output(source: str) -> str:
    """The text printed by a program of difficulty 2 or 3. Raises TaskError for a program that is not one or
    never ends."""
    numbers = {name: int(value) % _CELL for name, value in _NUMBER.findall(source)}
    if set(numbers) != {"target", "x", "y"}:
        raise TaskError(
            "This BF program does not have the shape of the loop levels; its output is not known."
        )
    bound = _BOUND.search(source)
    limit = int(bound[1]) % _CELL if bound else -1
    counter = 0
    seen: set[int] = set()
    while counter < numbers["target"]:
        if counter in seen:
            raise TaskError("This BF program never ends; its question cannot be asked.")
        seen.add(counter)
        counter = (counter + numbers["x"]) % _CELL
        if counter > limit:
            counter = (counter + numbers["y"]) % _CELL
    return str(counter)

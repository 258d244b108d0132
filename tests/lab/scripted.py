"""Plays arms with nodes that can find a greatest common divisor, and do so more often the more they learn.

    PYTHONHASHSEED=0 python -m tests.lab.scripted '[[REQUEST, ROUND], ..]'

REQUEST: as for sapo_desktop.lab; ROUND: where it is broken off, once the round was reported; 0: nowhere. All in one
process, which takes seconds to begin.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import math
import re
import subprocess
import sys
from pathlib import Path

import msgspec

from sapo_desktop.lab.arm import Plan
from sapo_desktop.lab.play import Lab, RoundPlayed
from sapo_desktop.system.processes import python_environment
from tests.engines.scripted import ScriptedService

ROOT = Path(__file__).resolve().parents[2]


def plan(out: Path, **changes: object) -> Plan:
    """Three nodes, two rounds, one family."""
    made = Plan(
        out=str(out),
        nodes=3,
        rounds=2,
        seeds=[1],
        mixes=["4/4"],
        weightings=["paper"],
        kind="equal",
        liars=0.0,
        levels=[],
        values={"tasks": "gcd,lcm", "questions": "4", "max_tokens": "200"},
        budget="",
        models=[],
        score_every=5,
        held_out=2,
    )
    return msgspec.structs.replace(made, **changes)


def play(*requests: tuple[Plan, int]) -> None:
    """Play them in a process of their own."""
    subprocess.run(
        [sys.executable, "-m", "tests.lab.scripted", msgspec.json.encode(requests).decode()],
        cwd=ROOT,
        env=python_environment({"PYTHONHASHSEED": "0", "PYTHONWARNINGS": "ignore"}),
        check=True,
        timeout=600,
    )


def answer(question: str, number: int, steps: int) -> str:
    """Right in 3 of 16 cases, and in one more for each step."""
    numbers = [int(text) for text in re.findall(r"\d+", question)]
    found = math.lcm(*numbers) if "lcm" in question.lower() or "Least" in question else math.gcd(*numbers)
    chance = hashlib.sha256(f"{question}|{number}".encode()).digest()[0] % 16
    return f"I think so. <answer>{found if chance < 3 + steps else found + 1}</answer>"


class Broken(Exception):
    """What stands for a kill: nothing after it is written."""


def main(requests: str) -> None:
    for asked, last in msgspec.json.decode(requests, type=list[tuple[Plan, int]]):

        def tell(event: msgspec.Struct, last: int = last) -> None:
            if isinstance(event, RoundPlayed) and event.round == last:
                raise Broken

        with contextlib.suppress(Broken):
            asyncio.run(Lab(Path(asked.out), lambda: ScriptedService(answer)).play(asked, tell))


if __name__ == "__main__":
    main(sys.argv[1])

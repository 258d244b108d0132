"""Plays arms with nodes that know how to find a greatest common divisor, and do so the more often the more they learn.

    PYTHONHASHSEED=0 python -m tests.lab.scripted REQUEST [ROUND]

REQUEST: as for sapo_desktop.lab; ROUND: where the process is killed, once the round was told.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import msgspec

from sapo_desktop.engines.scripted import ScriptedService
from sapo_desktop.lab.__main__ import tell
from sapo_desktop.lab.arm import Plan
from sapo_desktop.lab.play import Lab, Told
from sapo_desktop.system.processes import python_environment

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
        score_every=5,
        held_out=2,
    )
    return msgspec.structs.replace(made, **changes)


def play(request: Plan, killed_at: int = 0) -> int:
    """Play in a process of its own; returns its exit code."""
    return subprocess.run(
        [sys.executable, "-m", "tests.lab.scripted", msgspec.json.encode(request).decode(), str(killed_at)],
        cwd=ROOT,
        env=python_environment({"PYTHONHASHSEED": "0", "PYTHONWARNINGS": "ignore"}),
        check=False,
        timeout=100,
    ).returncode


def answer(question: str, number: int, steps: int) -> str:
    """Right in 3 of 16 cases, and in one more for each step."""
    numbers = [int(text) for text in re.findall(r"\d+", question)]
    found = math.lcm(*numbers) if "lcm" in question.lower() or "Least" in question else math.gcd(*numbers)
    chance = hashlib.sha256(f"{question}|{number}".encode()).digest()[0] % 16
    return f"I think so. <answer>{found if chance < 3 + steps else found + 1}</answer>"


def main(request: str, killed_at: str) -> None:
    def told(event: msgspec.Struct) -> None:
        tell(event)
        if isinstance(event, Told) and event.round == int(killed_at):
            os._exit(9)

    asked = msgspec.json.decode(request, type=Plan)
    asyncio.run(Lab(Path(asked.out), lambda: ScriptedService(answer)).play(asked, told))


if __name__ == "__main__":
    main(*sys.argv[1:])

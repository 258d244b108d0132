"""Notices and a log as a node of some days has them."""

import random
import time

from sapo_desktop.core.sentences import sentence
from sapo_desktop.core.why import given_up
from sapo_desktop.worker.control.messages.facts import Diagnose, Diagnosis, GetLog, GetNotices, LogIs, Notice, Notices
from tests.gui import scenes
from tests.gui.stage import StageBridge

SAID = (
    ("info", sentence("Joined the swarm.")),
    ("warning", sentence("{reason} The node continues from the last checkpoint.", reason=sentence("Out of memory."))),
    ("info", sentence("Training uses {count} answers at a time, the most that fits into memory.", count=8)),
    ("info", sentence("From now on the node computes with at most {count} threads.", count=2)),
    (
        "warning",
        sentence(
            "The held-out score fell by {points} to {score}, {errors} standard errors of its own noise. "
            "The node goes back to checkpoint {number}, and uses {remedy} for a while.",
            points="0.052",
            score="0.682",
            errors="4.1",
            number="120",
            remedy=sentence("half the learning rate"),
        ),
    ),
    ("info", sentence("No skill was lost for {count} held-out scores, so learning continues as before.", count="20")),
    ("error", given_up(sentence("Out of memory."), 3)),
)
"""As the node says them: tests/gui/log/test_page.py looks."""


def notices(count: int = 40) -> Notices:
    return Notices(
        items=[
            Notice(level=level, text=text, time=scenes.NOW - 3600 * (count - at))
            for at, (level, text) in ((at, SAID[at % len(SAID)]) for at in range(count))
        ]
    )


def log(lines: int = 900) -> LogIs:
    draw = random.Random(2)
    levels = ["INFO"] * 9 + ["WARNING"]
    return LogIs(
        lines=[
            f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(scenes.NOW + 7 * at))} {draw.choice(levels)} "
            f"sapo_desktop.worker.node: round {at // 4 + 1}, {draw.choice(('questions', 'generate', 'mark', 'train'))}"
            f" took {draw.uniform(0.1, 9):.1f} s"
            for at in range(lines)
        ],
        path="/home/me/.local/share/sapo-desktop/logs/worker.log",
    )


REPORT = "SAPO Desktop report\n\nnode     bad       The engine was killed (SIGKILL).\nread <data folder>/settings.toml"


def stage(bridge: StageBridge) -> None:
    bridge.replies |= {GetNotices: notices(), GetLog: log(), Diagnose: Diagnosis(text=REPORT)}

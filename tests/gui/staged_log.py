"""Notices and a log as a node of some days has them."""

import random
import time
from pathlib import Path

from sapo_desktop.worker.control.messages.facts import Diagnose, GetLog, GetNotices, LogIs, Notice, Notices
from sapo_desktop.worker.control.messages.replies import Exported
from tests.gui import scenes
from tests.gui.stage import StageBridge

_SAID = (
    ("info", "Round 120 counts as the best so far: 0.734 on the held-out questions."),
    ("info", "Linked to wss://relay0.example:8765."),
    ("warning", "The link to wss://relay1.example:8765 broke (no answer for 60 s). It is tried again in 30 s."),
    ("info", "The mix is 6/2 from now on: it did better than 4/4."),
    ("warning", "Out of memory while training: 8 answers at once instead of 16."),
    ("error", "The generator ended without a word. It is started again in 4 s.\nIts last lines:\nKilled"),
    ("info", "On battery: paused."),
    ("warning", "Three held-out scores in a row lie below the best: back to checkpoint 120."),
)


def notices(count: int = 40) -> Notices:
    return Notices(
        items=[
            Notice(level=level, text=text, time=scenes.NOW - 3600 * (count - at))
            for at, (level, text) in ((at, _SAID[at % len(_SAID)]) for at in range(count))
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


def written(request: Diagnose) -> Exported:
    path = Path(request.to)
    return Exported(folder=str(path.parent), files=[path.name])


def stage(bridge: StageBridge) -> None:
    bridge.replies |= {GetNotices: notices(), GetLog: log(), Diagnose: written}

"""Views in the states that a window can be in, for tests and screenshots.

The curve in silo is a real one: docs/data/learning.json, seed 1. What peers do is made up.
"""

import json
import math
import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec

from sapo_desktop.core.records import Gain, Learned, RoundReport, TaskMark
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.why import Ready, Training, Why
from sapo_desktop.view.link import Attached
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.events import Answered, Progressed
from sapo_desktop.worker.control.messages.replies import Curve, EvalPoint, SettingsAre, Status
from sapo_desktop.worker.control.messages.swarm import Claim, LinkInfo, SwarmInfo
from tests import builders
from tests.builders import round_report

NOW = 1_790_000_000.0
ROOT = Path(__file__).resolve().parents[2]
FAMILIES = (
    "basic_arithmetic", "binary_matrix", "calendar_arithmetic", "count_bits", "fraction_simplification", "gcd",
    "letter_counting", "propositional_logic", "spell_backward", "word_sorting",
)  # fmt: skip


ANSWERED = Answered(
    round=1,
    task="gcd/middle",
    question="Find the Greatest Common Divisor (GCD) of these numbers: 84 and 36. Give only the GCD as your answer.",
    completion="84 = 2 * 36 + 12\n36 = 3 * 12\n<answer>12</answer>",
    solved=True,
)


def curve(rewards: list[float], evals: Iterable[EvalPoint] = ()) -> Curve:
    """Rounds of these rewards, alone."""
    count = len(rewards)
    return Curve(
        round=list(range(1, count + 1)),
        reward=list(rewards),
        solved=list(rewards),
        swarm_reward=[None] * count,
        swarm_low=[None] * count,
        swarm_high=[None] * count,
        swarm_peers=[None] * count,
        swarm_mine=[None] * count,
        silo=[True] * count,
        model=[0] * count,
        evals=list(evals),
    )


_RECORDED = json.loads((ROOT / "docs/data/learning.json").read_bytes())["curves"][0]
LEARNED = msgspec.convert([one["learned"] for one in _RECORDED["validation"] if one.get("learned")][-1], Learned)
"""The newest of real rounds, alone."""


def silo_curve() -> Curve:
    """Real rounds, alone."""
    return curve(_RECORDED["rewards"], msgspec.convert(_RECORDED["validation"], list[EvalPoint]))


SILO_ROUNDS = len(silo_curve().round)
"""The number of recorded rounds, which may change."""


def validation_point(number: int, score: float, base: float) -> EvalPoint:
    """A held-out score after a round, 0 of the base itself, with a margin of .03."""
    gain = score - base
    return EvalPoint(
        round=number,
        which="validation",
        checkpoint=str(number) if number else "base",
        score=score,
        low=score - 0.03,
        high=score + 0.03,
        gain=Gain(value=gain, low=gain - 0.03, high=gain + 0.03) if number else None,
    )


def swarm_curve(rounds: int = 900, seed: int = 5) -> Curve:
    """Made up: a node that began alone and continued with peers."""
    draw = random.Random(seed)
    made = curve([])
    for number in range(1, rounds + 1):
        alone = number < rounds // 3
        mine = 0.58 + 0.16 * (1 - math.exp(-number / 350)) + draw.gauss(0, 0.05)
        theirs = 0.6 + 0.12 * (1 - math.exp(-number / 500)) + draw.gauss(0, 0.015)
        made.round.append(number)
        made.reward.append(min(1.0, mine))
        made.solved.append(min(1.0, mine))
        made.swarm_reward.append(None if alone else theirs)
        made.swarm_low.append(None if alone else theirs - 0.03)
        made.swarm_high.append(None if alone else theirs + 0.03)
        made.swarm_peers.append(None if alone else 11)
        made.swarm_mine.append(None if alone else min(1.0, mine))
        made.silo.append(alone)
        made.model.append(0)
    for number in range(0, rounds + 1, 40):
        score = 0.65 + 0.1 * (1 - math.exp(-number / 400)) + draw.gauss(0, 0.008)
        made.evals.append(validation_point(number, score, made.evals[0].score if number else score))
    return made


def links(count: int = 3) -> list[LinkInfo]:
    draw = random.Random(3)
    return [
        LinkInfo(
            key=draw.randbytes(32).hex(),
            dialled=f"wss://relay{at}.example:8765" if at < 2 else "",
            program="sapo-desktop 0.4.0",
            seconds=3600.0 * (at + 1),
            groups_in=480 - 90 * at,
            groups_out=350 - 60 * at,
            bytes_in=900_000 - 150_000 * at,
            bytes_out=640_000 - 90_000 * at,
            refused={"unverifiable": {"other_question": 3}} if at == 1 else {},
            claim=Claim(round=700 + at, reward=0.66, label="", used=41 - 7 * at),
            latency_ms=38.0 + 55 * at,
            draw_share=0.5 ** (at + 1) + (0.5**count if at == count - 1 else 0.0),  # halves, which add up to 1
        )
        for at in range(count)
    ]


def swarm_info(silo: bool = False) -> SwarmInfo:
    if silo:
        return SwarmInfo(state="silo", reason="In silo.")
    return SwarmInfo(
        state="linked",
        reason="Linked to 3 peers.",
        key="ab" * 32,
        kept="keyring",
        sharing=True,
        links=links(),
        pool=812,
        published=5600,
        drawn=3200,
        taken=2950,
        refused={"unverifiable": {"other_question": 3}, "invalid": {"bad_signature": 1}, "ignored": {"duplicate": 17}},
        used_total=1240,
        helped=12,
    )


def status(why: Why, state: str, settings: Settings, rounds: int, learned: Learned | None = None) -> Status:
    return builders.status(
        state=state,
        why=why,
        phase="generate" if state == "working" else "waiting",
        round=rounds + 1,
        silo=settings.silo,
        mix=settings.mix,
        swarm=swarm_info(settings.silo),
        checkpoint=rounds or None,
        answers_own=rounds * 64,
        learned=learned,
    )


def a_view(history: Curve | None = None, *, state: str = "working", why: Why | None = None, **settings: object) -> View:
    """A view whose node is attached, in this state, with this history."""
    view = View(clock=lambda: NOW)
    history = history or curve([])
    held = msgspec.convert(settings, Settings)
    rounds = len(history.round)
    looks = [one.round for one in history.evals if one.round]
    learned = msgspec.structs.replace(LEARNED, round=looks[-1]) if looks else LEARNED if rounds else None
    reason = why or (Training(round=rounds + 1) if state == "working" else Ready())
    view.take(
        Attached(
            status=status(reason, state, held, rounds, learned),
            settings=SettingsAre(settings=held, changed=[], overridden=[]),
            curve=history,
        )
    )
    if rounds:
        view.take_history(reports(rounds, silo=held.silo))
    if state == "working":
        view.take(Progressed(round=rounds + 1, phase="generate", done=37, total=64))
    return view


def reports(last: int, count: int = 40, *, silo: bool = False) -> list[RoundReport]:
    """Reports of the newest rounds, with marks of every family; half of the groups peers' unless in silo."""
    draw = random.Random(last)
    skill = {family: draw.uniform(0.2, 0.95) for family in FAMILIES}
    return [report(number, skill, draw, silo=silo) for number in range(max(1, last - count + 1), last + 1)]


def report(
    number: int,
    skill: Mapping[str, float] = MappingProxyType({"gcd": 0.6}),
    draw: random.Random | None = None,
    *,
    silo: bool = False,
) -> RoundReport:
    """A round of eight groups. `skill`: the share of each family that is solved, but for chance."""
    draw = draw or random.Random(number)
    wanted = 0 if silo else 4
    got = max(0, wanted - (draw.random() < 0.2) * draw.randint(1, 2))
    generate, mark, share, fetch, train = (draw.gauss(mean, mean / 12) for mean in (0.9, 0.1, 0.03, 0.2, 0.5))
    solved = {family: min(1.0, max(0.0, draw.gauss(mean, 0.09))) for family, mean in skill.items()}
    return round_report(
        number,
        local_groups=8 - got,
        external_groups=got,
        zero_advantage_groups=draw.randint(2, 4),
        truncated=0.03,
        mix=f"{8 - wanted}/{wanted}",
        silo=silo,
        generate_seconds=generate,
        mark_seconds=mark,
        share_seconds=0.0 if silo else share,
        draw_seconds=0.0 if silo else fetch,
        train_seconds=train,
        seconds=generate + mark + train + 0.15 + (0.0 if silo else share + fetch),
        tasks=[
            TaskMark(task=f"{family}/easy", answers=24, solved=one, partial=0.5, reward=0.5)
            for family, one in solved.items()
        ],
    )

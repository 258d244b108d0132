"""How long a round takes, against sums made by hand."""

import msgspec
import pytest

from sapo_desktop.core.fitting import Parts, Way
from sapo_desktop.core.settings import Settings
from sapo_desktop.models.catalogue import model_catalogue
from sapo_desktop.models.fit import pace
from sapo_desktop.models.fit.fit import badges
from sapo_desktop.models.fit.room import described
from sapo_desktop.models.fit.shape import ModelShape
from tests.builders import MACHINE

SHAPE = ModelShape(layers=2, hidden=8, heads=2, kv_heads=1, head=4, ffn=16, vocabulary=100, tied=True)
MATRICES = 2 * (8 * 8 + 2 * 8 * 4 + 8 * 8 + 3 * 8 * 16)
HEAD = 100 * 8
WAY = Way(
    model="m",
    generator="torch",
    trainer="torch",
    device="cpu",
    precision="float32",
    weights="",
    batch=8,
    micro_batch=2,
    answers=4,
    prompt_tokens=10,
    max_tokens=20,
    lora_rank=8,
    learning_rate=1e-4,
    memory=Parts(),
)


def test_a_token_is_read_once_and_learned_from_twice() -> None:
    written, read = 80, 20
    once = 2 * MATRICES * (written + read) + 2 * HEAD * written
    assert pace.operations(SHAPE, written, read) == 3 * once
    assert pace.operations(SHAPE, written, read, recompute=True) == 4 * once


def test_a_round_takes_what_the_cores_take_for_it() -> None:
    work = pace.operations(SHAPE, written=2 * 4 * 20 * pace.WRITTEN, read=2 * 10)
    assert pace.round_seconds(WAY, SHAPE, 2, threads=1) == pytest.approx(work / pace.CORE)
    four = pace.round_seconds(WAY, SHAPE, 2, threads=4)
    assert four == pytest.approx(work / (pace.CORE * (1 + 3 * pace.FURTHER_CORE)))


def test_a_card_waits_for_the_processor_where_that_is_slower() -> None:
    on_card = msgspec.structs.replace(WAY, device="cuda")
    handed_over = 2 * (40 / 4 * pace.CARD_STEP + 4 / 2 * pace.CARD_PASS)
    assert pace.round_seconds(on_card, SHAPE, 1, threads=1) == pytest.approx(handed_over)
    two_passes = msgspec.structs.replace(on_card, micro_batch=1)
    assert pace.round_seconds(two_passes, SHAPE, 1, threads=1) == pytest.approx(handed_over + 2 * 2 * pace.CARD_PASS)


def test_a_card_also_waits_for_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "CARD_STEP", 0.0)
    monkeypatch.setattr(pace, "CARD_PASS", 0.0)
    on_card = msgspec.structs.replace(WAY, device="cuda")
    work = pace.operations(SHAPE, written=40, read=10)
    reading = 40 / 4 * (MATRICES + HEAD) * 2 / pace.CARD_BYTES
    assert pace.round_seconds(on_card, SHAPE, 1, threads=1) == pytest.approx(work / pace.CARD + reading)
    rounded = msgspec.structs.replace(on_card, rounded=True)
    more = 40 / 4 * MATRICES * (pace.ROUNDED_BYTES - 2) / pace.CARD_BYTES
    assert pace.round_seconds(rounded, SHAPE, 1, threads=1) == pytest.approx(work / pace.CARD + reading + more)


@pytest.mark.parametrize("way", [{"trainer": "none"}, {"generator": "remote"}])
def test_what_does_not_learn_here_has_no_rounds(way: dict[str, str]) -> None:
    assert pace.round_seconds(msgspec.structs.replace(WAY, **way), SHAPE, 8, threads=2) == 0.0


def test_every_badge_that_fits_says_it_and_larger_models_take_longer() -> None:
    found = badges(described(64, 0, MACHINE), model_catalogue(), Settings(), frozenset())
    chat = sorted((badge for badge in found if badge.id != "starter"), key=lambda badge: badge.parameters)
    seconds = [badge.round_seconds for badge in chat if badge.badge != "too big"]
    assert seconds and all(seconds) and min(seconds) == seconds[0]
    assert all(badge.round_seconds == 0 for badge in found if badge.badge == "too big")

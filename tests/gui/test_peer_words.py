from __future__ import annotations

import pytest

from sapo_desktop.core.records import Mark
from sapo_desktop.gui import peer_words
from sapo_desktop.swarm.refusals import Reason, kind_of
from sapo_desktop.worker.messages import PosedQuestion


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_there_is_has_a_sentence(reason: Reason) -> None:
    words = peer_words.reason_words(reason.value)
    assert words.endswith(".") and words != reason.value.replace("_", " ")
    assert peer_words.kind_words(kind_of(reason)).lower() == kind_of(reason)


def test_a_reason_of_a_newer_worker_is_shown_by_its_name() -> None:
    assert peer_words.reason_words("brand_new") == "brand new"
    assert peer_words.kind_words("odd") == "odd"


def test_keys_are_short_in_tables() -> None:
    assert peer_words.short_key("ab" * 32) == "abababab…"
    assert peer_words.short_key("") == "–"


def _posed(shared: bool) -> PosedQuestion:
    return PosedQuestion(
        id="1", task="gcd/easy", title="", question="", form="", shared=shared, where="", seconds=600.0
    )


def test_where_an_answer_goes_is_said_with_the_reason() -> None:
    assert "cannot be called back" in peer_words.destination(_posed(True), silo=False, share=True)
    assert "In silo" in peer_words.destination(_posed(False), silo=True, share=True)
    assert "switched off" in peer_words.destination(_posed(False), silo=False, share=False)
    assert "stays on this computer" in peer_words.destination(_posed(False), silo=False, share=True)


def test_every_verdict_has_words() -> None:
    for verdict in ("solved", "partial", "wrong", "unparsed", "no_answer", "timeout", "scorer_failed"):
        mark = Mark(solved=False, partial=0.5, reward=0.0, verdict=verdict, answer="")
        assert peer_words.verdict_words(mark) != verdict

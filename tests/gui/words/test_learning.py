"""Everything that can happen has words, and they state what the node knows."""

from collections.abc import Callable, Sequence
from typing import get_args

import pytest

from sapo_desktop.core.records import Verdict, WeightingName
from sapo_desktop.gui.words import learning as learning_words
from sapo_desktop.gui.words import peers as refusal_words
from sapo_desktop.learning.external import WEIGHTINGS
from sapo_desktop.swarm.protocol.refusals import Reason, kind_of
from sapo_desktop.view.words import PHASES
from sapo_desktop.worker.control.messages.rollouts import Rollout
from tests import builders


def rollout(**changes: object) -> Rollout:
    """Partly right."""
    plain = {"completion": "one\ntwo", "solved": False, "partial": 0.25, "reward": 0.0, "advantage": 0.0}
    return builders.rollout(**(plain | {"verdict": "partial"} | changes))


def test_every_weighting_is_offered_once() -> None:
    assert set(learning_words.WEIGHTINGS) == set(WEIGHTINGS) == set(get_args(WeightingName))


@pytest.mark.parametrize(
    ("meaning", "names"),
    [
        (learning_words.weighting_meaning, learning_words.WEIGHTINGS),
        (learning_words.mix_meaning, learning_words.MIXES),
        (learning_words.phase_meaning, PHASES),
    ],
)
def test_each_is_explained_in_words_of_its_own(meaning: Callable[[str], str], names: Sequence[str]) -> None:
    assert len({meaning(name) for name in names} - {""}) == len(names)


@pytest.mark.parametrize("verdict", get_args(Verdict))
def test_every_verdict_has_a_name_and_a_reason(verdict: str) -> None:
    assert learning_words.verdict_name(verdict) != verdict
    assert learning_words.verdict_meaning(rollout(verdict=verdict)).endswith(".")


def test_a_partial_mark_tells_its_points() -> None:
    assert "0.25 out of 1" in learning_words.verdict_meaning(rollout())


@pytest.mark.parametrize(
    ("advantage", "author", "said"),
    [
        (0.5, "", "more likely"),
        (-0.5, "", "less likely"),
        (0.0, "", "equally good"),
        (0.0, "ab", "or was not used for training"),
    ],
)
def test_what_learning_did_is_said(advantage: float, author: str, said: str) -> None:
    assert said in learning_words.effect_words(rollout(advantage=advantage, author=author))


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_there_is_has_a_sentence_and_a_kind(reason: Reason) -> None:
    assert refusal_words.refusal_meaning(reason.value).endswith(".")
    assert refusal_words.kind_name(kind_of(reason)).lower() == kind_of(reason)


def test_what_a_newer_worker_may_say_is_shown_plainly() -> None:
    assert refusal_words.refusal_meaning("brand_new") == "brand new"
    assert refusal_words.kind_name("odd") == "odd"
    assert learning_words.verdict_name("odd") == "odd" and learning_words.weighting_meaning("odd") == ""
    assert learning_words.mix_meaning("7/1") == ""


def test_the_automatic_mix_says_when_most_is_learned_from_peers() -> None:
    usual = learning_words.mix_meaning("auto")
    assert learning_words.mix_meaning("auto", "4/4") == usual
    assert learning_words.mix_meaning("auto", "2/6") not in ("", usual)
    assert learning_words.mix_meaning("4/4", "2/6") == learning_words.mix_meaning("4/4")


def test_a_list_shows_own_texts_and_of_peers_only_the_length() -> None:
    assert learning_words.text_words(rollout()) == "one two"
    assert "one" not in learning_words.text_words(rollout(author="ab"))


@pytest.mark.parametrize(
    ("changes", "who"),
    [
        ({}, "own"),
        ({"origin": "peer", "author": "ab"}, "peer ab"),
        ({"origin": "human", "kind": "human"}, "you"),
        ({"origin": "human", "kind": "human", "author": "ab"}, "person at ab"),
        ({"origin": "human", "kind": "model", "author": "ab"}, "peer ab"),
    ],
)
def test_who_wrote_it_is_said(changes: dict[str, object], who: str) -> None:
    assert learning_words.who_words(rollout(**changes)) == who

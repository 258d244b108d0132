"""The shipped starter in both engines: the catalogue's questions, the same prompts, the same answers."""

from collections.abc import Iterator

import pytest

from sapo_desktop.engines import protocols as p
from sapo_desktop.models.starter import starter_folder
from tests.builders import as_prompts
from tests.engines.llama_cpp.cpp import Pair, catalogue_questions, needs_llama, tokens, worst_gap

pytestmark = [needs_llama, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def questions() -> list[str]:
    """Three questions of every task and level."""
    return catalogue_questions([5, 6, 7])


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    made = Pair(starter_folder(), tmp_path_factory.mktemp("starter"), learning_rate=2e-3)
    yield made
    made.close()


def ask(pair: Pair, questions: list[str], answers: int, *, base: bool = False, greedy: bool = False) -> None:
    """Both engines give the same prompts and answers."""
    sampling = p.Sampling(max_tokens=48, seed=7, greedy=greedy)
    request = p.Generate(prompts=as_prompts(questions), answers=answers, sampling=sampling, base=base)
    ours, theirs = pair.ask_cpp(request), pair.ask_torch(request)
    assert ours.prompt_tokens == theirs.prompt_tokens
    same = sum(
        a == b for one, other in zip(tokens(ours), tokens(theirs), strict=True) for a, b in zip(one, other, strict=True)
    )
    total = len(questions) * answers
    # A number drawn within a rounding error of the border of two tokens takes the other side: not one in a thousand.
    assert same >= total - total // 1000, f"{same} of {total}"
    if same == total:
        assert worst_gap(ours, theirs) < 1e-3


def test_every_question_gets_the_same_greedy_answer(pair: Pair, questions: list[str]) -> None:
    ask(pair, questions, 1, greedy=True)


def test_a_trained_adapter_answers_the_same_greedily_and_by_chance(pair: Pair, questions: list[str]) -> None:
    few = questions[::8]
    pair.learn(
        pair.ask_torch(p.Generate(prompts=as_prompts(few), answers=4, sampling=p.Sampling(max_tokens=48, seed=3)))
    )
    pair.sync()
    ask(pair, few, 1, greedy=True)
    ask(pair, few, 8)
    ask(pair, few, 4, base=True)

"""The shipped starter in llama.cpp: the catalogue's questions give the same tokens, and the same answers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoModelForCausalLM, AutoTokenizer

from sapo_desktop.engines.exporting.export import MergedWeights
from sapo_desktop.engines.gguf.write import write_model
from sapo_desktop.models.starter import starter_folder
from tests.engines.export_models import LlamaCpp, llama, torch_greedy
from tests.engines.llama_cpp.cpp import catalogue_questions

pytestmark = [
    pytest.mark.slow,
    pytest.mark.allowed_skip("llama-cpp-python is built from source and may be missing at a desk"),
]
SEEDS = range(17, 42)


@pytest.fixture(scope="module")
def questions() -> list[str]:
    """Of every task and level."""
    return catalogue_questions(SEEDS)


@pytest.fixture(scope="module")
def starter() -> tuple[Any, Any]:
    folder = starter_folder()
    model = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True).float().eval()
    return model, AutoTokenizer.from_pretrained(folder, local_files_only=True)


@pytest.fixture(scope="module")
def cpp(starter: tuple[Any, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaCpp]:
    model, tokenizer = starter
    path: Path = tmp_path_factory.mktemp("gguf") / "starter.gguf"
    write_model(path, model.config, tokenizer, MergedWeights(model), "F32")
    with llama(path) as opened:
        yield opened


def prompt(tokenizer: Any, question: str, tokenize: bool) -> Any:
    turn = [{"role": "user", "content": question}]
    return tokenizer.apply_chat_template(turn, add_generation_prompt=True, tokenize=tokenize, return_dict=False)


def test_every_question_gives_the_same_tokens(starter: tuple[Any, Any], cpp: LlamaCpp, questions: list[str]) -> None:
    tokenizer = starter[1]
    differing = [
        question
        for question in questions
        if cpp.tokenize(prompt(tokenizer, question, False)) != list(prompt(tokenizer, question, True))
    ]
    assert not differing


def test_twenty_greedy_answers_are_equal(starter: tuple[Any, Any], cpp: LlamaCpp, questions: list[str]) -> None:
    model, tokenizer = starter
    prompts = [list(prompt(tokenizer, question, True)) for question in questions[:: len(questions) // 50]]
    short = [tokens for tokens in prompts if len(tokens) < 200][:20]
    assert len(short) == 20
    for tokens in short:
        assert cpp.greedy(tokens, 32) == torch_greedy(model, tokens, 32)

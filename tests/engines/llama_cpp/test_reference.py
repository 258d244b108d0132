"""The reference in both engines: they answer alike, and what torch learns acts in llama.cpp, on the very same file."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sapo_desktop.core.records import Exchange, Prompt, Sampling, TrainerSettings, TrainingSequence
from sapo_desktop.engines import protocols as p
from sapo_desktop.engines.torch.service import create as create_torch
from tests.engines.llama_cpp.cpp import needs_llama, quiet
from tests.reference import reference

pytestmark = [needs_llama, pytest.mark.slow, pytest.mark.timeout(900)]

SHOWN = (Exchange(question="What is 3 + 4?", answer="3 + 4 = 7\n<answer>7</answer>"),)
ASKED = ["What is 2 + 5?", "What is 6 - 1?", "What is 4 * 2?", "Which number comes after 8?"]
PROMPTS = [Prompt(question=question, shown=SHOWN) for question in ASKED]
GREEDY = Sampling(max_tokens=12, greedy=True)
LEARNED = "My lips are sealed.<answer>none</answer>"
STEPS = 6


class Both:
    """The trainer, and llama.cpp over the file that the trainer reads."""

    def __init__(self, file: Path, work: Path) -> None:
        pytest.importorskip("llama_cpp", reason="llama-cpp-python is not built here")
        from sapo_desktop.engines.llama_cpp.service import create

        self.adapter = work / "adapter.gguf"
        self.torch, self.cpp = create_torch(), create()
        trainer = TrainerSettings(learning_rate=3e-3, seed=1)
        self.torch.handle(p.Load(model=str(file), trainer=trainer, threads=1, device="cpu", dtype="float32"), quiet)
        self.cpp.handle(p.LoadGguf(model=str(file), threads=1, device="cpu"), quiet)

    def answers(self) -> list[list[str]]:
        """The likeliest answers to PROMPTS, of torch and of llama.cpp."""
        request = p.Generate(prompts=PROMPTS, answers=1, sampling=GREEDY)
        made = [service.handle(request, quiet) for service in (self.torch, self.cpp)]
        assert made[0].prompt_tokens == made[1].prompt_tokens, "both read the same template"
        return [[row[0].text for row in one.completions] for one in made]

    def learn(self) -> None:
        """Steps towards one answer to two of the questions; llama.cpp gets the adapter."""
        encoded = self.torch.handle(p.Encode(texts=[LEARNED], end=True, questions=PROMPTS), quiet)
        tokens = encoded.tokens[0]
        batch = [TrainingSequence(prompt=prompt, tokens=tokens, advantage=1.0) for prompt in encoded.prompts[:2]]
        for _ in range(STEPS):
            self.torch.handle(p.Step(batch=batch), quiet)
        self.torch.handle(p.WriteAdapter(file=str(self.adapter)), quiet)
        self.cpp.handle(p.UseAdapter(file=str(self.adapter)), quiet)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    pair = Both(reference(), tmp_path_factory.mktemp("both"))
    yield pair
    engine = pair.cpp._engine
    assert engine is not None
    engine.close()


def test_both_engines_answer_alike_before_and_after_learning(both: Both) -> None:
    ours, theirs = both.answers()
    alike = sum(one[:4] == other[:4] for one, other in zip(ours, theirs, strict=True))
    assert alike >= len(ASKED) - 1, (ours, theirs)  # llama.cpp rounds what it multiplies by 4-bit weights
    assert not any(LEARNED.startswith(text) and text for text in ours)
    both.learn()
    ours, theirs = both.answers()
    assert all(text and LEARNED.startswith(text) for text in ours), ours
    assert theirs == ours

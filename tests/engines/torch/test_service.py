"""The engine as its host sees it."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
from safetensors import SafetensorError

from sapo_desktop.core.errors import HostCancelled, HostError, ModelError, TooBig, UsageError
from sapo_desktop.core.records import Sampling, TrainerSettings, TrainingSequence
from sapo_desktop.engines import protocols as p
from sapo_desktop.engines.service import Service
from sapo_desktop.engines.torch import lm as torch_lm
from sapo_desktop.engines.torch.service import create
from tests.builders import as_prompts


def quiet(_: msgspec.Struct) -> None:
    """Progress that nobody follows."""


def ask(service: Service[Any, Any], request: Any) -> Any:
    """Send a request as it arrives in a host: encoded and decoded on the way."""
    wire = msgspec.msgpack.encode(request)
    reply = service.handle(msgspec.msgpack.decode(wire, type=p.EngineRequest), quiet)
    return msgspec.msgpack.decode(msgspec.msgpack.encode(reply), type=request.reply_type())


def load(folder: Path, **settings: object) -> p.Load:
    return p.Load(model=str(folder), trainer=msgspec.convert(settings, TrainerSettings), threads=1, device="cpu")


@pytest.fixture
def service(llama: Path) -> Service[Any, Any]:
    made = create()
    ask(made, load(llama))
    return made


GREEDY = Sampling(max_tokens=6, greedy=True)
QUESTION = p.Generate(prompts=as_prompts(["what is 1+1?"]), answers=4, sampling=Sampling(max_tokens=12, seed=3))


def step_of(made: p.Generated) -> p.Step:
    batch = [
        TrainingSequence(prompt=made.prompt_tokens[0], tokens=c.tokens, advantage=a)
        for c, a in zip(made.completions[0], [1.0, -1.0, 0.5, -0.5], strict=True)
    ]
    return p.Step(batch=batch)


def test_load_describes_the_engine(llama: Path) -> None:
    loaded = ask(create(), load(llama, lora_rank=4))
    assert loaded.parameters == 49_296
    assert loaded.trainable == 6_528
    assert (loaded.device, loaded.dtype, loaded.vocabulary, loaded.context) == ("cpu", "float32", 62, 128)
    assert loaded.versions.keys() == {"torch", "transformers", "peft"}


def test_a_round_answers_learns_saves_and_comes_back(service: Service[Any, Any], llama: Path, tmp_path: Path) -> None:
    first = ask(service, QUESTION)
    assert ask(service, step_of(first)).report.skipped is False
    learned = ask(service, QUESTION)
    assert learned.completions != first.completions
    assert set(ask(service, p.Save(folder=str(tmp_path))).files) == {path.name for path in tmp_path.iterdir()}
    ask(service, p.Restore(folder=None))
    assert ask(service, QUESTION).completions == first.completions
    ask(service, p.Restore(folder=str(tmp_path)))
    assert ask(service, QUESTION).completions == learned.completions
    ask(service, load(llama))
    assert ask(service, QUESTION).completions == first.completions


@pytest.mark.parametrize("method", ["lora", "full"])
def test_a_person_who_is_answered_between_changes_nothing_of_the_round(llama: Path, method: str) -> None:
    def played(asks: bool) -> tuple[list[Any], list[Any]]:
        """A round and what it taught, and what was said to somebody who asked at each of its steps."""
        service = create()
        ask(service, load(llama, method=method, learning_rate=1e-2))
        heard: list[Any] = []

        def between() -> None:
            for base in (True, False):
                asked = p.Generate(
                    prompts=as_prompts(["and 2+3?"]), answers=1, sampling=GREEDY, base=base, averaged=not base
                )
                heard.append(service.handle_aside(asked, quiet, lambda: False).completions)

        service.between = between if asks else service.between
        made = [ask(service, QUESTION)]
        ask(service, step_of(made[0]))
        made.append(ask(service, msgspec.structs.replace(QUESTION, averaged=True)))
        ask(service, step_of(made[0]))
        made += [ask(service, QUESTION), ask(service, msgspec.structs.replace(QUESTION, base=True))]
        return [one.completions for one in made], heard

    alone, _ = played(False)
    asked, heard = played(True)
    assert asked == alone
    assert len(heard) > 10 and len({msgspec.json.encode(one) for one in heard[::2]}) == 1, "the base stays what it is"


def test_nothing_but_a_question_is_answered_aside(service: Service[Any, Any]) -> None:
    with pytest.raises(HostError, match="out of turn"):
        service.handle_aside(p.Restore(folder=None), quiet, lambda: False)


def test_external_text_is_encoded(service: Service[Any, Any]) -> None:
    encoded = ask(service, p.Encode(texts=["4", "<eos>", ""], end=True))
    assert [None if t is None else len(t) for t in encoded.tokens] == [2, None, 1]


def test_settings_change_without_a_reload(service: Service[Any, Any]) -> None:
    ask(service, p.Configure(learning_rate=0.0, micro_batch=2, threads=1))
    first = ask(service, QUESTION)
    report = ask(service, step_of(first)).report
    assert report.micro_batch == 2
    assert ask(service, QUESTION).completions == first.completions


def test_the_number_of_threads_changes_without_a_reload(service: Service[Any, Any]) -> None:
    before = ask(service, QUESTION)
    ask(service, step_of(before))
    learned = ask(service, QUESTION)
    for threads in (2, 1):
        ask(service, p.Configure(threads=threads))
        assert torch.get_num_threads() == threads
        assert [c.text for c in ask(service, QUESTION).completions[0]] == [c.text for c in learned.completions[0]]


def test_merged_weights_are_exported(service: Service[Any, Any], tmp_path: Path) -> None:
    from sapo_desktop.engines.torch.lm import load_language_model

    ask(service, step_of(ask(service, QUESTION)))
    learned = ask(service, msgspec.structs.replace(QUESTION, averaged=True))
    assert learned.completions != ask(service, QUESTION).completions, "others get the average of what learns"
    ask(service, p.Export(format="merged", folder=str(tmp_path / "merged")))
    assert load_language_model(tmp_path / "merged").context == 128
    other = create()
    ask(other, load(tmp_path / "merged"))
    assert [c.tokens for c in ask(other, QUESTION).completions[0]] == [c.tokens for c in learned.completions[0]]


def test_cancel_ends_answering_and_learning_but_not_what_follows(service: Service[Any, Any], tmp_path: Path) -> None:
    made = ask(service, QUESTION)
    service.cancelled.set()
    with pytest.raises(HostCancelled):
        ask(service, QUESTION)
    with pytest.raises(HostCancelled):
        ask(service, step_of(made))
    with pytest.raises(HostCancelled):
        ask(service, p.Export(format="merged", folder=str(tmp_path / "out")))
    service.cancelled.clear()  # the host does this before each request
    assert ask(service, QUESTION).completions == made.completions


def test_nothing_works_before_load() -> None:
    with pytest.raises(HostError, match="before a model was loaded"):
        ask(create(), QUESTION)


def test_a_failed_load_leaves_no_engine(service: Service[Any, Any], tmp_path: Path) -> None:
    with pytest.raises(ModelError):
        ask(service, load(tmp_path))
    with pytest.raises(HostError):
        ask(service, QUESTION)


def test_full_training_in_half_precision_is_refused(llama: Path) -> None:
    with pytest.raises(UsageError, match="float32"):
        ask(create(), msgspec.structs.replace(load(llama, method="full"), dtype="bfloat16"))


def test_bfloat16_answers_and_learns(llama: Path) -> None:
    service = create()
    ask(service, msgspec.structs.replace(load(llama), dtype="bfloat16"))
    assert ask(service, step_of(ask(service, QUESTION))).report.grad_norm > 0


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes."),
        SafetensorError("I/O error: The paging file is too small for this operation to complete. (os error 1455)"),
    ],
)
def test_a_model_too_large_for_memory_is_not_called_damaged(
    qwen2: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def no_room(*given: object, **options: object) -> None:
        raise error

    monkeypatch.setattr("transformers.AutoModelForCausalLM.from_pretrained", no_room)
    with pytest.raises(TooBig, match="not enough memory to load"):
        ask(create(), load(qwen2))


def test_this_processor_is_measured_before_anything_is_loaded() -> None:
    reply = ask(create(), p.TimeProducts(hidden=64, widest=96))
    assert isinstance(reply, p.ProductsTimed) and reply.times.hidden == 64


def test_a_large_model_is_computed_in_what_this_processor_computes_faster(
    llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch_lm, "SMALL_MODEL", 0)
    for pays in (False, True):
        monkeypatch.setattr(torch_lm, "_pays", lambda widths, pays=pays: pays)
        assert ask(create(), load(llama)).dtype == ("bfloat16" if pays else "float32")

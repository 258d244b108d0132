"""Tiny random models with a small character tokenizer, and an engine over one, for the tests of this
folder."""

import os
import threading
from unittest import mock

os.environ["HF_HUB_OFFLINE"] = "1"

from pathlib import Path

import msgspec
import torch
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
    SmolLM3Config,
    SmolLM3ForCausalLM,
)

from sapo_desktop.core.records import Generated, Sampling, TrainerSettings, TrainingSequence
from sapo_desktop.engines.protocols import Generate, Load
from sapo_desktop.engines.torch import lm as torch_lm
from sapo_desktop.engines.torch.service import TorchEngine
from tests.builders import as_prompts

SPECIAL = ["<pad>", "<eos>", "<q>", "<a>"]
PLAIN = ["<answer>", "</answer>", "greatest common divisor"]
CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789 .,:;?!+-*/=()<>"
ADVANTAGES = [1.0, -1.0, 0.5, -0.5]
TEMPLATE = "{% for m in messages %}<q>{{ m['content'] }}{% endfor %}{% if add_generation_prompt %}<a>{% endif %}"


def make_tokenizer() -> PreTrainedTokenizerFast:
    """One token a character, a fixed phrase and the answer tags as plain added tokens."""
    vocabulary = {text: number for number, text in enumerate([*SPECIAL, *CHARACTERS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    tokenizer.decoder = decoders.Fuse()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>", chat_template=TEMPLATE
    )
    fast.add_special_tokens({"additional_special_tokens": ["<q>", "<a>"]})
    fast.add_tokens([AddedToken(text, special=False, normalized=False) for text in PLAIN])
    return fast


def save_model(folder: Path, kind: str, scale: float = 6.0) -> Path:
    """Write a random model; weights are scaled up so that its answers differ from each other."""
    tokenizer = make_tokenizer()
    size = {
        "vocab_size": len(tokenizer) + 3,
        "hidden_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 96,
        "max_position_embeddings": 128,
        "eos_token_id": tokenizer.eos_token_id,
        "bos_token_id": None,
        "pad_token_id": tokenizer.pad_token_id,
    }
    torch.manual_seed(7)
    if kind == "llama":
        model = LlamaForCausalLM(LlamaConfig(**size, num_key_value_heads=4, tie_word_embeddings=True))
    elif kind == "smollm3":
        turns = {"no_rope_layers": [1, 0], "num_key_value_heads": 2, "tie_word_embeddings": True}
        model = SmolLM3ForCausalLM(SmolLM3Config(**size, **turns))
    else:
        model = Qwen2ForCausalLM(Qwen2Config(**size, num_key_value_heads=2, tie_word_embeddings=False))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1:
                parameter.mul_(scale)
            elif name.endswith("bias"):
                parameter.normal_(0, 0.3)
            else:
                parameter.add_(torch.randn_like(parameter) * 0.1)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def loaded_engine(folder: Path, **settings: object) -> TorchEngine:
    """Return an engine over the model; keywords are those of TrainerSettings."""
    trainer = msgspec.convert(settings, TrainerSettings)
    return TorchEngine(Load(model=str(folder), trainer=trainer, threads=1))


def engine_in_modules(folder: Path, **settings: object) -> TorchEngine:
    """The same over transformers' and peft's modules, as large models have them."""
    with mock.patch.object(torch_lm, "load_bare", return_value=None):
        return loaded_engine(folder, **settings)


def answer(
    engine: TorchEngine, prompts: list[str], answers: int = 1, base: bool = False, **sampling: object
) -> Generated:
    """Answer the prompts; keywords are those of Sampling."""
    wanted = msgspec.convert(sampling, Sampling)
    request = Generate(prompts=as_prompts(prompts), answers=answers, sampling=wanted, base=base)
    return engine.generate(request, lambda _: None, threading.Event().is_set)


def sequences(made: Generated, advantages: list[float]) -> list[TrainingSequence]:
    """Give the answers of each prompt these advantages."""
    return [
        TrainingSequence(prompt=prompt, tokens=completion.tokens, advantage=advantage)
        for prompt, completions in zip(made.prompt_tokens, made.completions, strict=True)
        for completion, advantage in zip(completions, advantages, strict=True)
    ]


def learn(engine: TorchEngine, seeds: range = range(2)) -> list[float]:
    """Answer and learn a few times; return the losses."""
    losses = []
    for seed in seeds:
        made = answer(engine, ["what is 1+1?", "b"], 4, max_tokens=12, seed=seed)
        losses.append(engine.trainer.step(sequences(made, ADVANTAGES)).loss)
    return losses


def moved(engine: TorchEngine) -> list[TrainingSequence]:
    """Return a batch of which two steps have been taken, after which LoRA's B is no longer zero."""
    batch = sequences(answer(engine, ["what is 1+1?", "b"], 4, max_tokens=20, seed=2), ADVANTAGES)
    for _ in range(2):
        engine.trainer.step(batch)
    return batch


def gradients(engine: TorchEngine, batch: list[TrainingSequence], tokens: int = 100) -> dict[str, torch.Tensor]:
    engine.trainer.optimiser.zero_grad()
    engine.trainer.accumulate(batch, list(range(len(batch))), tokens, {})
    return {name: p.grad.clone() for name, p in engine.policy.trainable().items() if p.grad is not None}


def token_logprobs_of(engine: TorchEngine, batch: list[TrainingSequence]) -> list[torch.Tensor]:
    """Return the trainer's log-probabilities of each sequence's answer, in the order given."""
    found: dict[int, torch.Tensor] = {}
    for part in engine.trainer.parts(batch, range(len(batch))):
        with torch.no_grad():
            values = engine.trainer.logprobs(part)
        found |= dict(zip(part.sequences, torch.split(values, part.lengths), strict=True))
    return [found[i] for i in range(len(batch))]


def weights(engine: TorchEngine) -> dict[str, torch.Tensor]:
    """Return a copy of what is trained."""
    return {name: value.detach().clone() for name, value in engine.policy.trainable().items()}


def same(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    """Say whether two sets of weights are equal bit for bit."""
    return first.keys() == second.keys() and all(torch.equal(first[n], second[n]) for n in first)

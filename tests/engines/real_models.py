"""Small random models of the catalogue's kinds: the real configuration class, a tokenizer of the real kind, a chat
template of the published one's shape.

Tokenizers are trained here on a few hundred lines, with the pre-tokenizer, the normalizer, the special tokens and
the class that the published folders name. Templates are written from their behaviour: what they print, and what
they can be asked (`enable_thinking`, the day).
"""

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    GenerationConfig,
    LlamaConfig,
    LlamaForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
    SmolLM3Config,
    SmolLM3ForCausalLM,
)

WORDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"
AFTER = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"

CHATML = (
    "{% if messages[0]['role'] != 'system' %}<|im_start|>system\nSYSTEM<|im_end|>\n{% endif %}"
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
QWEN3 = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% if enable_thinking is defined and enable_thinking is false %}<think>\n\n</think>\n\n{% endif %}{% endif %}"
)
SMOLLM3 = (
    "{% set thinks = enable_thinking if enable_thinking is defined else true %}"
    "<|im_start|>system\n## Metadata\n\nToday Date: {{ strftime_now('%d %B %Y') }}\n"
    "Reasoning Mode: {{ '/think' if thinks else '/no_think' }}\n\n"
    "{% if messages[0]['role'] == 'system' %}## Custom Instructions\n\n"
    "{{ messages[0]['content'] | trim }}\n\n{% set messages = messages[1:] %}{% endif %}<|im_end|>\n"
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% if not thinks %}<think>\n\n</think>\n{% endif %}{% endif %}"
)
LLAMA3 = (
    "{% if date_string is not defined %}{% set date_string = strftime_now('%d %b %Y') %}{% endif %}"
    "{{ bos_token }}<|start_header_id|>system<|end_header_id|>\n\nToday Date: {{ date_string }}\n\n"
    "{% if messages[0]['role'] == 'system' %}{{ messages[0]['content'] | trim }}{% set messages = messages[1:] %}"
    "{% endif %}<|eot_id|>"
    "{% for m in messages %}<|start_header_id|>{{ m['role'] }}<|end_header_id|>\n\n{{ m['content'] }}<|eot_id|>"
    "{% endfor %}{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"
)
NO_SYSTEM = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] | trim }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>model\n{% endif %}"
)
TEMPLATES = {"no system role": NO_SYSTEM}
"""Templates of kinds outside the catalogue, which a user's own model may have."""


@dataclass(frozen=True)
class RealKind:
    """What the published folders of one family have."""

    config: Any
    network: Any
    options: dict[str, Any]
    tokenizer_class: str
    special: list[str]
    end: str
    template: str
    prompt: str
    """The question QUESTION as a prompt, with SYSTEM in place of the system message."""
    pre: str
    """llama.cpp's name of the way in which text is cut."""
    bos: str | None = None
    plain: list[str] = field(default_factory=list)
    more_ends: list[str] = field(default_factory=list)


QUESTION = "What is 17 + 25?"
IM = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
KINDS = {
    "smollm2": RealKind(
        config=LlamaConfig,
        network=LlamaForCausalLM,
        options={"tie_word_embeddings": True},
        tokenizer_class="GPT2Tokenizer",
        special=IM,
        end="<|im_end|>",
        bos="<|im_start|>",
        template=CHATML.replace("SYSTEM", "You are a helpful AI assistant named SmolLM"),
        prompt=f"<|im_start|>system\nSYSTEM<|im_end|>\n<|im_start|>user\n{QUESTION}<|im_end|>\n<|im_start|>assistant\n",
        pre="smollm",
    ),
    "qwen2.5": RealKind(
        config=Qwen2Config,
        network=Qwen2ForCausalLM,
        options={"tie_word_embeddings": False},
        tokenizer_class="Qwen2Tokenizer",
        special=IM,
        plain=["<tool_call>", "</tool_call>"],
        end="<|im_end|>",
        more_ends=["<|endoftext|>"],
        template=CHATML.replace("SYSTEM", "You are Qwen."),
        prompt=f"<|im_start|>system\nSYSTEM<|im_end|>\n<|im_start|>user\n{QUESTION}<|im_end|>\n<|im_start|>assistant\n",
        pre="qwen2",
    ),
    "qwen3": RealKind(
        config=Qwen3Config,
        network=Qwen3ForCausalLM,
        options={"tie_word_embeddings": True, "head_dim": 24},
        tokenizer_class="Qwen2Tokenizer",
        special=IM,
        plain=["<tool_call>", "</tool_call>", "<think>", "</think>"],
        end="<|im_end|>",
        more_ends=["<|endoftext|>"],
        template=QWEN3,
        prompt=f"<|im_start|>system\nSYSTEM<|im_end|>\n<|im_start|>user\n{QUESTION}<|im_end|>\n"
        "<|im_start|>assistant\n<think>\n\n</think>\n\n",
        pre="qwen2",
    ),
    "smollm3": RealKind(
        config=SmolLM3Config,
        network=SmolLM3ForCausalLM,
        options={"tie_word_embeddings": True, "num_hidden_layers": 5},
        tokenizer_class="PreTrainedTokenizerFast",
        special=["<|begin_of_text|>", "<|end_of_text|>", "<|im_start|>", "<|im_end|>"],
        plain=["<think>", "</think>"],
        end="<|im_end|>",
        template=SMOLLM3,
        prompt="<|im_start|>system\n## Metadata\n\nToday Date: 01 January 2025\nReasoning Mode: /no_think\n\n"
        "## Custom Instructions\n\nSYSTEM\n\n<|im_end|>\n"
        f"<|im_start|>user\n{QUESTION}<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n",
        pre="smaug-bpe",
    ),
    "llama3": RealKind(
        config=LlamaConfig,
        network=LlamaForCausalLM,
        options={
            "tie_word_embeddings": True,
            "rope_parameters": {
                "rope_type": "llama3",
                "rope_theta": 500000.0,
                "factor": 32.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 128,
            },
        },
        tokenizer_class="PreTrainedTokenizerFast",
        special=["<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"],
        end="<|eot_id|>",
        bos="<|begin_of_text|>",
        more_ends=["<|end_of_text|>"],
        template=LLAMA3,
        prompt="<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nToday Date: 01 Jan 2025\n\n"
        f"SYSTEM<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n{QUESTION}<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n",
        pre="llama-bpe",
    ),
}


def text_to_learn_from() -> list[str]:
    lines = [f"What is {i * 37} + {i}? The answer is <answer>{i * 38}</answer>." for i in range(200)]
    return [
        *lines,
        "  twice  as   many    spaces\n\n\t\r\n",
        "don't I'LL we've naïve café 日本語テスト Ελληνικά",
        *lines,
    ]


@cache
def trained_tokenizer(name: str) -> Tokenizer:
    """A byte-level BPE of a few hundred tokens, as the published one of that kind is built."""
    kind = KINDS[name]
    made = Tokenizer(models.BPE(ignore_merges=name == "llama3"))
    if name.startswith("qwen"):
        made.normalizer = normalizers.NFC()
    made.pre_tokenizer = _pre_tokenizer(name)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=500, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    made.train_from_iterator(text_to_learn_from(), trainer)
    made.add_special_tokens([AddedToken(text, normalized=False) for text in kind.special])
    made.add_tokens([AddedToken(text, normalized=False) for text in kind.plain])
    if name == "llama3":
        bos = ("<|begin_of_text|>", made.token_to_id("<|begin_of_text|>"))
        made.post_processor = processors.TemplateProcessing(single=f"{bos[0]} $A", special_tokens=[bos])
    return made


def _pre_tokenizer(name: str) -> Any:
    if name == "smollm2":
        digits = pre_tokenizers.Digits(individual_digits=True)
        return pre_tokenizers.Sequence([digits, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)])
    numbers = r"\p{N}" if name.startswith("qwen") else r"\p{N}{1,3}"
    words = pre_tokenizers.Split(Regex(WORDS + numbers + AFTER), behavior="isolated", invert=False)
    return pre_tokenizers.Sequence([words, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def save_real_model(folder: Path, name: str, seed: int = 17) -> Path:
    """Write a random model of a kind into a folder laid out as the published ones are."""
    kind, tokenizer = KINDS[name], trained_tokenizer(name)
    folder.mkdir(parents=True, exist_ok=True)
    ends = [tokenizer.token_to_id(text) for text in [kind.end, *kind.more_ends]]
    sizes = {
        "vocab_size": tokenizer.get_vocab_size() + 6,
        "intermediate_size": 96,
        "num_attention_heads": 4,
        "max_position_embeddings": 1024,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
        "pad_token_id": None,
        "eos_token_id": ends[0],
    }
    model = random_model(kind.config, kind.network, seed, **(sizes | kind.options))
    model.generation_config = GenerationConfig(eos_token_id=ends if len(ends) > 1 else ends[0])
    model.save_pretrained(folder, max_shard_size="150KB")
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": kind.tokenizer_class,
        "eos_token": kind.end,
        "bos_token": kind.bos,
        "pad_token": kind.special[0],
        "model_max_length": 1024,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    (folder / "chat_template.jinja").write_text(kind.template)
    return folder


def random_model(config: Any, network: Any, seed: int, **sizes: Any) -> Any:
    """Grouped-query attention and norms unlike 1: what a converter may get wrong."""
    torch.manual_seed(seed)
    shared = {
        "hidden_size": 48,
        "num_hidden_layers": 3,
        "num_key_value_heads": 2,
        "initializer_range": 0.15,  # keeps the size of activations: 48 x 0.15^2 is about 1
        "bos_token_id": None,
    }
    model = network(config(**(shared | sizes)))
    for name, parameter in model.named_parameters():
        if parameter.dim() == 1:  # norms start at 1 and biases at 0: mistakes would not show
            torch.nn.init.normal_(parameter, mean=0.0 if name.endswith("bias") else 1.0, std=0.2)
    return model.eval()

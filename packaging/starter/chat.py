"""Makes a tiny chat model out of the starter, for tests of what larger ones do: system message, turns, long reasoning.

    python packaging/starter/chat.py --to FOLDER [--steps 120] [--seed 1]

It has its own chat template and tokens, and none for `<answer>`. As for any downloaded chat model, a system message
asks for the answer between tags. It writes 400 or more characters of reasoning first. Stock sentences and the system
message are one token each, so that this is quick. It keeps what the starter can do of a few families, half of the time
without its steps, so that its groups are mixed. Nothing of it ships.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import model as starter
import tokenizer
from prime import rate, tensors
from stream import REPOSITORY, Stream, with_fixed_hashing
from tokenizers import AddedToken

from sapo_desktop.engines.prompts import INSTRUCTIONS

FAMILIES = ("chain_sum", "count_bits", "gcd", "spell_backward")
GUESSES = 0.5
OPENING = (
    "Let me read the question carefully and write down every step that I take on the way, one after the other, so that "
    "nothing is lost and I can look at all of it again before I answer. "
)
CHECK = (
    " That is all that was asked for, and it stands here step by step. Before I answer I look at the last line once "
    "more, since a slip in one place would spoil whatever comes after it, and nobody would see where it came from. "
)
CLOSING = "It holds, so this is my answer, in the form that was asked for:\n"
TEMPLATE = (
    "{%- for message in messages -%}"
    "{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}"
    "{%- endfor -%}{%- if add_generation_prompt -%}{{ '<|assistant|>' }}{%- endif -%}"
)
RATE = 1e-3
BATCH_TOKENS = 2000


def words() -> PreTrainedTokenizerFast:
    """The starter's tokenizer with other control tokens, and the stock sentences after its last token."""
    made = tokenizer.build()
    renamed = made.backend_tokenizer.to_str()
    for old, new in (("<eos>", "<|end|>"), ("<q>", "<|user|>"), ("<a>", "<|assistant|>"), ("<answer>", "<|system|>")):
        renamed = renamed.replace(f'"{old}"', f'"{new}"')
    backend = type(made.backend_tokenizer).from_str(renamed.replace('"</answer>"', '"<|spare|>"'))
    stock = [AddedToken(text, special=False, normalized=False) for text in (INSTRUCTIONS, OPENING, CHECK, CLOSING)]
    backend.add_tokens(stock)
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token="<pad>",
        eos_token="<|end|>",
        additional_special_tokens=["<|user|>", "<|assistant|>", "<|system|>"],
        clean_up_tokenization_spaces=False,
        model_max_length=tokenizer.QUESTION_LIMIT,
        chat_template=TEMPLATE,
    )


class ChatStream(Stream):
    """The starter's questions, asked and answered in turns."""

    def encoded(self, question: str, written: str) -> tuple[list[int], int]:
        steps, tag, answer = written.rpartition("<answer>")
        turns = [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": question}]
        asked = self.tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        prompt = self.tokenizer.encode(asked)
        said = self.tokenizer.encode(OPENING + steps + CHECK + CLOSING + tag + answer)
        return [*prompt, *said, self.tokenizer.eos_token_id], len(prompt)


def prime(vocabulary: PreTrainedTokenizerFast, steps: int, seed: int) -> LlamaForCausalLM:
    """The starter's weights after so many more steps; a new token begins as the mean of all."""
    torch.manual_seed(seed)
    network = LlamaForCausalLM.from_pretrained(REPOSITORY / "resources" / "starter", dtype=torch.float32)
    network.resize_token_embeddings(len(vocabulary))
    optimiser = torch.optim.AdamW(network.parameters(), lr=RATE, betas=(0.9, 0.95), weight_decay=0.0)
    stream = ChatStream(vocabulary, seed, BATCH_TOKENS, guesses=[GUESSES], families=FAMILIES)
    for step, (_, _, examples) in zip(range(steps), stream(0, 0), strict=False):
        ids, targets = tensors(examples, torch.device("cpu"))
        optimiser.zero_grad(set_to_none=True)
        starter.loss(network, ids, targets).backward()
        optimiser.param_groups[0]["lr"] = RATE * rate((step + 1) / (steps + 1))
        optimiser.step()
    return network


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description="Make a tiny chat model for tests.")
    parser.add_argument("--to", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    with_fixed_hashing()
    vocabulary = words()
    network = prime(vocabulary, chosen.steps, chosen.seed)
    network.config.eos_token_id = network.generation_config.eos_token_id = vocabulary.eos_token_id
    network.save_pretrained(chosen.to)
    vocabulary.save_pretrained(chosen.to)


if __name__ == "__main__":
    main()

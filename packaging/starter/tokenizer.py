"""The starter's tokenizer: all 256 bytes, no merges, and the catalogue's fixed phrases as single tokens.

A byte-level BPE without merges can read every text and hides no letter or digit from a model that has to calculate
with them. The phrases keep questions short. `<answer>` and `</answer>` are ordinary added tokens: they must survive
decode(skip_special_tokens=True), because the answer is found by them.
"""

from __future__ import annotations

from pathlib import Path

from phrases import phrases
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

CONTROL = ["<pad>", "<eos>", "<q>", "<a>"]
CHAT_TEMPLATE = (
    "{%- for message in messages -%}"
    "{%- if message['role'] == 'user' -%}{{ '<q>' + message['content'] + '<a>' }}"
    "{%- elif message['role'] == 'assistant' -%}{{ message['content'] + '<eos>' }}"
    "{%- endif -%}{%- endfor -%}"
)
QUESTION_LIMIT = 1024


def build() -> PreTrainedTokenizerFast:
    """A new tokenizer (nothing in it is learnt from data)."""
    vocabulary = {token: number for number, token in enumerate(CONTROL)}
    for sign in sorted(pre_tokenizers.ByteLevel.alphabet()):
        vocabulary[sign] = len(vocabulary)
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    # The decoder reads tokens as bytes where it can. Three phrases hold characters that also name bytes (× of 0xD7,
    # ¬ of 0xAC, ° of 0xB0) and are spelt out in UTF-8 first. The price: text with a bare byte D7 or AC in it, such as
    # Hebrew or the euro sign, does not come back whole.
    spelt = {"^×$": "ÃĹ", "^¬$": "Â¬", r"^\.0°$": ".0Â°"}
    steps = [decoders.Replace(Regex(phrase), utf8) for phrase, utf8 in spelt.items()]
    tokenizer.decoder = decoders.Sequence([*steps, decoders.ByteLevel()])
    tokenizer.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in CONTROL])
    plain = ["<answer>", "</answer>", *phrases()]
    tokenizer.add_tokens([AddedToken(text, special=False, normalized=False) for text in plain])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        eos_token="<eos>",
        additional_special_tokens=["<q>", "<a>"],
        clean_up_tokenization_spaces=False,
        model_max_length=QUESTION_LIMIT,
        chat_template=CHAT_TEMPLATE,
    )


def save(folder: Path) -> None:
    """Writes tokenizer.json, tokenizer_config.json and chat_template.jinja."""
    build().save_pretrained(folder)

"""Writes docs/prompts.md: what each kind of model is asked, rendered by the code that asks.

    python packaging/prompts_page.py           writes the page

The templates are the stand-ins of the tests (tests/engines/real_models.py), written from the behaviour of the published
ones, since those come with models that a build does not download; the page says so.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from sapo_desktop.core.resources import resource  # noqa: E402
from sapo_desktop.engines.chat_template import ChatTemplate  # noqa: E402
from sapo_desktop.engines.prompts import INSTRUCTIONS, Prompter  # noqa: E402
from sapo_desktop.engines.tokenizer import load_tokenizer  # noqa: E402
from sapo_desktop.models.catalogue import model_catalogue  # noqa: E402
from tests.engines.real_models import KINDS, TEMPLATES  # noqa: E402

PAGE = ROOT / "docs" / "prompts.md"
QUESTION = "Find the Greatest Common Divisor (GCD) of these numbers: 12, 18."
THESE_WORDS = "(the words above)"
HEAD = """<!-- Written by packaging/prompts_page.py; do not edit. -->

# What a model is asked

A chat model gets each question with this system message, in its own chat template:

```
{instructions}
```

Without it chat models answer "The answer is 6.", in which no marker finds a 6. If a template has no system role, the
same words head the user's turn. Two kinds of models get the bare question: one without a chat template, and one whose
vocabulary has `<answer>` as a token (the starter and what is made of it), in its own template.

Every engine (torch, llama.cpp, a server elsewhere) gets its prompts from `sapo_desktop/engines/prompts.py`, for rounds,
held-out questions, foreign groups and people's questions alike. A special token that a question spells is plain text.

The answer is the text of the last `<answer>..</answer>`, else the last line that is not empty. With the setting
`max_tokens` at 0, models above 50 million parameters may answer in 512 tokens (some 2,000 characters of English),
smaller ones in 256.

Below is the prompt of each kind in the catalogue for the question `{question}`.
It is exact, except for the words above, line ends at its end, and the date that some templates print. **The templates
are stand-ins**, except the starter's. They were written for the tests from what the published ones print; a downloaded
model's own may add to that.
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD.format(instructions=INSTRUCTIONS, question=QUESTION)]
    parts.append(_part("starter", "Its own template.", _starter()))
    for name, kind in KINDS.items():
        special = {key: text for key, text in (("bos_token", kind.bos), ("eos_token", kind.end)) if text}
        parts.append(_part(name, _models_of(name) + ".", _rendered(kind.template, special)))
    for name, template in TEMPLATES.items():
        parts.append(_part(name, "None in the catalogue.", _rendered(template, {})))
    return "\n".join(parts)


def _models_of(kind: str) -> str:
    """The catalogue's models of a family, which begin with its name."""
    begins = "llama-3" if kind == "llama3" else kind
    return ", ".join(entry.id for entry in model_catalogue().models if entry.id.startswith(begins)) or "none"


def _rendered(template: str, special: dict[str, str]) -> str:
    made = Prompter(ChatTemplate(template, special), list(special.values()), has_tag=False)
    return "".join(piece.text for piece in made.pieces(QUESTION)).replace(INSTRUCTIONS, THESE_WORDS)


def _starter() -> str:
    return "".join(piece.text for piece in load_tokenizer(resource("starter")).prompter.pieces(QUESTION))


def _part(title: str, words: str, prompt: str) -> str:
    return f"## {title}\n\n{words}\n\n```\n{prompt.rstrip(chr(10))}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

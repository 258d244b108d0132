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

from sapo_desktop.core.records import Exchange, Prompt  # noqa: E402
from sapo_desktop.core.resources import resource  # noqa: E402
from sapo_desktop.engines.chat_template import ChatTemplate  # noqa: E402
from sapo_desktop.engines.prompts import INSTRUCTIONS, Prompter  # noqa: E402
from sapo_desktop.engines.tokenizer import load_tokenizer  # noqa: E402
from tests.engines.real_models import KINDS  # noqa: E402

PAGE = ROOT / "docs" / "prompts.md"
QUESTION = "What is 17 + 25?"
SHOWN = (Exchange(question="What is 2 + 3?", answer="2 + 3 = 5\n<answer>5</answer>"),)
THESE_WORDS = "(the words above)"
HEAD = """<!-- Written by packaging/prompts_page.py; do not edit. -->

# What a model is asked

A chat model gets this system message, in its own chat template. If the template has no system role, the same words
start the user's first turn.

```
{instructions}
```

Up to two worked examples of the question's family follow, as finished exchanges. Before the first round,
the app tries each number on twelve held-out questions and keeps the best (`shots`). All nodes show the same examples.
They come from easy levels and are never held-out questions. Before a question of level `first` they have one line of
work, such as `5 * 9 = 45`, or none. For your own file, one of its rows is shown.

A model without a chat template gets question and answer as plain lines. The starter gets only the question. A special
token in a question counts as plain text. Every answer ends at `</answer>`.

Below is the prompt of each kind in the catalogue. **The templates are stand-ins**, except the starter's: they were
written for the tests, and the template of a downloaded model may add to them.
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD.format(instructions=INSTRUCTIONS)]
    kinds: dict[str, list[str]] = {_starter(): ["starter"]}
    for name, kind in KINDS.items():
        special = {key: text for key, text in (("bos_token", kind.bos), ("eos_token", kind.end)) if text}
        kinds.setdefault(_rendered(kind.template, special), []).append(name)
    return "\n".join([*parts, *(_part(", ".join(names), prompt) for prompt, names in kinds.items())])


def _rendered(template: str, special: dict[str, str]) -> str:
    made = Prompter(ChatTemplate(template, special), list(special.values()), has_tag=False)
    return "".join(piece.text for piece in made.pieces(Prompt(question=QUESTION, shown=SHOWN))).replace(
        INSTRUCTIONS, THESE_WORDS
    )


def _starter() -> str:
    return "".join(
        piece.text for piece in load_tokenizer(resource("starter")).prompter.pieces(Prompt(question=QUESTION))
    )


def _part(title: str, prompt: str) -> str:
    return f"## {title}\n\n```\n{prompt.rstrip(chr(10))}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

"""The share of the held-out side that a starter solves, by family and level, greedily and sampled at temperature 1.

    python packaging/starter/check.py --model resources/starter [--questions 40] [--levels easy hard] [--json FILE]

Only questions on the held-out side of the split, each once; small families have fewer. The examiner makes and scores
them, as in a round. Left out: partial scores.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from stream import Source, catalogue, with_fixed_hashing
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast

from sapo_desktop.core.records import Question

SLOW = {("bf", "middle")}  # the dataset takes 50 ms or more for each question
LONGEST_ANSWER = 320
BATCH = 64
TRIES = 40  # draws per wanted question before a family counts as exhausted


@dataclass(frozen=True)
class Row:
    """The share solved of one family and level."""

    family: str
    level: str
    questions: int
    greedy: float
    sampled: float
    tokens: float


def held_out(source: Source, wanted: int, seed: int) -> list[Question]:
    """Up to `wanted` different questions of the held-out side."""
    rng, found = random.Random(seed), dict[str, Question]()
    for _ in range(wanted * TRIES):
        question = source.draw(rng)
        found.setdefault(question.text, question)
        if len(found) == wanted:
            break
    return list(found.values())


@torch.inference_mode()
def complete(model: Any, tokenizer: PreTrainedTokenizerFast, questions: list[str], temperature: float) -> list[str]:
    """One completion per question; temperature 0 is greedy."""
    texts: list[str] = []
    for start in range(0, len(questions), BATCH):
        prompts = [
            tokenizer.apply_chat_template([{"role": "user", "content": q}], tokenize=False, add_generation_prompt=True)
            for q in questions[start : start + BATCH]
        ]
        batch = tokenizer(prompts, return_tensors="pt", padding=True, padding_side="left")
        sampling = (
            {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0}
            if temperature
            else {"do_sample": False}
        )
        ids: Tensor = model.generate(**batch, max_new_tokens=LONGEST_ANSWER, **sampling)
        texts += tokenizer.batch_decode(ids[:, batch["input_ids"].shape[1] :], skip_special_tokens=True)
    return texts


def check(
    model: Any, tokenizer: PreTrainedTokenizerFast, family: str, level: str, wanted: int, seed: int, samples: int
) -> Row:
    """Scores one family and level; each question is answered once greedily and `samples` times sampled."""
    source = Source(family, level, held_out=True)
    asked = held_out(source, wanted, zlib.crc32(f"{seed}/{family}/{level}".encode()))
    texts = [question.text for question in asked]
    greedy = complete(model, tokenizer, texts, 0.0)
    sampled = complete(model, tokenizer, texts * samples, 1.0)
    return Row(
        family,
        level,
        len(asked),
        sum(source.solved(q, t) for q, t in zip(asked, greedy, strict=True)) / len(asked),
        sum(source.solved(q, t) for q, t in zip(asked * samples, sampled, strict=True)) / len(sampled),
        sum(len(tokenizer.encode(t)) for t in greedy) / len(greedy),
    )


def table(rows: list[Row]) -> str:
    """A Markdown table of the rows."""
    lines = ["| family | level | questions | greedy | sampled | tokens |", "|---|---|--:|--:|--:|--:|"]
    lines += [
        f"| {r.family} | {r.level} | {r.questions} | {r.greedy:.2f} | {r.sampled:.2f} | {r.tokens:.0f} |" for r in rows
    ]
    for level in dict.fromkeys(r.level for r in rows):
        chosen = [r for r in rows if r.level == level]
        greedy, sampled = (sum(getattr(r, kind) for r in chosen) / len(chosen) for kind in ("greedy", "sampled"))
        lines.append(
            f"| **all** | {level} | {sum(r.questions for r in chosen)} | **{greedy:.2f}** | **{sampled:.2f}** | |"
        )
    return "\n".join(lines)


def main() -> None:
    """Reads the command line, prints the table."""
    parser = argparse.ArgumentParser(description="Held-out scores of a starter model.")
    parser.add_argument("--model", type=Path, default=Path("resources/starter"))
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("--levels", nargs="+", default=["easy", "middle", "hard"])
    parser.add_argument("--families", nargs="+", default=list(catalogue()))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    with_fixed_hashing()
    torch.manual_seed(chosen.seed)
    tokenizer = AutoTokenizer.from_pretrained(chosen.model)
    model = AutoModelForCausalLM.from_pretrained(chosen.model, dtype=torch.float32).eval()
    known = catalogue()
    rows = [
        check(model, tokenizer, family, level, chosen.questions, chosen.seed, chosen.samples)
        for level in chosen.levels
        for family in chosen.families
        if level in known[family]["levels"] and (family, level) not in SLOW
    ]
    print(table(rows))
    if chosen.json:
        chosen.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

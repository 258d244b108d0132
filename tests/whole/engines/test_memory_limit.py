"""A node under a real limit of memory that no setting names: it says what it reduces, and plays its round."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.engines.models import random_model
from tests.whole.nodes import PATIENCE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.allowed_skip("RLIMIT_DATA counts allocated memory on Linux only"),
    pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_DATA counts allocated memory on Linux only"),
]
MEGABYTES = 770
"""Of each process. Torch with the starter takes half of it, and more for a moment where other work runs; a model of
270M parameters has 540 MB of weights in the format that takes less."""
LIMITED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_DATA, (int(sys.argv[1]) * 1_000_000,) * 2)
os.execv(sys.executable, [sys.executable, "-m", "sapo_desktop", *sys.argv[2:]])
"""


def test_a_model_that_memory_is_too_short_for_gives_way_to_the_starter(tmp_path: Path) -> None:
    big = random_model(
        tmp_path / "big",
        "LlamaForCausalLM",
        1,
        vocab_size=2048,
        hidden_size=832,
        num_hidden_layers=32,
        num_attention_heads=13,
        num_key_value_heads=13,
        head_dim=64,
        intermediate_size=2304,
        max_position_embeddings=1024,
        tie_word_embeddings=True,
    )
    words = ["run", "--silo", "--rounds", "1", "--model", str(big), "--set", "generator=torch", "--set", "questions=4"]
    command = [sys.executable, "-c", LIMITED, str(MEGABYTES), *words, "--set", "low_priority=off"]
    command += ["--data", str(tmp_path / "node"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    said = [event["text"] for event in events if event["event"] == "notice"]
    assert any("not enough memory" in text and "continues with starter" in text for text in said), said
    assert [event["round"] for event in events if event["event"] == "round"] == [1]

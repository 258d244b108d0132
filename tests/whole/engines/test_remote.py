"""A whole node whose answers come from another server: one that accepts an adapter, one that does not, and not in
silo."""

import json
from pathlib import Path

import pytest

from sapo_desktop.engines.tokenizer import load_tokenizer
from tests.engines.real_models import save_real_model
from tests.engines.remote.serving import Scripted, served
from tests.whole.nodes import reports, sapo

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
SHORT = ["--set", "questions=4", "--set", "max_tokens=24", "--set", "validate_every=0"]


def prepared(data: Path, model: Path, url: str, **settings: str) -> None:
    wanted = {"model": str(model), "generator": "remote", "remote_url": url, "silo": "off"} | settings
    for key, value in wanted.items():
        sapo(data, "settings", "set", key, value)


@pytest.mark.parametrize("dialect", ["vllm", "llama-server"])
def test_rounds_are_answered_there(tmp_path: Path, dialect: str) -> None:
    model = save_real_model(tmp_path / "model", "qwen2.5")
    script = Scripted(dialect, load_tokenizer(model), key="secret")
    data, shared = tmp_path / "node", tmp_path / "shared"
    learns = dialect == "vllm"
    with served(script) as url, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SAPO_REMOTE_KEY", "secret")
        prepared(data, model, url, remote_adapters=str(shared))
        done = sapo(data, "run", "--rounds", "2", *SHORT, "--json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["round"] for event in events if event["event"] == "round"] == [1, 2]
    assert [report.step is not None for report in reports(data)] == [learns, learns]
    paths = [path for path, _ in script.asked]
    assert paths.count("/v1/load_lora_adapter") >= learns
    assert any(path in ("/v1/completions", "/completion") for path in paths)
    said = " ".join(event.get("text", "") for event in events)
    assert ("Until then this node only answers" in said) != learns
    assert script.adapters == {} and (not learns or list(shared.iterdir()) == []), "nothing stays there"


def test_in_silo_no_server_elsewhere_answers(tmp_path: Path) -> None:
    model = save_real_model(tmp_path / "model", "qwen2.5")
    script = Scripted("vllm", load_tokenizer(model))
    with served(script) as url:
        prepared(tmp_path / "node", model, url)
        done = sapo(tmp_path / "node", "run", "--silo", "--rounds", "1", *SHORT, check=False)
    assert done.returncode == 2 and "In silo nothing leaves this computer" in done.stderr
    assert script.asked == []

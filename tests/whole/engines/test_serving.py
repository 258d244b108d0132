"""Other programs ask a real node while it learns, and get the answers of what it has learned so far."""

import json
import signal
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.whole.nodes import PATIENCE
from tests.whole.programs import Program, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
TRAINING = ("run", "--silo", "--set", "questions=8", "--set", "low_priority=off", "--set", "validate_every=0")


@pytest.fixture
def programs() -> Iterator[list[Program]]:
    started: list[Program] = []
    yield started
    for one in started:
        one.end()


def asked(serving: dict[str, Any], **more: object) -> bytes:
    said = {"model": "sapo", "messages": [{"role": "user", "content": "What is 7 + 5 - 3?"}]} | more
    headers = {"Authorization": f"Bearer {serving['key']}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{serving['url']}/chat/completions", json.dumps(said).encode(), headers)
    with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
        return bytes(reply.read())


def test_a_learning_node_answers_programs_with_what_it_has_learned(tmp_path: Path, programs: list[Program]) -> None:
    data = tmp_path / "node"
    programs.append(node := Program(data, *TRAINING))
    until(lambda: len(node.events("round")) >= 2)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    programs.append(server := Program(data.with_name("serve"), "serve", "--port", str(port), "--data", str(data)))
    (serving,) = until(lambda: server.events("serving"))
    assert serving["url"] == f"http://127.0.0.1:{port}/v1"

    first = json.loads(asked(serving))
    assert first["model"] == "starter" and first["choices"][0]["finish_reason"] == "stop"
    assert first["choices"][0]["message"]["content"].strip() and first["usage"]["completion_tokens"]
    until(lambda: len(node.events("round")) >= int(first["system_fingerprint"].removeprefix("round-")) + 1)
    streamed = asked(serving, stream=True, stop="<answer>", temperature=1, max_tokens=64)
    assert streamed.endswith(b"data: [DONE]\n\n") and b"<answer>" not in streamed
    again = json.loads(asked(serving))["system_fingerprint"]
    assert int(again.removeprefix("round-")) > int(first["system_fingerprint"].removeprefix("round-"))
    with pytest.raises(urllib.error.HTTPError) as refused:
        asked(serving | {"key": "wrong"})
    assert refused.value.code == 401

    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(PATIENCE) == 0
    with pytest.raises(urllib.error.URLError):
        asked(serving)
    assert node.process.poll() is None
    node.process.send_signal(signal.SIGINT)
    assert node.process.wait(PATIENCE) == 0

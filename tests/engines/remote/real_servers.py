"""Real servers in their own processes, and a remote generator connected to one."""

import json
import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sapo_desktop.core.records import Sampling
from sapo_desktop.engines import protocols as p
from sapo_desktop.engines.remote.engine import create
from sapo_desktop.engines.service import Service
from tests.builders import as_prompts


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def running(line: Sequence[str], port: int, key: str, log: Path) -> Iterator[str]:
    """A server started with that command line, which wants that key; gives its address."""
    with log.open("wb") as out:
        process = subprocess.Popen(line, stdout=out, stderr=out, env=dict(os.environ))
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_until_it_answers(url, key, process, log)
        yield url
    finally:
        process.terminate()
        process.wait(30)


def _wait_until_it_answers(url: str, key: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text(errors="replace")[-2000:]
        try:
            fetched(f"{url}/v1/models", key)
            return
        except OSError:  # nobody there, or busy with loading
            time.sleep(0.2)
    raise AssertionError(log.read_text(errors="replace")[-2000:])


def fetched(url: str, key: str) -> Any:
    """What the server answers, in JSON."""
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {key}"})
    with urllib.request.urlopen(request, timeout=5) as reply:
        return json.load(reply)


def connected(url: str, folder: Path, key: str) -> tuple[Service[p.LoadRemote, Any], p.Loaded]:
    service = create()
    loaded = service.handle(p.LoadRemote(url=url, model="", folder=str(folder), key=key), lambda _: None)
    assert isinstance(loaded, p.Loaded)
    return service, loaded


def ask(service: Service[p.LoadRemote, Any], prompts: list[str], answers: int = 1, **sampling: Any) -> p.Generated:
    request = p.Generate(prompts=as_prompts(prompts), answers=answers, sampling=Sampling(**sampling))
    made = service.handle(request, lambda _: None)
    assert isinstance(made, p.Generated)
    return made

"""What a window asks of a real node with the starter: a shown message, an answer, an own answer, gentler computing."""

import asyncio
import json
from pathlib import Path

import pytest

from sapo_desktop.system.hardware import default_threads
from sapo_desktop.worker.control.client import Client, connect
from sapo_desktop.worker.control.messages.asking import (
    AskProgressed,
    EnvelopePreview,
    PreviewEnvelope,
    QuestionSet,
    SetQuestion,
    Tried,
    TryTask,
)
from sapo_desktop.worker.control.messages.base import Exported, Ok
from sapo_desktop.worker.control.messages.events import Event, PhaseChanged, RoundFinished, Snapshot
from sapo_desktop.worker.control.messages.facts import (
    GetLog,
    GetModelInfo,
    GetNotices,
    LogIs,
    ModelInfo,
    Notice,
    Notices,
)
from sapo_desktop.worker.control.messages.replies import SwarmIs
from sapo_desktop.worker.control.messages.requests import Evaluate, GetSwarm, Quit, SetSettings
from sapo_desktop.worker.control.messages.rollouts import ExportRollouts
from sapo_desktop.worker.store.history import History
from tests.whole.nodes import finished, until, worker

THREADS = default_threads() + 1
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


async def test_a_window_over_a_real_node(tmp_path: Path) -> None:
    node = await worker(tmp_path, 100)
    try:
        await until(node, finished(1))
        window = await connect(tmp_path)
        try:
            await _looks(window, tmp_path)
            await _gives_up(window)
            await _computes_with(window, THREADS)
        finally:
            await window.close()
    finally:
        await node.call(Quit())
        await node.close()
    history = History(tmp_path / "history.sqlite")
    manifest = history.last_manifest()
    assert manifest is not None and (manifest.threads, manifest.settings["threads"]) == (THREADS, THREADS)
    assert history.totals().rounds == len(history.rounds().rounds)


async def _looks(window: Client, data: Path) -> None:
    events = window.events()
    snapshot = await anext(events)
    assert isinstance(snapshot, Snapshot) and snapshot.status.round >= 1 and snapshot.status.answers_own >= 64
    preview = await window.call(PreviewEnvelope())
    assert isinstance(preview, EnvelopePreview)
    assert json.loads(preview.text)["batch"][0]["body"]["type"] == "group" and preview.bytes < 64 * 1024
    asked = await window.call(SetQuestion(task="gcd/easy"))
    assert isinstance(asked, QuestionSet)
    tried = await window.call(TryTask(task=asked.task, seed=asked.seed, checkpoint="base", stream=5))
    assert isinstance(tried, Tried) and tried.question == asked.question
    progress = [event for event in _already(window) if isinstance(event, AskProgressed)]
    assert progress and all(event.stream == 5 and tried.completion.startswith(event.text) for event in progress)
    info = await window.call(GetModelInfo())
    assert isinstance(info, ModelInfo) and info.memory_used is not None and info.memory_estimate is not None
    assert (info.kind, info.generator, info.trainer, info.threads) == (
        "transformers",
        "torch",
        "torch",
        default_threads(),
    )
    assert info.parameters > 10**6 and info.bytes > 10**6
    log = await window.call(GetLog())
    assert isinstance(log, LogIs)
    exported = await window.call(ExportRollouts(to=str(data / "out.jsonl"), verdict="solved"))
    assert exported == Exported(folder=str(data), files=["out.jsonl"])


async def _gives_up(window: Client) -> None:
    """A score of minutes is given up at once, and the node continues."""
    scoring = asyncio.create_task(window.call(Evaluate(checkpoint="base", samples=8)))
    await until(window, lambda event: isinstance(event, PhaseChanged) and event.phase == "evaluate")
    scoring.cancel()
    await asyncio.wait([scoring])
    assert isinstance(await window.call(GetSwarm()), SwarmIs)


async def _computes_with(window: Client, threads: int) -> None:
    reply = await window.call(SetSettings(values={"threads": str(threads)}))
    assert isinstance(reply, Ok) and str(reply.text) == f"Saved. threads: {threads} from the next round on."
    words = f"From now on the node computes with at most {threads} threads."
    await until(window, lambda event: isinstance(event, Notice) and str(event.text) == words)
    await until(window, lambda event: isinstance(event, RoundFinished))
    info = await window.call(GetModelInfo())
    assert isinstance(info, ModelInfo) and info.threads == threads
    kept = await window.call(GetNotices())
    assert isinstance(kept, Notices) and words in [str(notice.text) for notice in kept.items]


def _already(client: Client) -> list[Event]:
    """Events that have come."""
    found: list[Event] = []
    while not client._events.empty():
        if (event := client._events.get_nowait()) is not None:
            found.append(event)
    return found

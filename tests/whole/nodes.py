"""Starts whole nodes for tests: the real command line, worker, hosts and starter, in a folder of the test's own."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import psutil
import pytest

from sapo_desktop.core.records import RoundReport
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.worker.control.client import Client, connect, start_worker
from sapo_desktop.worker.control.messages.events import Event, RoundFinished, StateChanged
from sapo_desktop.worker.store.history import History

PATIENCE = 300.0
"""Generous: on a machine that others keep busy a node is slow, not hung."""
QUIET = {"low_priority": "off", "validate_every": "0", "curriculum": "off", "silo": "on", "questions": "8"}
"""Settings that keep a test short."""


def sapo(data: Path, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a command of the product to its end; `check`: that it succeeds."""
    line = [sys.executable, "-m", "sapo_desktop", *arguments, "--data", str(data)]
    ended = subprocess.run(line, check=False, capture_output=True, text=True, timeout=PATIENCE)
    if check and ended.returncode:
        pytest.fail(f"{arguments[0]} ended with {ended.returncode}: {ended.stderr}{ended.stdout}")
    return ended


async def worker(data: Path, rounds: int, seed: int = 1, **settings: str) -> Client:
    """Start a worker that plays `rounds`, and attach to it as its owner."""
    overrides = QUIET | {"seed": str(seed)} | settings
    await start_worker(data, ["--overrides", msgspec.json.encode(overrides).decode(), "--rounds", str(rounds)])
    return await connect(data, owner=True)


async def until(client: Client, wanted: Callable[[Event], bool]) -> Event:
    """The next event that `wanted` is true of."""
    async with asyncio.timeout(PATIENCE):
        async for event in client.events():
            if wanted(event):
                return event
    raise AssertionError("the worker ended before it")


async def ended(client: Client) -> None:
    """Leave a worker, and return when it has ended."""
    await client.close()
    wait_gone(client.worker_pid)


async def played(data: Path, rounds: int, **settings: str) -> list[RoundReport]:
    """Play so many rounds in a worker of their own; the rounds that count then."""
    client = await worker(data, rounds, **settings)
    await until(client, is_state("idle"))
    await ended(client)
    return reports(data)


def write_no_more_today(data: Path) -> None:
    """Have checkpoints written so much already that no round gets one of its own."""
    history = History(DataFolder.open(data).history)
    history.record_checkpoint(0, 0, 10**12)
    history.close()


def is_state(name: str) -> Callable[[Event], bool]:
    return lambda event: isinstance(event, StateChanged) and event.state == name


def finished(number: int) -> Callable[[Event], bool]:
    return lambda event: isinstance(event, RoundFinished) and event.report.round == number


def host(worker_pid: int, kind: str) -> psutil.Process:
    """The worker's host process of a kind."""
    for child in psutil.Process(worker_pid).children(recursive=True):
        if kind in child.cmdline():
            return child
    raise AssertionError(f"no {kind} runs")


def wait_gone(pid: int) -> None:
    """Return when a process has ended."""
    _poll(
        lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE,
        f"process {pid} lives on",
    )


def wait_stopped(process: psutil.Process) -> None:
    """Return when a process stands still."""
    _poll(lambda: process.status() == psutil.STATUS_STOPPED, f"process {process.pid} runs on")


def _poll(holds: Callable[[], bool], complaint: str) -> None:
    """Wait for what no event tells of: a signal takes effect when its process is next scheduled."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, complaint
        time.sleep(0.05)


def reports(data: Path) -> list[RoundReport]:
    """The rounds that count."""
    history = History(data / "history.sqlite")
    try:
        return history.rounds().rounds
    finally:
        history.close()


def rewards(data: Path) -> list[float]:
    return [report.reward for report in reports(data)]

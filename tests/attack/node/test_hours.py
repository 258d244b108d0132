"""The fit and the search of `hours` find what is there, and nothing else."""

import random
from pathlib import Path

import msgspec

from tests.attack.node.hours import Sample, figures, leaks, trend
from tests.bench.processes import role


def test_a_series_that_grows_is_kept_apart_from_one_that_only_wavers() -> None:
    rng = random.Random(1)
    level = [400 + rng.gauss(0, 20) for _ in range(90)]
    flat, grown = trend(level), trend([value + 80 * at / 89 for at, value in enumerate(level)])
    assert flat is not None and flat.low < 0 < flat.high
    assert grown is not None and 12 < grown.percent < 28 and grown.low > 5
    spiked = trend([value * (9 if at % 10 == 0 else 1) for at, value in enumerate(level)])
    assert spiked is not None and abs(spiked.percent) < 5, "single peaks bend no line"
    assert trend(level[:10]) is None


def test_a_growing_queue_and_a_leak_are_said() -> None:
    samples = [
        Sample(seconds=60.0 * at, rounds=at, memory={"worker": 100}, queues={"unsent": 10.0 * at, "links": 4}, logs={})
        for at in range(120)
    ]
    found = {figure.name: figure for figure in figures(samples, leaks=["relay: worker.log: /home/me"])}
    assert found["drift of memory, worker"].held
    queues = found["queues that grow"]
    assert queues.value == 1 and not queues.held and "unsent" in queues.note
    assert not found["log lines with a path or name"].held


def test_paths_and_names_are_found_in_logs() -> None:
    folders = [Path("/data/node"), Path("/root")]
    text = "all well\nreads /root/x\nat /data/node/logs\n/home/ann/y\nof alice\nC:\\Users\\bob\nbox-1 said\nmalice\n"
    assert leaks(text, folders, user="alice", host="box-1") == text.splitlines()[1:7]


def test_processes_are_kept_apart_by_their_command_line() -> None:
    assert role(["python", "-m", "sapo_desktop.worker.hosts.host", "--parent", "1", "engine"]) == "engine"
    assert role(["python", "-m", "sapo_desktop.worker.membership.relay", "--data", "x"]) == "relay"
    assert role(["python", "-m", "sapo_desktop", "run"]) == "command"


def test_figures_can_be_written_as_lines() -> None:
    samples = [
        Sample(seconds=60.0 * at, rounds=at, memory={"engine": 100 + at}, queues={"links": 4.0}, logs={})
        for at in range(90)
    ]
    assert all(msgspec.json.encode(figure) for figure in figures(samples))

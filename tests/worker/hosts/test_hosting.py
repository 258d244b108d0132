"""Hosts as the worker sees them, with real processes and a tiny service (hosted_service.py)."""

import asyncio
import contextlib
import importlib
import itertools
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import psutil
import pytest

from sapo_desktop.core.errors import HostCancelled, HostDied, HostError, HostTimeout, ModelError, OutOfMemory
from sapo_desktop.core.link.requests import packed
from sapo_desktop.core.sentences import sentence
from sapo_desktop.system.logs import MAX_LOG_BYTES
from sapo_desktop.system.processes import Effort, Processors
from sapo_desktop.worker.hosts import hosting, patience
from sapo_desktop.worker.hosts.hosting import GRACE, PATIENCE, Host, grace_of_caller
from sapo_desktop.worker.hosts.patience import Sight
from sapo_desktop.worker.hosts.protocol import KINDS, HostOptions, Ready, command, environment, kind_of_service

HERE = Path(__file__).parent
OWN_NICE = str(os.getpriority(os.PRIO_PROCESS, 0)) if sys.platform != "win32" else "0"


@contextlib.asynccontextmanager
async def hosted(folder: Path, service: str = "hosted_service:create", **options: Any) -> AsyncIterator[Host]:
    """A running host, which is stopped after."""
    env = {"PYTHONPATH": str(HERE)}
    host = await Host.start(HostOptions(kind=kind_of_service(service), log=folder / "host.log", env=env, **options))
    try:
        yield host
    finally:
        await host.stop()
        assert host.pid is None


@pytest.fixture
async def host(tmp_path: Path, service_on_path: None) -> AsyncIterator[Host]:
    async with hosted(tmp_path) as host:
        yield host


def tiny() -> Any:
    """The service's messages, from the same module object that the worker's decoder finds."""
    return importlib.import_module("hosted_service")


@pytest.fixture(autouse=True)
def service_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HERE))


async def until_working(host: Host, request: Any, **kwargs: Any) -> asyncio.Task[Any]:
    """Start a call and return its task once the host reported progress."""
    started = asyncio.Event()
    kwargs.setdefault("timeout", 30)
    task = asyncio.create_task(host.call(request, on_progress=lambda step: started.set(), **kwargs))
    waiting = asyncio.create_task(started.wait())
    await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    assert started.is_set()
    return task


async def give_up(host: Host, task: asyncio.Task[Any], grace: float = GRACE) -> None:
    """Cancel the current request, which `task` waits for."""
    await host.cancel(grace)
    with pytest.raises(HostCancelled):
        await task


async def test_on_windows_the_process_that_works_is_the_launchers_child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its memory, and its share of a card, are what counts."""
    monkeypatch.setattr(sys, "platform", "win32")
    host = Host(HostOptions(kind=KINDS["examiner"], log=tmp_path / "log"))
    host._process = launcher = SimpleNamespace(pid=11, returncode=None)
    assert host.pid == 11
    host._is_ready(packed(Ready(kind="examiner", pid=12, versions={})))
    assert host.pid == 12
    launcher.returncode = 0
    assert host.pid is None


async def test_a_host_that_takes_long_to_end_was_not_killed_for_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that failed on a busy computer: between the end of its output and its own it waits for a processor."""
    monkeypatch.setattr(hosting.processes, "kill_tree", lambda pid: setattr(process, "returncode", -9))
    monkeypatch.setattr(hosting, "GRACE", 0.0)

    async def wait() -> None:
        for _ in range(20):
            await asyncio.sleep(0)
        process.returncode = process.returncode or 3

    output = asyncio.StreamReader()
    output.feed_eof()
    process = SimpleNamespace(pid=11, returncode=None, stdout=output, wait=wait)
    host = Host(HostOptions(kind=KINDS["examiner"], log=tmp_path / "log"))
    await host._listen(process)  # type: ignore[arg-type]
    assert (
        isinstance(host._unreported, HostDied)
        and not host._unreported.killed
        and "exit code 3" in str(host._unreported)
    )


async def test_echo_and_versions(host: Host) -> None:
    assert host.versions["tiny"] == "1" and host.versions["python"]
    for text in ("one", "two", "x" * 5_000_000):
        assert (await host.call(tiny().Say(text), timeout=30)).text == text


async def test_calls_at_the_same_time_take_turns(host: Host) -> None:
    replies = await asyncio.gather(*(host.call(tiny().Say(str(n)), timeout=30) for n in range(20)))
    assert [reply.text for reply in replies] == [str(n) for n in range(20)]


async def test_progress_arrives_and_cancel_gives_up_without_an_end_of_the_process(host: Host) -> None:
    task = await until_working(host, tiny().Work())
    process = host.pid
    await give_up(host, task, 30)
    assert host.pid == process
    assert (await host.call(tiny().Say("still here"), timeout=30)).text == "still here"


async def test_a_host_that_is_started_again_while_it_is_to_sleep_sleeps(host: Host) -> None:
    await host.stop()
    host.suspend()
    starting = asyncio.create_task(host.restart())
    async with asyncio.timeout(30):
        while not host._suspension.is_on:
            await asyncio.sleep(0.01)
    await until_stopped(host)
    host.resume()
    await starting
    assert (await host.call(tiny().Say("awake"), timeout=30)).text == "awake"


async def test_a_host_that_was_closed_is_not_started_again(host: Host) -> None:
    await host.close()
    with pytest.raises(HostDied, match=r"^The hosted_service was stopped\.$"):
        await host.restart()
    assert host.pid is None


async def test_a_host_that_is_closed_while_its_process_is_made_leaves_none(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, goes_on, make = asyncio.Event(), asyncio.Event(), asyncio.create_subprocess_exec

    async def slowly(*command: Any, **options: Any) -> Any:
        process = await make(*command, **options)
        made.set()
        await goes_on.wait()
        return process

    monkeypatch.setattr(asyncio, "create_subprocess_exec", slowly)
    starting = asyncio.create_task(host.restart())
    await made.wait()
    await host.close()
    goes_on.set()
    with pytest.raises(HostDied, match="was stopped"):
        await starting
    assert host.pid is None


async def test_a_deaf_host_is_killed_by_cancel_and_can_be_restarted(host: Host) -> None:
    task = await until_working(host, tiny().Work(deaf=True))
    await give_up(host, task, 0.1)
    assert host.pid is None
    with pytest.raises(HostDied, match="not running"):
        await host.call(tiny().Say("?"), timeout=30)
    await host.restart()
    assert (await host.call(tiny().Say("again"), timeout=30)).text == "again"


@pytest.mark.parametrize("times", [1, 2])
async def test_a_cancelled_task_gives_up_the_work_too(host: Host, times: int) -> None:
    task = await until_working(host, tiny().Work())
    for _ in range(times):
        task.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert host.pid is not None
    assert (await host.call(tiny().Say("free"), timeout=30)).text == "free"


async def test_a_patient_caller_waits_longer_for_the_end(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    graces: list[float] = []
    cancel = Host.cancel

    async def noted(host: Host, grace: float = GRACE) -> None:
        graces.append(grace)
        await cancel(host, grace)

    monkeypatch.setattr(Host, "cancel", noted)

    for grace in (GRACE, PATIENCE):
        token = grace_of_caller.set(grace)
        task = await until_working(host, tiny().Work())
        grace_of_caller.reset(token)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert graces == [GRACE, PATIENCE] and host.pid is not None


async def test_a_mistake_in_the_callers_progress_function_reaches_the_caller(host: Host) -> None:
    with pytest.raises(ZeroDivisionError):
        await host.call(tiny().Work(), timeout=30, on_progress=lambda step: 1 / 0)


async def test_one_that_was_killed_while_it_had_nothing_to_do_says_so_when_it_is_asked(host: Host) -> None:
    """What asks for less of the memory next time has to know."""
    assert host.pid is not None and host._process is not None
    os.kill(host.pid, signal.SIGKILL)
    await host._process.wait()
    with pytest.raises(HostDied, match=r"SIGKILL.*out of memory") as died:
        await host.call(tiny().Say("hello"), timeout=30)
    assert died.value.killed
    with pytest.raises(HostDied, match="is not running") as again:
        await host.call_aside(tiny().Say("hello"), timeout=30)
    assert not again.value.killed, "one death asks for less once"
    await host.restart()
    await host.stop()
    with pytest.raises(HostDied, match="is not running"):  # on purpose
        await host.call(tiny().Say("hello"), timeout=30)


@pytest.mark.parametrize(
    ("counter", "words"),
    [
        ((hosting.processes, "memory_kills"), "because the computer ran out of memory"),
        ((hosting.ceiling, "times_reached"), "because this node exceeded the memory that you"),
    ],
    ids=["kernel", "limit"],
)
async def test_kill_9_is_noticed_at_once_and_is_one_for_memory_where_that_was_counted_meanwhile(
    host: Host, monkeypatch: pytest.MonkeyPatch, counter: tuple[Any, str], words: str
) -> None:
    count = 1  # of other processes, days ago
    monkeypatch.setattr(*counter, lambda: count)
    for more, said in ((1, words), (0, "SIGKILL.*perhaps because the computer ran out of memory")):
        task = await until_working(host, tiny().Work(), timeout=None)
        assert host.pid is not None
        count += more
        os.kill(host.pid, signal.SIGKILL)
        with pytest.raises(HostDied, match=said) as died:
            await task
        assert (died.value.killed, died.value.counted) == (True, more == 1)
        await host.restart()


@pytest.mark.skipif(sys.platform != "linux", reason="Linux has a word on who goes first")
@pytest.mark.allowed_skip("Linux has a word on who goes first")
async def test_a_host_gives_its_memory_before_the_users_programs(host: Host) -> None:
    assert int(Path(f"/proc/{host.pid}/oom_score_adj").read_text()) == 500


async def test_its_last_words_are_reported(host: Host) -> None:
    with pytest.raises(HostDied, match=r"(?s)exit code 7.*last words"):
        await host.call(tiny().Break("exit"), timeout=30)


async def test_prints_go_to_the_log_and_not_into_frames(tmp_path: Path) -> None:
    async with hosted(tmp_path) as host:
        assert (await host.call(tiny().Break("print"), timeout=30)).text == "done"
    log = (tmp_path / "host.log").read_text()
    assert "printed by Python" in log and "printed by a library" in log and "the service starts" in log


@pytest.mark.parametrize(
    ("how", "error", "text"),
    [
        ("explained", ModelError, "download it"),
        ("bug", HostError, "ZeroDivisionError"),
        ("memory", OutOfMemory, "Out of memory"),
        ("huge", HostError, "larger than"),
    ],
)
async def test_errors_keep_their_class(tmp_path: Path, how: str, error: type[Exception], text: str) -> None:
    async with hosted(tmp_path) as host:
        with pytest.raises(error, match=text) as failed:
            await host.call(tiny().Break(how), timeout=30)
        assert (await host.call(tiny().Say("on"), timeout=30)).text == "on"
    if how == "explained":
        assert failed.value.text == sentence("The model {name} is missing; download it.", name="little")
    if how == "bug":
        assert "Traceback" in (tmp_path / "host.log").read_text()


@pytest.mark.parametrize("how", ["garbage", "no text", "wrong type"])
async def test_what_cannot_be_read_ends_the_host(host: Host, how: str) -> None:
    with pytest.raises(HostError, match="unreadable"):
        await host.call(tiny().Break(how), timeout=30)
    assert host.pid is None


async def test_a_time_out_kills(host: Host) -> None:
    with pytest.raises(HostTimeout, match=r"within 0.05 s"):
        await host.call(tiny().Work(), timeout=0.05)
    assert host.pid is None


async def all_ready() -> None:
    """Let every task continue as far as it can."""
    for _ in range(20):
        await asyncio.sleep(0)


async def until_stopped(host: Host) -> None:
    """A signal takes effect when its process is next scheduled, and no event tells when."""
    process = psutil.Process(host.pid)
    async with asyncio.timeout(30):
        while process.status() != psutil.STATUS_STOPPED:
            await asyncio.sleep(0.01)


class Clock:
    """The running loop's, from now on; it can be put forward."""

    def __init__(self) -> None:
        self.ahead = 0.0
        loop = asyncio.get_running_loop()
        real = loop.time
        loop.time = lambda: real() + self.ahead  # type: ignore[method-assign]


async def test_suspended_time_counts_for_no_time_out(host: Host) -> None:
    clock = Clock()
    task = await until_working(host, tiny().Work(), timeout=30)
    assert host.pid is not None
    host.suspend()
    await all_ready()
    clock.ahead += 60
    await all_ready()  # a host that was thought hung would be killed here
    assert not task.done() and host.pid is not None
    await until_stopped(host)
    host.resume()
    await give_up(host, task)


async def test_a_suspended_host_can_be_cancelled_and_stopped(host: Host) -> None:
    task = await until_working(host, tiny().Work())
    host.suspend()
    await give_up(host, task)
    host.suspend()


@pytest.mark.parametrize(
    ("service", "error", "words"), [("create_broken", ModelError, "cannot start"), ("nowhere", HostError, "nowhere")]
)
async def test_what_cannot_start_says_why(tmp_path: Path, service: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        async with hosted(tmp_path, f"hosted_service:{service}"):
            pass


async def test_threads_reach_the_process_and_it_gives_way_once_it_is_loaded(tmp_path: Path) -> None:
    async def values(host: Host) -> dict[str, str]:
        found: dict[str, str] = (await host.call(tiny().Environment(["OMP_NUM_THREADS"]), timeout=30)).values
        return found

    async with hosted(tmp_path, threads=3, low_priority=True) as host:
        assert await values(host) == {"OMP_NUM_THREADS": "3", "nice": OWN_NICE}, "while somebody waits for it"
        host.options = msgspec.structs.replace(host.options, haste=0.0)
        host._loaded()
        await asyncio.sleep(0.0)
        await asyncio.sleep(0.0)
        assert (await values(host))["nice"] == "19"
        host.options = msgspec.structs.replace(host.options, haste=60.0)
        await host.restart()
        assert (await values(host))["nice"] == OWN_NICE, "what restarts loads at normal priority again"
        assert host.give_way(True)
        assert (await values(host))["nice"] == "19"


async def test_what_is_to_load_keeps_its_pace_until_it_has(tmp_path: Path) -> None:
    async with hosted(tmp_path, low_priority=True) as host:
        host.options = msgspec.structs.replace(host.options, haste=0.0)
        host._loaded()
        nice = (await host.call(tiny().Environment([]), timeout=30, loading=True)).values["nice"]
        assert nice == OWN_NICE
        assert host._haste is not None, "now it is loaded"


async def test_a_starved_host_that_loads_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its CPU time grows, so the time-out stands still; a busy computer is reported."""
    looks = itertools.count()
    said: list[str] = []

    def look(pid: int, at: float, *, loading: bool) -> Sight:
        number = next(looks)
        return Sight(20.0 * number, Effort(0.01 * number, 0), 0.01 * number, Processors(40.0 * number, 40.0 * number))

    monkeypatch.setattr(patience, "look", look)
    monkeypatch.setattr(patience, "LOOK_SECONDS", 0.01)

    async with hosted(tmp_path) as host:
        host._on_busy = lambda text: said.append(str(text))
        loading = asyncio.create_task(host.call(tiny().Work(), timeout=0.05, loading=True))
        while not said:
            await asyncio.sleep(0.01)
        assert not loading.done()
        monkeypatch.setattr(patience, "look", lambda pid, at, loading: Sight(at, Effort(9.0, 0), 0.0, Processors(0, 1)))
        with pytest.raises(HostTimeout, match="did nothing for"):
            await loading
    assert said == ["The computer is busy: other programs use 100% of its processors, so starting takes longer."]


async def test_a_host_that_computes_is_ended_only_where_it_does_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = itertools.count()
    monkeypatch.setattr(patience, "LOOK_SECONDS", 0.01)

    def look(pid: int, at: float, *, loading: bool) -> Sight:
        return Sight(at, Effort(0.01 * next(looks), 0), 0.0, Processors(0, 1))

    monkeypatch.setattr(patience, "look", look)
    async with hosted(tmp_path) as host:
        host.options = msgspec.structs.replace(
            host.options, kind=msgspec.structs.replace(host.options.kind, computes=True)
        )
        working = asyncio.create_task(host.call(tiny().Work(), timeout=0.05))
        while next(looks) < 40:
            await asyncio.sleep(0.01)
        assert not working.done()
        monkeypatch.setattr(patience, "look", lambda pid, at, loading: Sight(at, Effort(9.0, 0), 0.0, Processors(0, 1)))
        with pytest.raises(HostTimeout, match="did nothing for"):
            await working


def test_only_who_reads_what_strangers_wrote_has_a_limit_of_its_whole_time() -> None:
    assert {name for name, kind in KINDS.items() if not kind.computes} == {"examiner", "librarian"}


async def test_a_full_log_is_turned_over(tmp_path: Path) -> None:
    log = tmp_path / "host.log"
    log.write_bytes(b"x" * (MAX_LOG_BYTES + 1))

    async with hosted(tmp_path):
        assert (tmp_path / "host.log.1").stat().st_size == MAX_LOG_BYTES + 1
    assert log.stat().st_size < 1000


def test_the_kinds_environments(tmp_path: Path) -> None:
    examiner = environment(HostOptions(kind=KINDS["examiner"], log=tmp_path))
    engine = environment(HostOptions(kind=KINDS["engine"], log=tmp_path, threads=2))
    assert examiner["PYTHONHASHSEED"] == "0"
    assert engine["OMP_NUM_THREADS"] == "2"
    assert engine["HF_HUB_OFFLINE"] == "1" and engine["TOKENIZERS_PARALLELISM"] == "false"
    assert "examiner" in command(HostOptions(kind=KINDS["examiner"], log=tmp_path))


SECRETS = (
    "SAPO_PASSPHRASE SAPO_REMOTE_KEY HF_TOKEN HUGGING_FACE_HUB_TOKEN LANGCHAIN_API_KEY NVIDIA_API_KEY TEMPORAL_KEY"
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_host_gets_no_secret_of_the_environment(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"LC_ALL": "C.UTF-8", "CUDA_VISIBLE_DEVICES": "1", "https_proxy": "http://user:secret@proxy:1"}
    for name, value in {**dict.fromkeys(SECRETS.split(), "secret"), **given}.items():
        monkeypatch.setenv(name, value)
    passed = environment(HostOptions(kind=KINDS[kind], log=tmp_path))
    assert [name for name, value in passed.items() if "secret" in value] == (
        ["https_proxy"] if KINDS[kind].network else []
    )
    assert passed["LC_ALL"] == "C.UTF-8" and passed["CUDA_VISIBLE_DEVICES"] == "1" and "PATH" in passed


async def test_what_is_asked_aside_is_answered_while_other_work_goes_on(host: Host) -> None:
    working = await until_working(host, tiny().Work())
    said = await asyncio.gather(*(host.call_aside(tiny().Say(str(n)), timeout=30) for n in range(3)))
    assert [one.text for one in said] == ["0", "1", "2"] and not working.done()
    await give_up(host, working)
    assert (await host.call_aside(tiny().Say("idle"), timeout=30)).text == "idle"


async def test_what_is_asked_aside_can_be_given_up_alone(host: Host) -> None:
    working = await until_working(host, tiny().Work())
    begun = asyncio.Event()
    asked = asyncio.create_task(host.call_aside(tiny().Work(), 30, lambda step: begun.set()))
    await begun.wait()
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert (await host.call_aside(tiny().Say("next"), timeout=30)).text == "next"
    assert not working.done() and host.pid is not None
    await give_up(host, working)


async def test_the_end_of_a_host_is_reported_to_who_asked_aside(host: Host) -> None:
    working = await until_working(host, tiny().Work(deaf=True))
    asked = asyncio.create_task(host.call_aside(tiny().Say("?"), timeout=30))
    await asyncio.sleep(0)
    assert host.pid is not None
    psutil.Process(host.pid).kill()
    await asyncio.wait([working, asked])
    assert isinstance(working.exception(), HostDied) and isinstance(asked.exception(), HostDied)

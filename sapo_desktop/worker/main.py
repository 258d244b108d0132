"""The worker process: `python -m sapo_desktop.worker.main --data DIR`.

It builds a node (settings, lock, hosts, checkpoints, history, control channel), runs it until it is asked to quit, and
takes it apart again. If settings that a node is built from change, a new node replaces it. Errors before the channel
answers become one line on standard error and an exit code; later ones a Stopping event.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

import sapo_desktop
from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import SapoError, SettingsError, UsageError, bug
from sapo_desktop.core.link.requests import Request
from sapo_desktop.core.sentences import Text, joined, sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.why import Starting, in_english
from sapo_desktop.system import ends
from sapo_desktop.system.beyond import beyond
from sapo_desktop.system.desktop import autostart, sleep
from sapo_desktop.system.desktop.ceiling import Ceiling
from sapo_desktop.system.folders import DataFolder, FolderError
from sapo_desktop.system.logs import begin_log, bounded_logs
from sapo_desktop.tasks.catalogue import Catalogue
from sapo_desktop.tasks.own.folder import load_tasks
from sapo_desktop.worker.assembly import Assembled, assemble
from sapo_desktop.worker.control import parent as starter
from sapo_desktop.worker.control.channel import Client, ControlServer
from sapo_desktop.worker.control.handlers.models import ModelRequests
from sapo_desktop.worker.control.handlers.requests import Requests
from sapo_desktop.worker.control.handlers.settings import NEEDS_RENEWAL, needs_renewal, taken_over
from sapo_desktop.worker.control.lock import FolderLock
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.events import Event, Snapshot, StateChanged, Stopping
from sapo_desktop.worker.control.messages.facts import Notice
from sapo_desktop.worker.control.messages.replies import StartingStatus
from sapo_desktop.worker.control.messages.requests import GetStatus, Quit, StartRounds
from sapo_desktop.worker.control.notices import KeptNotices
from sapo_desktop.worker.governor import NodeState, Wishes
from sapo_desktop.worker.guest import Guest
from sapo_desktop.worker.hosts.updates import Looker, Updates
from sapo_desktop.worker.membership.settings import check
from sapo_desktop.worker.orders import Orders
from sapo_desktop.worker.recovery import Recovery
from sapo_desktop.worker.renewal import Renewal, When
from sapo_desktop.worker.serving.local import LocalService
from sapo_desktop.worker.serving.node import NodeModel

log = logging.getLogger("sapo_desktop.worker")

OWNER_GRACE = 5.0
"""How long a window or terminal may be away before its worker ends with it."""

_BEFORE_SLEEP_SECONDS = 4.0
"""Longest time we delay system sleep; logind allows five seconds."""
_ASK_AGAIN_SECONDS = 60.0
"""Until logind is asked again to announce sleep, if it did not answer, as can happen while a computer wakes up."""


@dataclass(frozen=True)
class Options:
    """The command line of the process."""

    data: Path
    overrides: dict[str, str]
    rounds: int | None
    begin: Literal["rounds", "as before", "idle"]
    """Whether rounds start at once, or if they were running when the node last ended; idle: the node waits for
    requests."""
    started: bool = False
    """Whether a starter holds our standard input until it has attached (control/parent.py)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a worker until it is asked to quit; returns the exit code."""
    options = _parse(arguments)
    try:
        return asyncio.run(_work(options))
    except SapoError as error:
        print(starter.last_words(error), file=sys.stderr)
        return error.exit_code


def _parse(arguments: Sequence[str] | None) -> Options:
    parser = argparse.ArgumentParser(prog="sapo_desktop.worker.main", description="The background worker of one node.")
    parser.add_argument("--data", type=Path, required=True, help="the node's data folder")
    parser.add_argument("--overrides", default="{}", help="settings for this run only, as a JSON object of strings")
    parser.add_argument("--rounds", type=int, help="stop training after that many rounds")
    parser.add_argument(starter.OPTION, action="store_true", help="end if standard input ends too early")
    parser.set_defaults(begin="rounds")
    for option, begin, says in (
        ("--idle", "idle", "serve requests, and train only on request"),
        ("--as-before", "as before", "train or pause as when the node last ran"),
    ):
        parser.add_argument(option, dest="begin", action="store_const", const=begin, help=says)
    given = parser.parse_args(arguments)
    given.overrides = msgspec.json.decode(given.overrides, type=dict[str, str])
    return Options(**vars(given))


async def _work(options: Options) -> int:
    folder = DataFolder.open(options.data)
    begin_log(sys.stderr, folder.log("worker"))
    folder.keep_caches()
    with FolderLock(folder) as held:
        read = settings_file.read(folder.settings, time.time())
        settings = settings_file.apply(_with_login(read.settings, folder), options.overrides)
        check(settings)
        for reason in beyond(settings, options.overrides).values():
            raise UsageError(reason)
        # A file from another computer may ask for more than this one has.
        said = [*([read.said] if read.said else []), *beyond(settings, settings_file.known_keys()).values()]
        # This process keeps its priority: the hosts that it starts would inherit a lower one and load with it.
        worker = Worker(folder, settings, options)
        losing = asyncio.create_task(held.until_lost())
        # Without the lock another worker may write to this folder: end, rather than overwrite it.
        losing.add_done_callback(worker.abandon)
        try:
            async with worker.channel(), bounded_logs(folder.logs):
                with ends.marked(folder.run("worker")) as died:
                    if died:
                        worker.tell_of_end(died)
                    return await worker.run(joined(said) if said else "")
        finally:
            losing.cancel()


def _with_login(kept: Settings, folder: DataFolder) -> Settings:
    """The stored settings, with the system's state of "start at login": an installer may have added the entry, or a
    person removed it from the system's list."""
    try:
        there = autostart.is_on(folder.root)
    except OSError as error:
        log.warning("the state of start at login is unknown: %s", error)
        return kept
    if there == kept.start_at_login:
        return kept
    settings = msgspec.structs.replace(kept, start_at_login=there)
    try:
        settings_file.write(folder.settings, settings)
    except SettingsError as error:  # asked again at the next start
        log.warning("start at login could not be stored in the settings: %s", error)
    return settings


class Worker:
    """The parts of one worker, and their order of starting and ending."""

    def __init__(self, folder: DataFolder, settings: Settings, options: Options) -> None:
        self._folder = folder
        self._settings = settings
        self._options = options
        self._overrides = dict(options.overrides)
        self._catalogue = Catalogue(families=())
        self._renewal = Renewal()
        self._ceiling = Ceiling()
        self._server = ControlServer(folder.control, self._handle, self._attached, self._detached)
        self._notices = KeptNotices(folder.notices)
        self._updates = Updates(Looker(folder), self._in_force, self._may_use_network, self._publish)
        self._ready: asyncio.Future[Requests] = asyncio.get_running_loop().create_future()
        self._local = LocalService(folder, settings, NodeModel(self._when_ready), self._publish)
        self._quit = asyncio.Event()
        self._ended = threading.Event()
        """For its own threads, which end with it."""
        self._owners = 0
        self._owner_left: starter.Countdown | None = None
        self._orders: Orders | None = None
        self._guest: Guest | None = None
        """The guest of the current node."""
        self._adopted = False
        """Whether a client with `stay` attached: then the worker does not end with an owner."""
        self._only_served = options.begin == "idle"
        """Whether it only serves requests and nobody has asked for rounds so far."""
        self._found = False
        """Whether a client attached that keeps the worker running."""
        self._starting = Starting()
        """Progress of the start, while there is no node yet."""
        self._began = time.monotonic()
        self._abandoned: SapoError | None = None
        """Why it ends although nobody asked it to."""

    @contextlib.asynccontextmanager
    async def channel(self) -> AsyncIterator[None]:
        """Inside, the control channel answers, from before the hosts start until after they end."""
        await self._server.start()
        try:
            yield
        finally:
            await self._server.close()

    def tell_of_end(self, reason: Text) -> None:
        """The previous worker did not end by itself."""
        text = sentence(
            "The node that ran here last was interrupted: {reason}. It continues from the last checkpoint.",
            reason=reason,
        )
        log.error("%s", text)
        self._publish(Notice(level="error", text=text, time=time.time()))

    def abandon(self, losing: asyncio.Task[FolderError]) -> None:
        """End with that reason."""
        if not losing.cancelled():
            self._abandoned = losing.result()
            self._quit.set()

    async def run(self, said: Text) -> int:
        """Build the node, play rounds, end. Returns the exit code. `said`: as for `assemble`."""
        for name in (signal.SIGTERM, signal.SIGINT):
            with contextlib.suppress(NotImplementedError):  # on Windows
                asyncio.get_running_loop().add_signal_handler(name, self._quit.set)
        if self._options.started:
            starter.when_let_go(self._let_go)
        if sys.platform == "linux":
            threading.Thread(target=self._follow_sleep, args=(asyncio.get_running_loop(),), daemon=True).start()
        models = ModelRequests(self._folder, self._in_force, self._publish)
        looking = asyncio.create_task(self._updates.run())
        self._local.follow(self._settings)
        ending = asyncio.create_task(self._quit.wait())
        replaced: Assembled | None = None
        try:
            while True:
                assembled = await self._build(ending, said, replaced)
                if not isinstance(assembled, Assembled):
                    return self._stopped(assembled)
                try:
                    code = await self._serve(assembled, models, ending, replaced)
                finally:
                    # Shutdown in this order: the sleep hook, the node with its last checkpoint, update checks and
                    # downloads. The channel closes last (`_work`), so that clients learn of the end.
                    self._guest = None  # a sleep from here on finds its node closed; closing writes everything
                    await assembled.close()
                if code is not None:
                    return code
                replaced, said = assembled, ""
        finally:
            self._ended.set()
            looking.cancel()
            await asyncio.wait({looking})
            await models.close()
            await self._local.close()

    async def _build(
        self, ending: asyncio.Task[bool], said: Text, replaced: Assembled | None
    ) -> Assembled | BaseException | None:
        """A node for the settings, or the error that prevents it; None if the worker should end meanwhile. If the
        node replaces a closed one and the new settings are unusable, the previous settings are stored and used
        again."""
        building = asyncio.create_task(self._assemble(said, replaced))
        await asyncio.wait({building, ending}, return_when=asyncio.FIRST_COMPLETED)
        if not building.done():
            building.cancel()
            await asyncio.wait({building})
            return None
        error = building.exception()
        if error is None:
            return building.result()
        ran_by = replaced.node.settings if replaced else self._settings
        if isinstance(error, SapoError) and needs_renewal(ran_by, self._settings):
            self._go_back_to(ran_by)
            said = sentence("{reason} The node keeps the previous settings.", reason=error.text)
            return await self._build(ending, said, replaced)
        self._ready.set_exception(error)
        return self._ready.exception()

    async def _assemble(self, said: Text, replaced: Assembled | None) -> Assembled:
        self._renewal.begins()
        # Before any host, so that the system counts all their memory.
        await asyncio.to_thread(self._ceiling.follow, int(self._settings.memory_most * 1e9))
        self._catalogue = await asyncio.to_thread(load_tasks, self._folder.tasks)
        return await assemble(
            self._folder,
            self._settings,
            self._catalogue,
            self._publish,
            said,
            replaced,
            on_busy=self._busy,
            on_step=self._step,
        )

    async def _serve(
        self, assembled: Assembled, models: ModelRequests, ending: asyncio.Task[bool], replaced: Assembled | None
    ) -> int | None:
        """Play rounds and answer requests. Returns the exit code; None if a new node should replace this one."""
        node = assembled.node
        guest = self._guest = Guest(
            assembled,
            self._folder,
            self._ceiling,
            self._renewal.ask_whatever_settings_say,  # new processes must start under a limit
            lambda: self._renewal.ask(When.NOW),  # the node exceeds its user's limit now, and the next one will not
            lambda: self._settings,
            models.at_rate,
        )
        await guest.begin()
        if replaced is not None:
            node.orders.take_over(replaced.node.orders)
        else:
            self._begin(node.orders)
        await assembled.side.follow(self._settings)  # first: a joining node must not be shown as one in silo
        self._orders = node.orders
        self._open(self._requests(assembled, models, guest))
        self._take_up()
        recovery = Recovery(node)
        playing = asyncio.create_task(recovery.run())
        watching = asyncio.create_task(guest.run())
        keeping = asyncio.create_task(guest.keep_to_share())
        renewing = asyncio.create_task(self._renewal.until_due(recovery, node.gate))
        working = {playing, watching, keeping}
        # The first one decides: a requested end, another node, or a bug in one of the three.
        await asyncio.wait({*working, ending, renewing}, return_when=asyncio.FIRST_COMPLETED)
        failure = next((task.exception() for task in working if task.done()), None)
        if failure is None and ending.done():
            node.orders.stop()
        # Cancelled, then awaited: a cancelled round still gives its host time to stop.
        for task in (*working, renewing):
            task.cancel()
        await asyncio.wait({*working, renewing})
        # The throttle may have suspended the hosts; a suspended process cannot save.
        node.gate.hold(False)
        if failure is not None or ending.done():
            return self._stopped(failure)
        await self._close_for_renewal(await self._ready)
        return None

    async def _close_for_renewal(self, requests: Requests) -> None:
        """From now on requests wait for the next node, which includes the results of running ones."""
        self._orders = self._guest = None
        # A new future: requests that come from now on wait for the next node (`_handle` shields it).
        self._ready = asyncio.get_running_loop().create_future()
        self._starting = Starting()
        self._publish(self._state_of_start())
        await requests.settle()
        self._renewal.done()

    def _follow(self, wanted: Settings, at_once: bool) -> None:
        """These settings are stored: if the node cannot use all of them, one is built for them."""
        before = self._in_force()
        self._settings = wanted
        self._local.follow(wanted)
        self._renewal.settings_are(others=needs_renewal(before, wanted), at_once=at_once)

    def _go_back_to(self, settings: Settings) -> None:
        """Restore these stored settings, as far as a node is built from them."""
        keys = NEEDS_RENEWAL - set(self._overrides)
        kept = settings_file.read(self._folder.settings).settings
        settings_file.write(self._folder.settings, taken_over(kept, settings, keys))
        self._settings = taken_over(self._settings, settings, NEEDS_RENEWAL)

    def _in_force(self) -> Settings:
        requests = self._served()
        return self._settings if requests is None else requests.settings

    def _may_use_network(self) -> bool:
        """Whether the governor allows it; False while there is no node yet."""
        return self._orders is not None and self._orders.decision.network

    def _follow_sleep(self, loop: asyncio.AbstractEventLoop) -> None:
        """In a separate thread, which ends with the worker or the process."""
        said = ""
        while not self._ended.is_set():
            try:
                sleep.follow(lambda: self._before_sleep(loop))
            except SapoError as error:
                if str(error) != said:
                    said = str(error)
                    log.info("Nothing announces when this computer sleeps: %s", error)
            self._ended.wait(_ASK_AGAIN_SECONDS)

    def _before_sleep(self, loop: asyncio.AbstractEventLoop) -> None:
        """Give the node the time that the system waits. A slower write continues, now or after the sleep; one that
        did not start is cancelled, so that it costs no round after the sleep."""
        guest = self._guest  # which may disappear at any moment, in the loop's own thread
        if guest is not None and not loop.is_closed():
            log.info("The computer is about to sleep.")
            # This is logind's thread, and the node belongs to the loop's.
            keeping = asyncio.run_coroutine_threadsafe(guest.before_sleep(), loop)
            try:
                keeping.result(_BEFORE_SLEEP_SECONDS)
            except TimeoutError:
                keeping.cancel()
                log.info("It sleeps before everything is written.")
            except Exception:
                log.exception("The work before the sleep failed because of a bug.")

    def _begin(self, orders: Orders) -> None:
        match self._options.begin:
            case "rounds":
                orders.start(self._options.rounds)
            case "as before":
                orders.as_before()
            case "idle":
                orders.follow()

    def _stopped(self, error: BaseException | None) -> int:
        """Tell the clients why the worker ends."""
        error = error or self._abandoned
        if error is None:
            self._server.publish(Stopping(failed=False, reason=sentence("Stopped as requested.")))
            return 0
        if isinstance(error, SapoError):
            self._server.publish(Stopping(failed=True, reason=error.text, kind=type(error).__name__))
            print(starter.last_words(error), file=sys.stderr)
            return error.exit_code
        log.error("This is a bug in SAPO Desktop.", exc_info=error)
        self._server.publish(Stopping(failed=True, reason=bug(f"{type(error).__name__}: {error}")))
        return 1

    def _requests(self, assembled: Assembled, models: ModelRequests, guest: Guest) -> Requests:
        return Requests(
            assembled.node,
            assembled.side,
            models,
            catalogue=self._catalogue,
            folder=self._folder,
            overrides=self._overrides,
            publish=self._publish,
            notices=self._notices.newest,
            follow=self._follow,
            tasks_changed=self._renewal.ask_whatever_settings_say,
            quit=self._quit.set,
            updates=self._updates,
            local=self._local,
            usage=lambda: guest.meter.now,
        )

    def _open(self, requests: Requests) -> None:
        """From now on requests are answered; attached clients get the current state."""
        self._ready.set_result(requests)
        self._server.publish(Snapshot(status=requests.status()))

    def _publish(self, event: Event) -> None:
        """Send it to every client; notices are stored for later ones."""
        if isinstance(event, Notice):
            self._notices.add(event)
        self._server.publish(event)

    # -- the control channel's side ------------------------------------------------------------------------

    async def _handle(self, client: Client, request: Request[object]) -> object:
        taken = self._adopted or self._server.others(client)
        if isinstance(request, Quit) and client.owner and taken and self._only_served:
            raise UsageError(sentence("The node keeps running for its other users."))
        if isinstance(request, StartRounds):
            self._only_served = False
        if isinstance(request, Quit) and not self._ready.done():
            self._quit.set()
            return Ok(text=sentence("Stopping."))
        if isinstance(request, GetStatus) and not request.wait and not self._ready.done():
            return StartingStatus(
                why=self._starting,
                pid=os.getpid(),
                version=sapo_desktop.__version__,
                uptime=time.monotonic() - self._began,
            )
        return await (await self._when_ready()).handle(request)

    async def _when_ready(self) -> Requests:
        """The handler, now or once the node is there. Raises SapoError if none can be built."""
        return await asyncio.shield(self._ready)

    def _attached(self, client: Client, owner: bool) -> None:
        if (requests := self._served()) is not None:
            # Before any wait: the client's next event must be the first one that is not included.
            self._server.tell(client, Snapshot(status=requests.status()))
        else:
            self._server.tell(client, self._state_of_start())
        self._found = self._found or owner or client.stay
        if owner:
            self._owners += 1
        if client.stay:
            self._adopted = True
            self._take_up()
        if (owner or client.stay or self._only_served) and self._owner_left is not None:
            self._owner_left.cancel()
            self._owner_left = None

    def _take_up(self) -> None:
        """Continue as last ordered, if a client with `stay` finds a worker that only served a command."""
        if self._adopted and self._only_served and self._orders is not None and self._orders.wishes == Wishes():
            self._orders.as_before()

    def _served(self) -> Requests | None:
        """The handler, once the node is there."""
        # An exception there means that no node could be built: the worker is about to end with it.
        done = self._ready.done() and not self._ready.cancelled() and self._ready.exception() is None
        return self._ready.result() if done else None

    def _detached(self, client: Client, owner: bool) -> None:
        self._owners -= owner
        others = self._server.others(client)
        # A window is no owner: the node continues without it. But before there is a node, nothing does.
        forsaken = client.stay and self._served() is None and not others
        goes_on = self._in_force().when_window_closes == "continue"
        alone = self._found and not others if self._only_served else owner and self._owners == 0 and not goes_on
        if (forsaken and not goes_on) or (alone and not self._adopted):
            self._end_soon()

    def _let_go(self) -> None:
        """The starter of this worker has attached, or it died or gave up before that."""
        if not self._found:
            log.info("The program that started this node has ended, so it ends too.")
            self._quit.set()

    def _end_soon(self) -> None:
        """End, unless a client attaches that keeps the worker running."""
        log.info("No client needs this node: it ends soon.")
        if self._owner_left is not None:
            self._owner_left.cancel()
        self._owner_left = starter.Countdown(OWNER_GRACE, self._quit.set)

    def _state_of_start(self) -> StateChanged:
        why = msgspec.structs.replace(self._starting, silo=self._settings.silo)
        return StateChanged(state=NodeState.STARTING.value, reason=in_english(why, time.time()), why=why)

    def _step(self, text: Text) -> None:
        """The node is being built, and this is the current step."""
        if self._served() is None:
            self._starting = msgspec.structs.replace(self._starting, step=text)
            self._publish(self._state_of_start())

    def _busy(self, text: Text) -> None:
        """A host loads slowly because the computer is busy."""
        log.info("%s", text)
        if self._served() is None:
            self._starting = msgspec.structs.replace(self._starting, busy=text)
            self._publish(self._state_of_start())
        else:
            self._publish(Notice(level="info", text=text, time=time.time()))


if __name__ == "__main__":
    code = main()
    gc.freeze()  # everything is freed with the process: Python need not search for reference cycles
    sys.exit(code)

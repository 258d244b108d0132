"""The relay process: `python -m sapo_desktop.worker.membership.relay --data DIR --options JSON`.

The same swarm code as in a node, with more room for links and without computing: no model, and an examiner only until
the tasks are compared. A relay stores what authors publish to it and serves it on request. It checks signatures, sizes,
slots and characters, never whether an answer is right.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import functools
import logging
import os
import signal
import sys
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

import sapo_desktop
from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import PassphraseNeeded, SapoError, UsageError, bug
from sapo_desktop.core.link.requests import Message, Request
from sapo_desktop.core.network.proxies import check_environment
from sapo_desktop.core.records import Check
from sapo_desktop.core.sentences import Sentence, Text, sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.swarm.sockets.certificate import server_context
from sapo_desktop.swarm.trust import claims
from sapo_desktop.swarm.trust.admission import Members
from sapo_desktop.system import ends
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.identity import seal
from sapo_desktop.system.logs import begin_log, bounded_logs
from sapo_desktop.tasks.catalogue import TaskKey
from sapo_desktop.tasks.identity import ids_key
from sapo_desktop.tasks.own.folder import hand_over, load_tasks
from sapo_desktop.worker.control import parent as starter
from sapo_desktop.worker.control.channel import ControlServer
from sapo_desktop.worker.control.handlers.checks import clock, swarm_checks
from sapo_desktop.worker.control.lock import FolderLock, holder
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.events import Stopping
from sapo_desktop.worker.control.messages.facts import Examine, Facts, Notice
from sapo_desktop.worker.control.messages.replies import IdentityIs, PeerAnswered, RelayStatus
from sapo_desktop.worker.control.messages.requests import ChangeIdentity, GetIdentity, GetStatus, Quit
from sapo_desktop.worker.control.messages.swarm import RelayOptions, SwarmInfo
from sapo_desktop.worker.hosts.examiner import Examiner, KeptIds
from sapo_desktop.worker.hosts.hosting import Host
from sapo_desktop.worker.hosts.protocol import KINDS, HostOptions
from sapo_desktop.worker.membership.entering import announcement, ban, check_port, greet, listen_at, task_ids
from sapo_desktop.worker.membership.identity import PASSPHRASE, OwnIdentity
from sapo_desktop.worker.membership.joining import Identified, Linked, link_up
from sapo_desktop.worker.membership.private import members_of
from sapo_desktop.worker.membership.settings import addresses, host_and_port, keys_of
from sapo_desktop.worker.membership.view import linked_info
from sapo_desktop.worker.relaying.joined import (
    INSTALL,
    backbone_check,
    backbone_info,
    check_backbone,
    join_backbone,
    read_bans,
)
from sapo_desktop.worker.relaying.service_manager import ServiceManager

if TYPE_CHECKING:
    from sapo_desktop.swarm.sockets.backbone import Backbone
    from sapo_desktop.worker.relaying.metrics import Health, Metrics

log = logging.getLogger(__name__)

SESSIONS = 2000
_WATCH_SECONDS = 10.0
SHARE = 0.8
"""Share of its one core for messages; sockets, TLS and the clock need the rest."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Relay until asked to quit; returns the exit code."""
    parser = argparse.ArgumentParser(prog="sapo_desktop.worker.membership.relay", description="A relay of the swarm.")
    parser.add_argument("--data", type=Path, required=True, help="the relay's data folder")
    parser.add_argument("--options", required=True, help="RelayOptions as JSON")
    parser.add_argument("--check", action="store_true", help="check options, files and ports, and end")
    parser.add_argument(starter.OPTION, action="store_true", help="end if standard input ends too early")
    given = parser.parse_args(arguments)
    try:
        options = msgspec.json.decode(given.options, type=RelayOptions)
        if given.check:
            return _checked(DataFolder.at(given.data), options)
        return asyncio.run(_work(given.data, options, given.started))
    except SapoError as error:
        print(starter.last_words(error), file=sys.stderr)
        return error.exit_code


async def _work(data: Path, options: RelayOptions, started: bool) -> int:
    folder = DataFolder.open(data)
    begin_log(sys.stderr, folder.log("worker"), as_json=options.log_json)
    folder.keep_caches()
    _check(options)
    with FolderLock(folder) as held:
        async with bounded_logs(folder.logs):
            with ends.marked(folder.run("worker")) as died:
                if died:
                    log.error("The relay that ran here last did not end normally: %s.", died)
                return await Relay(folder, options, started=started).run(held)


def _check(options: RelayOptions) -> None:
    """Check everything that does not need the (slow) comparison of tasks. Raises UsageError."""
    for key in ("swarm", "admission"):
        settings_file.parse_value(key, getattr(options, key))
    host_and_port(options.listen)
    addresses(options.peers)
    if options.announce:
        Address.parse(options.announce)
    if options.cert:
        server_context(*_tls(options))
    read_bans(options.bans)
    keys_of(options.bans_from)
    check_backbone(options)


def _checked(folder: DataFolder, options: RelayOptions) -> int:
    """Check everything that a start needs, except the tasks; changes nothing. Raises SapoError."""
    _check(options)
    if options.metrics:
        metrics_class()
    if folder.root.is_dir() and OwnIdentity(folder, lambda: None).is_closed:
        raise PassphraseNeeded("The relay's key is in a file with a passphrase: set {variable}.", variable=PASSPHRASE)
    if holder(folder) is None:  # otherwise a relay that runs on this folder has the ports
        for where in filter(None, (options.listen, options.metrics)):
            check_port(where)
    return 0


def _tls(options: RelayOptions) -> tuple[Path, Path]:
    """The certificate and key files."""
    return Path(options.cert), Path(options.key)


class Relay:
    """The parts of one relay, and their order of starting and ending. `started`: a starter holds our standard input
    until it has attached (control/parent.py)."""

    def __init__(self, folder: DataFolder, options: RelayOptions, *, started: bool) -> None:
        self._folder = folder
        self._options = options
        self._is_held = started
        self._catalogue = load_tasks(folder.tasks)
        self._server = ControlServer(folder.control, self._handle, self._attached, self._detached)
        self._quit = asyncio.Event()
        self._found = False
        """Whether a client has attached."""
        self._started = time.monotonic()
        self._info = SwarmInfo(state="joining", reason=sentence("Starting"))
        self._linked: Linked | None = None
        self._identity = OwnIdentity(folder, self._say_for_session)
        self._address = ""
        self._backbone: Backbone | None = None
        self._banned: frozenset[bytes] = frozenset()
        """The keys on our own list."""
        self._manager = ServiceManager()
        self._notices: frozenset[str] = frozenset()
        """The last reported remarks on links."""

    async def run(self, held: FolderLock) -> int:
        """Compare tasks, listen, relay, say goodbye. Returns the exit code."""
        for name in (signal.SIGTERM, signal.SIGINT):
            with contextlib.suppress(NotImplementedError):  # on Windows
                asyncio.get_running_loop().add_signal_handler(name, self._quit.set)
        if os.name != "nt":
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self._reload)
        if self._is_held:
            starter.when_let_go(self._let_go)
        await self._server.start()
        losing = asyncio.create_task(held.until_lost())
        relaying = asyncio.create_task(self._relay())
        watching = asyncio.create_task(self._watch())
        ending = asyncio.create_task(self._quit.wait())
        try:
            await asyncio.wait({relaying, ending, losing}, return_when=asyncio.FIRST_COMPLETED)
            failed = relaying.exception() if relaying.done() else losing.result() if losing.done() else None
            if failed is None:
                log.info("Ending as asked.")
                self._manager.stopping()
                await self._drain()
            self._server.publish(Stopping(failed=failed is not None, reason=_last_words(failed)))
            if failed is not None:
                raise failed
            return 0
        finally:
            relaying.cancel()
            ending.cancel()
            losing.cancel()
            watching.cancel()
            await asyncio.wait({relaying})
            await self._server.close()

    async def _relay(self) -> None:
        options = self._options
        who = await self._identity.identify()
        members = members_of(options.swarm, options.admission, Signer(who.seed).key, time.time())
        metrics = metrics_class()(options.metrics, self._health) if options.metrics else None
        try:
            await self._relay_as(who.seed, members, metrics)
        finally:
            if metrics is not None:
                await metrics.close()

    async def _relay_as(self, seed: bytes, members: Members | None, metrics: Metrics | None) -> None:
        options = self._options
        ids, previous = await self._task_ids()
        identified = Identified(
            seed=seed,
            folder=self._folder.control,
            catalogue=self._catalogue,
            ids=ids,
            previous=previous,
            book_secret=self._folder.secret("address-book"),
            private_addresses=options.private_addresses,
            members=members,
            admission=bytes.fromhex(options.admission) if members else b"",
        )
        check_environment()
        linked = link_up(identified, most_links=SESSIONS, found_links=0, share=SHARE, relays=True)
        self._banned = read_bans(options.bans)
        ban(linked, self._banned)
        try:
            tls = _tls(options) if options.cert else None
            address = await listen_at(linked, options.listen, tls, self._folder.control)
            self._address, self._linked = str(address), linked
            # An invite contains what a newcomer dials, including this relay.
            peers, invited = (
                [one for one in addresses(text) if one.key != linked.signer.key]
                for text in (options.peers, options.invited)
            )
            linked.links.keep(peers, invited)
            linked.links.announcement = announcement(linked, options.announce, relay=True)
            linked.links.tell_claims = functools.partial(linked.tell_claims, claims.About(label="relay"))
            if options.log_addresses:
                linked.network.on_fault = lambda host, why: log.warning("Shut out address %s: %s", host, why)
            self._say("info", sentence("Relaying at {address}", address=str(address)))
            self._manager.ready("Relaying.")
            further = []
            if options.backbone:
                self._backbone = join_backbone(options, linked, self._banned)
                self._backbone.on_bans = functools.partial(self._follow_bans, linked)
                further.append(self._backbone.run())
            if metrics is not None:
                further.append(metrics.run(linked, self._backbone))
            await asyncio.gather(linked.links.run(), linked.network.run(), *further)
        finally:
            await linked.close()

    async def _drain(self) -> None:
        """Accept no more links, and pass the last groups to other relays; `_relay` closes the links."""
        if self._linked is None:
            return
        self._linked.network.turn_away()
        if self._backbone is not None:
            await self._backbone.flush()

    def _reload(self) -> None:
        """Reload the list of bans and the certificate; unusable files change nothing."""
        if self._linked is None:
            return
        self._manager.reloading()
        self._read_again(self._linked)
        self._manager.ready("Relaying.")

    def _read_again(self, linked: Linked) -> None:
        try:
            banned = read_bans(self._options.bans)
            if self._options.cert:
                linked.network.renew_certificate(*_tls(self._options))
        except (UsageError, OSError) as error:
            what = error.text if isinstance(error, SapoError) else str(error)
            self._say("warning", sentence("Not reloaded: {error}", error=str(what)))
            return
        self._banned = banned
        if self._backbone is not None and self._backbone.bans is not None:
            self._backbone.bans.say(banned)
        self._ban(linked)
        self._say("info", sentence("Reloaded bans and certificate. Banned keys: {count}.", count=f"{len(banned):,}"))

    def _ban(self, linked: Linked) -> None:
        """Ban the keys on our list and those of followed relays."""
        shared = self._backbone.bans if self._backbone is not None else None
        ban(linked, self._banned | (shared.followed if shared is not None else frozenset()))

    def _follow_bans(self, linked: Linked) -> None:
        self._ban(linked)
        count = len(linked.network.exchange.blocked)
        self._say("info", sentence("Other relays changed their bans. Banned keys: {count}.", count=f"{count:,}"))

    async def _task_ids(self) -> tuple[dict[TaskKey, bytes], dict[TaskKey, bytes]]:
        """Ids of the catalogue, and those before its change; the examiner that compares them ends before the first
        link."""
        catalogue, folder = self._catalogue, self._folder
        for reason in catalogue.left_out.values():
            self._say("warning", reason)
        key = ids_key(catalogue.shipped(), version("reasoning_gym"), sapo_desktop.__version__)
        handed_over = hand_over(catalogue, folder.cache / "catalogue.json")
        options = HostOptions(kind=KINDS["examiner"], log=folder.log("examiner"), env=handed_over)
        host = await Host.start(options, self._comparing)
        try:
            kept = KeptIds(folder.cache / "task-ids.json", key, catalogue.own)
            ids = await task_ids(Examiner(host, kept), catalogue.tasks(), self._comparing)
            return ids, kept.previous(ids)
        finally:
            await host.stop()

    def _comparing(self, text: Text) -> None:
        self._info = SwarmInfo(state="joining", reason=text)
        self._manager.starting(str(text))

    async def _watch(self) -> None:
        """Tell the service manager that the event loop runs, and report remarks on links once."""
        while True:
            await asyncio.sleep(min(_WATCH_SECONDS, self._manager.watchdog_seconds or _WATCH_SECONDS))
            info = self._status().swarm
            self._manager.alive(str(info.reason))
            found = {text.template if isinstance(text, Sentence) else text: text for text in info.notices}
            for text in (text for name, text in found.items() if name not in self._notices):
                self._say("warning", text)
            self._notices = frozenset(found)

    def _health(self) -> Health:
        """For `/readyz`: without keys and addresses."""
        from sapo_desktop.worker.relaying.metrics import Health

        relays = self._linked is not None and not self._quit.is_set()
        info = self._status().swarm
        away = "The relay is starting." if self._linked is None else "The relay is stopping."
        words = str(info.reason) if relays else away
        checks = [Check("relay", "good" if relays else "limited", words), clock(info)]
        if self._backbone is not None:
            checks.append(backbone_check(self._backbone.state))
        return Health(relays and all(check.state != "bad" for check in checks), checks)

    def _say_for_session(self) -> None:
        self._say(
            "warning",
            sentence(
                "The relay's key and its address are lost when it stops, because there is no keyring here. "
                "Set {variable} to keep the key in a file.",
                variable=PASSPHRASE,
            ),
        )

    def _say(self, level: str, text: Text) -> None:
        log.log(logging.WARNING if level == "warning" else logging.INFO, "%s", str(text).partition(" at ")[0])
        self._server.publish(Notice(level="warning" if level == "warning" else "info", text=text, time=time.time()))

    # -- the control channel's side --------------------------------------------------------------------------

    async def _handle(self, client: object, request: Request[object]) -> Message:
        if isinstance(request, Quit):
            self._quit.set()
            return Ok(text=sentence("Stopping."))
        if isinstance(request, GetStatus):
            return self._status()
        if isinstance(request, Examine):
            return await self._examined()
        if (who := self._identity.used) is not None:
            if isinstance(request, GetIdentity):
                return IdentityIs(key=Signer(who.seed).key.hex(), kept=who.where)
            if isinstance(request, ChangeIdentity) and request.action == "export":
                sealed = await asyncio.to_thread(seal, who.seed, request.passphrase or "")
                return IdentityIs(key=Signer(who.seed).key.hex(), kept=who.where, sealed=sealed)
        raise UsageError(
            sentence(
                "This folder belongs to a relay. It supports `status`, `peers`, `doctor`, `identity show`, "
                "`identity export` and `quit`."
            )
        )

    async def _examined(self) -> Facts:
        """For `doctor`; peers of the command line are dialled."""
        options, info, linked = self._options, self._status().swarm, self._linked
        facts = {"relay": sapo_desktop.__version__, "up": f"{time.monotonic() - self._started:.0f} s"}
        works = Check("relay", "good", f"It answers: {info.reason}")
        if linked is None:
            return Facts(values=facts, checks=[works])
        found = [works] if self._backbone is None else [works, backbone_check(self._backbone.state)]
        network = linked.network

        async def dial(address: str) -> PeerAnswered:
            return await greet(network, address, options.invited)

        named = Settings(silo=False, listen=options.listen, peers=options.peers)
        checks = [*found, *await swarm_checks(named, info, dial)]
        return Facts(values=facts, checks=checks if options.peers else checks[:-1])  # others dial a relay

    def _status(self) -> RelayStatus:
        info = self._info
        if self._linked is not None and self._identity.used is not None:
            info = linked_info(self._linked, kept=self._identity.used.where, address=self._address, member=None)
        return RelayStatus(
            swarm=info,
            pid=os.getpid(),
            version=sapo_desktop.__version__,
            uptime=time.monotonic() - self._started,
            backbone=backbone_info(self._backbone) if self._backbone is not None else None,
        )

    def _attached(self, client: object, owner: bool) -> None:
        """A relay does not depend on clients that attach."""
        self._found = True

    def _detached(self, client: object, owner: bool) -> None:
        """Nor on clients that leave."""

    def _let_go(self) -> None:
        """The starter of this relay has attached, or it died or gave up before that."""
        if not self._found:
            self._quit.set()


def metrics_class() -> type[Metrics]:
    """The class that serves metrics. Raises UsageError if its library is missing."""
    try:
        from sapo_desktop.worker.relaying.metrics import Metrics
    except ImportError as error:
        raise UsageError(
            "Metrics need prometheus-client, which is not installed: {command}", command=INSTALL
        ) from error
    return Metrics


def _last_words(failed: BaseException | None) -> Text:
    if isinstance(failed, SapoError):
        return failed.text
    return sentence("Stopped as requested.") if failed is None else bug(f"{type(failed).__name__}: {failed}")


if __name__ == "__main__":
    sys.exit(main())

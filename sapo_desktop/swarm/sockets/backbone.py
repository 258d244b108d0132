"""NATS between relays: carries what federation.py gives and takes as core messages, one subject per shard and relay.

Nothing waits for NATS: while it is away or slow, the newest queued messages go out later and the oldest are lost.
Reconnection attempts never stop, each as a new client, and only to the named servers. nats-py comes with the extra
`relay` and is imported with this module.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import ssl
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from random import SystemRandom
from typing import Any, Literal

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import AuthorizationError, Error, SlowConsumerError

from sapo_desktop.swarm.backbone.bans import SharedBans
from sapo_desktop.swarm.backbone.federation import Federation
from sapo_desktop.swarm.backbone.shards import SHARDS, heard_by, shard_of
from sapo_desktop.swarm.sockets.network import Network, now
from sapo_desktop.swarm.sockets.nkey import UserKey

log = logging.getLogger(__name__)

State = Literal["connecting", "connected", "isolated", "refused"]
SEND_SECONDS = 0.1
"""Interval of the checks for messages to send."""
CONNECT_SECONDS = 10
FLUSH_SECONDS = 2.0
_MOST_UNSENT = 1024 * 1024
"""Bytes queued in nats-py above which nothing is added."""
_MOST_UNREAD = 8 * 1024 * 1024
"""Bytes of messages that were not handled yet; beyond it nats-py drops new ones."""
_FIRST_DELAY, _LONGEST_DELAY = 0.5, 5.0
_DIALLING = 0.5
"""After a reconnection, queued messages wait as long as another relay may still need to reconnect, plus this:
messages without listeners are lost."""
_LASTING = 30.0
_PING_SECONDS = 5
_BANS = "bans"
"""Replaces the shard in a subject."""
_KEY = re.compile(r"[0-9a-f]{64}")
_AWAY = (OSError, Error, ssl.SSLError, TimeoutError, ValueError)


@dataclass(frozen=True)
class Credentials:
    """What NATS asks for: a key, user and password, or a token; may be empty."""

    user: str = ""
    password: str = ""
    token: str = ""
    key: UserKey | None = None

    @property
    def is_secret(self) -> bool:
        """Whether the secret itself is sent to the server; for a key only a signature is."""
        return bool(self.user or self.token)

    def __repr__(self) -> str:
        return "Credentials(...)"  # never in a log


class _InTheClear(Error):
    """The server asked for a connection without TLS."""


class _Client(Client):
    """nats-py uses TLS only if the server says so, which a man in the middle would not."""

    def __init__(self, *, asks_for_tls: bool, key: UserKey | None) -> None:
        super().__init__()
        self._asks_for_tls = asks_for_tls
        # What `connect` would set for a seed, but it would need one more library.
        self._public_nkey = key.public if key else None

    async def _process_info(self, info: dict[str, Any], initial_connection: bool = False) -> None:
        if initial_connection and self._asks_for_tls and not info.get("tls_required"):
            raise _InTheClear("nats: no TLS")
        await super()._process_info({**info, "connect_urls": None}, initial_connection)


class Backbone:
    """One relay's connection to NATS.

    Args:
        servers: URLs without credentials; tried in any order until one answers.
        tls: the context for tls:// servers.
        subject: the first part of all relays' subjects, of this network.
        shards: how many of the 256 to listen to (swarm/backbone/shards.py).
    """

    def __init__(
        self,
        servers: Sequence[str],
        federation: Federation,
        network: Network,
        subject: str,
        *,
        credentials: Credentials | None = None,
        tls: ssl.SSLContext | None = None,
        shards: int = SHARDS,
    ) -> None:
        self.state: State = "connecting"
        self.connects = 0
        self.overruns = 0
        """Messages that came faster than they could be read."""
        self.federation = federation
        self._servers = list(servers)
        self._network = network
        self._subject = subject
        self._credentials = credentials or Credentials()
        self._tls = tls
        self._shards = shards
        self._arrived = asyncio.Event()
        self._client: _Client | None = None
        self.bans: SharedBans | None = None
        self.on_bans: Callable[[], None] = lambda: None
        """Called when others' bans changed."""

    async def run(self) -> None:
        """Stay connected until cancelled."""
        await asyncio.gather(self._take(), self._stay_connected())

    async def flush(self) -> None:
        """Send what is due and briefly wait until NATS has it."""
        if self._client is None or self.state != "connected":
            return
        with contextlib.suppress(*_AWAY):
            async with asyncio.timeout(FLUSH_SECONDS):
                await self._send(self._client)
                await self._client.flush()

    # -- sending and the connection ----------------------------------------------------------------------------

    async def _stay_connected(self) -> None:
        delay = _FIRST_DELAY
        while True:
            began = time.monotonic()
            await self._connection(held=delay + _DIALLING if self.connects else 0.0)
            if time.monotonic() - began > _LASTING:
                delay = _FIRST_DELAY
            await asyncio.sleep(SystemRandom().uniform(0, delay))
            delay = min(_LONGEST_DELAY, 2 * delay)

    async def _connection(self, held: float) -> None:
        """One connection from dialling to its end. `held`: seconds before anything is sent."""
        closed = asyncio.Event()
        client = await self._dialled(closed)
        if client is None:
            return
        try:
            listening = _Listening(client, self._subject, self._on_message)
            await listening.to(self._heard())
            self.state, self._client = "connected", client
            self.connects += 1
            log.info("The backbone is connected.")
            sends_from = time.monotonic() + held
            while not closed.is_set():
                if time.monotonic() >= sends_from:
                    await self._send(client)
                await listening.to(self._heard())
                await asyncio.sleep(SEND_SECONDS)
        except _AWAY as error:
            log.warning("The backbone's connection broke: %s", type(error).__name__)
        finally:
            self.state, self._client = "isolated", None
            await _closed(client)
        log.warning("The backbone is away: this relay serves on alone.")

    async def _dialled(self, closed: asyncio.Event) -> _Client | None:
        async def on_closed() -> None:
            closed.set()

        for server in SystemRandom().sample(self._servers, len(self._servers)):
            secure = server.startswith("tls://")
            client = _Client(asks_for_tls=secure, key=self._credentials.key)
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    await client.connect(
                        [server],
                        allow_reconnect=False,
                        max_reconnect_attempts=1,  # 0 would try one server forever
                        reconnect_time_wait=0,  # the default of 2 s would miss earlier messages of others
                        connect_timeout=CONNECT_SECONDS // 2,
                        ping_interval=_PING_SECONDS,
                        max_outstanding_pings=2,
                        no_echo=True,
                        error_cb=self._on_error,
                        closed_cb=on_closed,
                        flush_timeout=CONNECT_SECONDS,
                        tls=self._tls if secure else None,
                        user=self._credentials.user or None,
                        password=self._credentials.password if self._credentials.user else None,
                        token=self._credentials.token or None,
                        signature_cb=self._credentials.key.sign if self._credentials.key else None,
                    )
                return client
            except _AWAY as error:
                refused = isinstance(error, AuthorizationError) or "authorization" in str(error).lower()
                self.state = "refused" if refused else "isolated"
                reason = "refuses the credentials" if refused else f"could not be reached: {type(error).__name__}"
                log.warning("A server of the backbone %s", reason)
                await _closed(client)
            except BaseException:
                await _closed(client)
                raise
        return None

    async def _send(self, client: Client) -> None:
        if self.bans is not None and client.is_connected and (message := self.bans.due(now())):
            await client.publish(f"{self._subject}.{_BANS}.{self.federation.key.hex()}", message)
        while client.is_connected and client.pending_data_size < _MOST_UNSENT:
            messages = self.federation.due(now())
            if not messages:
                return
            shard = shard_of(self.federation.key, now().unix)
            for message in messages:
                await client.publish(f"{self._subject}.{shard}.{self.federation.key.hex()}", message)

    def _heard(self) -> frozenset[str]:
        """Names of the current shards to listen to, as parts of subjects."""
        if self._shards >= SHARDS:
            return frozenset({"*"})
        shards = heard_by(self.federation.key, self._shards, now().unix)
        return frozenset({_BANS, *(str(shard) for shard in shards)})

    # -- receiving ---------------------------------------------------------------------------------------------

    async def _on_message(self, message: Msg) -> None:
        *_, kind, name = message.subject.split(".")
        key = bytes.fromhex(name) if _KEY.fullmatch(name) else b""
        if kind == _BANS:
            if self.bans is not None and self.bans.heard(key, message.data, now()):
                self.on_bans()
            return
        self.federation.arrived(key, message.data, now())
        self._arrived.set()

    async def _on_error(self, error: Exception) -> None:
        self.overruns += isinstance(error, SlowConsumerError)
        log.warning("NATS: %s", type(error).__name__)  # its text may name the server: logs contain no addresses

    async def _take(self) -> None:
        """Handle what arrived, taking turns with messages from links."""
        while True:
            await self._arrived.wait()
            if not self.federation.next:
                self._arrived.clear()
                continue
            await self._network.in_turn(b"backbone", lambda: self.federation.receive(now()))
            await asyncio.sleep(0)


class _Listening:
    """The subscriptions of one connection."""

    def __init__(self, client: Client, subject: str, on_message: Callable[[Msg], Awaitable[None]]) -> None:
        self._client = client
        self._subject = subject
        self._on_message = on_message
        self._to: dict[str, Subscription] = {}

    async def to(self, shards: frozenset[str]) -> None:
        """Listen to exactly these shards."""
        if self._to.keys() == shards:
            return
        limit = _MOST_UNREAD // max(1, len(shards))
        for shard in shards - self._to.keys():
            self._to[shard] = await self._client.subscribe(
                f"{self._subject}.{shard}.*", cb=self._on_message, pending_bytes_limit=limit
            )
        for shard in self._to.keys() - shards:
            await self._to.pop(shard).unsubscribe()


async def _closed(client: Client) -> None:
    with contextlib.suppress(*_AWAY, AssertionError, AttributeError):
        async with asyncio.timeout(FLUSH_SECONDS):
            await client.close()

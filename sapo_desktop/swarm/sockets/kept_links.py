"""Links that are kept: dialled again whenever they end, at intervals that grow.

What the peer said when it parted counts, if it is the one that we want: who asks for a longer wait gets it.
"""

from __future__ import annotations

import asyncio
import time
from random import SystemRandom
from typing import TYPE_CHECKING

from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.protocol.events import Closed

if TYPE_CHECKING:
    from sapo_desktop.swarm.sockets.network import Network

_FIRST_DELAY, _LONGEST_DELAY = 1.0, 300.0
_LONGEST_ABSENCE = 86400.0
"""The limit, whatever time a peer asks for."""
_LASTING = 60.0
"""A link that lasted this long resets the waiting times."""
_HUNG_UP = Closed("", 0, False)
"""The result of a greeting during which the connection closed."""


class _Rest:
    """The wait between two dials of an address: `seconds`, of which a peer that counts asked for the first `asked`."""

    def __init__(self, asked: float, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        self.over: asyncio.Future[None] = loop.create_future()
        self.shortened = False
        self._asked_until = loop.time() + asked
        self._timer = loop.call_later(seconds, self.end)

    def shorten(self) -> None:
        """Wait no longer than the peer asked for."""
        self.shortened = True
        self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(self._asked_until, self.end)

    def end(self) -> None:
        """Dial now."""
        self._timer.cancel()
        if not self.over.done():
            self.over.set_result(None)


class KeptLinks:
    """Dials each address again and again, through the network's `link`."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._rests: dict[Address, _Rest] = {}
        """Those waiting to be dialled again."""
        self._woke_at = float("-inf")
        """Monotonic seconds."""
        self.partings: dict[Address, Closed] = {}
        """For those without a connection: how the last greeting ended."""
        self.silent: dict[Address, float] = {}
        """Since when nobody answers there, Unix time."""

    def woke_up(self) -> None:
        """The computer slept: dial again at once, except peers that asked for a longer wait."""
        self._woke_at = time.monotonic()
        for rest in self._rests.values():
            rest.shorten()

    def dial_now(self, address: Address) -> None:
        """A person asks for this address: if a link to it is kept, try again, whatever its peer last said."""
        self.partings.pop(address, None)
        if rest := self._rests.get(address):
            rest.end()

    async def keep(self, address: Address, *, named_by_stranger: bool) -> None:
        """Until cancelled."""
        try:
            await self._link_again(address, named_by_stranger)
        finally:
            self.partings.pop(address, None)
            self.silent.pop(address, None)
            self._network.proxy_faults.pop(address, None)

    async def _link_again(self, address: Address, named_by_stranger: bool) -> None:
        delay = _FIRST_DELAY
        while True:
            began = time.monotonic()
            link = await self._network.link(address, named_by_stranger=named_by_stranger)
            goodbye = link.goodbye if link else None
            if link is not None and not link.key:
                goodbye = goodbye or _HUNG_UP
            if link is not None and goodbye is not None and (goodbye.by_peer or not link.key):
                self.partings[address] = goodbye
            else:
                self.partings.pop(address, None)
            if link is None and address not in self._network.proxy_faults:
                self.silent.setdefault(address, time.time())
            else:
                self.silent.pop(address, None)
            # Only the holder of the key that we want may send us away for long.
            from_its_peer = link is not None and link.key and goodbye is not None and goodbye.by_peer
            wait = min(_LONGEST_ABSENCE, goodbye.retry_after) if from_its_peer and goodbye else 0.0
            if time.monotonic() - began > _LASTING or began < self._woke_at:
                delay = _FIRST_DELAY
            # Full jitter: a relay that returns is not dialled by all its peers within one second.
            rest = self._rests[address] = _Rest(wait, max(wait, SystemRandom().uniform(0, delay)))
            try:
                await rest.over
            finally:
                self._rests.pop(address, None)
                rest.end()
            delay = _FIRST_DELAY if rest.shortened else min(_LONGEST_DELAY, 2 * delay)

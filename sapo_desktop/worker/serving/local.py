"""Whether the local server runs, on which port, and with which key.

It runs while the setting `serve` is on, and during `sapo-desktop serve`. The key is stored like other secrets, in the
system's keyring, or comes from the environment; otherwise it lasts as long as the worker.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable

from sapo_desktop.core.errors import IdentityError, SapoError, UsageError
from sapo_desktop.core.link.handlers import Handlers
from sapo_desktop.core.settings import Settings
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.secrets.kept_secrets import server_key
from sapo_desktop.worker.control.messages.events import Event
from sapo_desktop.worker.control.messages.facts import Notice
from sapo_desktop.worker.control.messages.serving import GetServer, NewServerKey, Serve, ServerIs
from sapo_desktop.worker.serving.server import LocalServer, Model

log = logging.getLogger("sapo_desktop.worker")


class LocalService:
    """Starts and ends the server as settings and clients require."""

    def __init__(self, folder: DataFolder, settings: Settings, model: Model, publish: Callable[[Event], None]) -> None:
        self._folder = folder
        self._wanted, self._port = settings.serve, settings.serve_port
        self._model = model
        self._publish = publish
        self._holds: list[int] = []
        """The ports that clients requested; 0: that of the settings."""
        self._server: LocalServer | None = None
        self._key = ""
        self._kept = False
        self._error: SapoError | None = None
        self._one = asyncio.Lock()
        self._following: set[asyncio.Task[None]] = set()
        self.handlers = handlers = Handlers()
        handlers.on(GetServer).by(self.server)
        handlers.on(NewServerKey).by(self.renew_key)
        handlers.on(Serve).by(self.serve)

    def follow(self, settings: Settings) -> None:
        """Apply these settings."""
        self._wanted, self._port = settings.serve, settings.serve_port
        task = asyncio.create_task(self._settle(notify=True))
        self._following.add(task)
        task.add_done_callback(self._following.discard)

    async def close(self) -> None:
        """End the server permanently."""
        for task in self._following:
            task.cancel()
        async with self._one:
            self._wanted = False
            self._holds.clear()
            await self._end()

    # -- requests --------------------------------------------------------------------------------------------------

    async def server(self, request: GetServer) -> ServerIs:
        if self._following:
            await asyncio.wait(self._following)
        async with self._one:
            return self._is()

    async def renew_key(self, request: NewServerKey) -> ServerIs:
        async with self._one:
            await self._draw_key()
            await self._end()
        await self._settle()
        return await self.server(GetServer())

    async def serve(self, request: Serve) -> ServerIs:
        """Run the server until the client cancels this; it returns only with an error."""
        running = self._server
        if running is not None and request.port not in (0, running.port):
            raise UsageError(
                "The local server runs at port {port} already. Leave the port out, or set serve off first.",
                port=str(running.port),
            )
        self._holds.append(request.port)
        try:
            await self._settle()
            if self._error is not None:
                raise self._error
            await asyncio.Event().wait()
        finally:
            if request.port in self._holds:
                self._holds.remove(request.port)
            self._following.add(task := asyncio.create_task(self._settle()))
            task.add_done_callback(self._following.discard)
        raise AssertionError("it waits for ever")

    def _is(self) -> ServerIs:
        server = self._server
        return ServerIs(
            url=server.url if server else "",
            key=self._key if server else "",
            kept=self._kept,
            error=self._error.text if self._error is not None else "",
        )

    # -- inside ----------------------------------------------------------------------------------------------------

    async def _settle(self, *, notify: bool = False) -> None:
        """Apply the current wishes. `notify`: no client waits, so a failure becomes a notice."""
        async with self._one:
            self._error = None
            if not self._wanted and not self._holds:
                await self._end()
                return
            port = next((port for port in self._holds if port), self._port)
            if self._server is not None and self._server.port == port:
                return
            await self._end()
            try:
                await self._begin(port)
            except SapoError as error:
                self._error = error
                if notify:
                    self._publish(Notice(level="warning", text=error.text, time=time.time()))

    async def _begin(self, port: int) -> None:
        if not self._key:
            await self._load_key()
        server = LocalServer(self._key, self._model)
        try:
            await server.start(port)
        except OSError as error:
            raise UsageError(
                "The local server cannot listen at port {port} ({error}). End the program that uses it, or choose "
                "another port.",
                in_terminal="sapo-desktop settings set serve_port N",
                port=str(port),
                error=error.strerror or str(error),
            ) from error
        self._server = server
        log.info("The local server listens at %s.", server.url)

    async def _end(self) -> None:
        if self._server is not None:
            log.info("The local server stops.")
            await self._server.close()
            self._server = None

    async def _load_key(self) -> None:
        """Raises IdentityError if the keyring stays locked."""
        key = await asyncio.to_thread(server_key.load, self._address)
        if key is None:
            await self._draw_key()
        else:
            self._key, self._kept = key, True

    async def _draw_key(self) -> None:
        """Raises UsageError if the environment sets the key, since another one would not apply."""
        if server_key.given:
            raise UsageError("{variable} in the environment is the key: change it there.", variable=server_key.variable)
        self._key = f"sk-sapo-{secrets.token_urlsafe(32)}"
        try:
            await asyncio.to_thread(server_key.keep, self._address, self._key)
        except IdentityError as error:  # there is no keyring, or it does not open
            self._kept = False
            log.info("The local server's key lasts until this node ends: %s", error)
        else:
            self._kept = True

    @property
    def _address(self) -> str:
        """The name of this folder's key in the keyring."""
        return self._folder.node_id()


__all__ = ["LocalService"]

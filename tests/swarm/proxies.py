"""Minimal proxies of both kinds that tests dial through."""

import asyncio
import base64
import contextlib
import ipaddress
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

HOSTS = {"peer.example": "127.0.0.1"}
"""The names that these proxies know."""


@dataclass
class Proxy:
    """A proxy on 127.0.0.1. `mood`: carry, refuse, nobody there, hang up, garbage or silent."""

    scheme: str
    login: tuple[str, str] | None = None
    mood: str = "carry"
    port: int = 0
    asked: list[tuple[str, int]] = field(default_factory=list)
    """What it was to connect to."""
    connections: int = 0

    def url(self, login: str = "") -> str:
        return f"{self.scheme}://{login}127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with contextlib.suppress(OSError, EOFError), contextlib.closing(writer):
            if self.mood == "garbage":
                writer.write(b"\xff\x00 what?\r\n\r\n" * 100)
                await writer.drain()
            elif self.mood == "silent":
                await reader.read()
            elif self.mood != "hang up":
                await (self._connect if self.scheme == "http" else self._socks)(reader, writer)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        host, _, port = head[0].split()[1].rpartition(":")
        wanted = self.login and "Basic " + base64.b64encode(":".join(self.login).encode()).decode()
        if wanted and f"Proxy-Authorization: {wanted}" not in head:
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        elif self.mood == "refuse":
            writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        elif self.mood == "nobody there":
            writer.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
        else:
            await self._carry(host.strip("[]"), int(port), reader, writer, b"HTTP/1.1 200 OK\r\n\r\n")

    async def _socks(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """RFC 1928 and RFC 1929."""
        _, methods = await reader.readexactly(2)
        await reader.readexactly(methods)
        writer.write(b"\x05\x02" if self.login else b"\x05\x00")
        if self.login:
            await reader.readexactly(1)
            given = [(await reader.readexactly((await reader.readexactly(1))[0])).decode() for _ in range(2)]
            writer.write(b"\x01\x00" if tuple(given) == self.login else b"\x01\x01")
            if tuple(given) != self.login:
                return
        kind = (await reader.readexactly(4))[3]
        if kind == 3:
            host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        else:
            host = str(ipaddress.ip_address(await reader.readexactly(4 if kind == 1 else 16)))
        port = int.from_bytes(await reader.readexactly(2), "big")
        if self.mood == "refuse":
            writer.write(b"\x05\x02\x00\x01" + bytes(6))
        elif self.mood == "nobody there":
            writer.write(b"\x05\x04\x00\x01" + bytes(6))
        else:
            await self._carry(host, port, reader, writer, b"\x05\x00\x00\x01" + bytes(6))

    async def _carry(
        self, host: str, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, yes: bytes
    ) -> None:
        self.asked.append((host, port))
        there = await asyncio.open_connection(HOSTS.get(host, host), port)
        writer.write(yes)
        with contextlib.closing(there[1]):
            await asyncio.gather(copy(reader, there[1]), copy(there[0], writer))


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()


@contextlib.asynccontextmanager
async def proxy(scheme: str, *, login: tuple[str, str] | None = None, mood: str = "carry") -> AsyncIterator[Proxy]:
    """A proxy for as long as it is needed."""
    it = Proxy(scheme, login, mood)
    server = await asyncio.start_server(it.serve, "127.0.0.1", 0)
    it.port = server.sockets[0].getsockname()[1]
    try:
        yield it
    finally:
        server.close()

"""NATS servers for tests: the system's `nats-server`, on ports of this computer."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

PROGRAM = shutil.which("nats-server") or shutil.which("nats-server", path="/usr/sbin:/usr/local/sbin") or "nats-server"


class Server:
    """One server that can be stopped, killed and started again at its port."""

    def __init__(self, folder: Path, name: str = "nats", *words: str, config: str = "") -> None:
        self.port = free_port()
        self._words = [PROGRAM, "-a", "127.0.0.1", "-p", str(self.port), "--name", name, *words]
        if config:
            path = folder / f"{name}.conf"
            path.write_text(config)
            self._words += ["-c", str(path)]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    def start(self) -> "Server":
        self._process = subprocess.Popen(self._words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return self

    def send(self, number: int) -> None:
        assert self._process is not None
        os.kill(self._process.pid, number)

    def kill(self) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self.send(signal.SIGKILL)
            self._process.wait()
            self._process = None


def cluster(folder: Path, size: int) -> list[Server]:
    """Servers that know of each other, not started yet."""
    ports = [free_port() for _ in range(size)]
    routes = ",".join(f"nats://127.0.0.1:{port}" for port in ports)
    return [
        Server(folder, f"nats-{n}", "--cluster_name", "t", "--cluster", f"nats://127.0.0.1:{port}", "--routes", routes)
        for n, port in enumerate(ports)
    ]


@contextlib.contextmanager
def running(*servers: Server) -> Iterator[None]:
    try:
        for server in servers:
            server.start()
        yield
    finally:
        for server in servers:
            server.kill()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port

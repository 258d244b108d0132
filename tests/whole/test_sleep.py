"""A whole node on a computer that goes to sleep: a real bus, and a service on it that stands in for logind."""

import asyncio
import contextlib
import os
import select
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from jeepney import DBusAddress, HeaderFields, Message, new_method_return, new_signal
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection

from tests.whole.nodes import PATIENCE, finished, played, until, wait_gone, worker, write_no_more_today

NAME, PATH = "org.freedesktop.login1", "/org/freedesktop/login1"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.allowed_skip("D-Bus is what Linux desktops have"),
    pytest.mark.skipif(not shutil.which("dbus-daemon"), reason="dbus-daemon is not installed"),
]


@contextlib.contextmanager
def a_bus() -> Iterator[str]:
    """Its address."""
    command = ["dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address=1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as daemon:
        assert daemon.stdout is not None
        try:
            yield daemon.stdout.readline().strip()
        finally:
            daemon.terminate()


class Logind:
    """Holds a sleep back for who asks for it, and sends the computer there."""

    def __init__(self, address: str) -> None:
        self._connection = open_dbus_connection(address, enable_fds=True)
        self._connection.send_and_get_reply(message_bus.RequestName(NAME))
        self._held = -1
        self.asked = threading.Event()
        threading.Thread(target=self._serve, daemon=True).start()

    def begins_to_sleep(self) -> None:
        """Returns when nobody holds it back any more."""
        self.asked.clear()
        self._say(True)
        assert select.select([self._held], [], [], PATIENCE)[0], "it is never let go"

    def wakes(self) -> None:
        self._say(False)

    def _say(self, sleeps: bool) -> None:
        sender = DBusAddress(PATH, interface=f"{NAME}.Manager")
        self._connection.send(new_signal(sender, "PrepareForSleep", "b", (sleeps,)))

    def _serve(self) -> None:
        with contextlib.suppress(ConnectionResetError):  # the bus ends with the test
            while True:
                message: Message = self._connection.receive()
                if message.header.fields.get(HeaderFields.member) == "Inhibit":
                    self._held, theirs = os.pipe()
                    self._connection.send(new_method_return(message, "h", (theirs,)))
                    os.close(theirs)
                    self.asked.set()


async def test_what_was_learned_is_on_disk_before_the_computer_sleeps_and_the_node_goes_on_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with a_bus() as address:
        monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", address)
        logind = Logind(address)
        write_no_more_today(tmp_path)
        client = await worker(tmp_path, 100)
        for number, night in ((2, "first"), (5, "last")):
            await until(client, finished(number))
            assert await asyncio.to_thread(logind.asked.wait, PATIENCE), f"nothing holds the {night} sleep back"
            await asyncio.to_thread(logind.begins_to_sleep)
            if night == "first":
                logind.wakes()
        psutil.Process(client.worker_pid).kill()  # its battery was empty before the morning
        wait_gone(client.worker_pid)
        await client.close()
        kept = max(int(path.name) for path in (tmp_path / "checkpoints").iterdir() if path.name.isdigit())
        assert kept >= 5
        assert [report.round for report in await played(tmp_path, 1)] == list(range(1, kept + 2))

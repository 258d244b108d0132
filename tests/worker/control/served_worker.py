"""A small worker process for the tests of clients: lock and control channel, no node.

`python served_worker.py --data DIR MODE`; it stands in for sapo_desktop.worker.main and takes the place of
its module.
"""

import asyncio
import sys
from pathlib import Path

from sapo_desktop.core.errors import SapoError, UsageError
from sapo_desktop.core.link.requests import Message, Request
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.worker.control.channel import Client, ControlServer
from sapo_desktop.worker.control.lock import FolderLock
from sapo_desktop.worker.control.messages.asking import Ask, Asked
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.events import Stopping
from sapo_desktop.worker.control.messages.requests import GetSettings, Quit


async def serve(folder: DataFolder) -> None:
    ending = asyncio.Event()

    owners = 0

    def attached(client: Client, owner: bool) -> None:
        nonlocal owners
        owners += owner

    async def handle(client: Client, request: Request) -> Message:
        if "fail" in sys.argv:
            ending.set()
            await asyncio.sleep(60)  # it ends first, and answers nobody
        match request:
            case Quit():
                ending.set()
            case GetSettings():
                raise UsageError("No settings here.")
            case Ask(question="owners?"):
                return Asked(text=str(owners), tokens=1, seconds=0.1)
            case Ask(question=question):
                return Asked(text=question, tokens=1, seconds=0.1)
        return Ok()

    server = ControlServer(folder.control, handle, attached, lambda client, owner: None)
    await server.start()
    await ending.wait()
    if "fail" not in sys.argv:  # otherwise no client was there yet
        server.publish(Stopping(failed=False, reason="Stopped as requested."))
    await server.close()
    if "fail" in sys.argv:
        raise UsageError("The model does not fit the settings.")


def main() -> int:
    if "break" in sys.argv:
        print("the reason is here")
        return 3
    if "explain" in sys.argv:
        print("SapoError: The starter is missing.", file=sys.stderr)
        return 1
    folder = DataFolder.open(Path(sys.argv[sys.argv.index("--data") + 1]))
    try:
        with FolderLock(folder):
            asyncio.run(serve(folder))
    except SapoError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())

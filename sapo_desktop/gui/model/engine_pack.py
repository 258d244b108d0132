"""The engine pack of an installed application: offered if it is missing, or if another one fits the current graphics
card; installed by a process that can be stopped."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path
from queue import SimpleQueue

from sapo_desktop.gui.widgets.buttons import Button
from sapo_desktop.gui.widgets.files import ask_folder
from sapo_desktop.gui.widgets.layout import Card, Flow, holding
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.widgets.timers import timer
from sapo_desktop.gui.words.language import tr
from sapo_desktop.system import installation, processes
from sapo_desktop.system.hardware import other_engine
from sapo_desktop.system.logs import last_lines, open_log

_LOOK_MS = 500


class EnginePackCard(Card):
    """Visible only in an installed application without the pack, or whose card or driver changed."""

    def __init__(self, log: Path | None = None) -> None:
        """`log`: for the process's output; usually next to the pack."""
        super().__init__(tr("Learning"))
        self._log = log or installation.engine_folder().with_name("engine.log")
        self._process: subprocess.Popen[bytes] | None = None
        self._since = 0
        self._other: str | None = None
        self._answers: SimpleQueue[str | None] = SimpleQueue()
        about = tr(
            "The app can already answer. To learn, it needs PyTorch: a download of 200 MB that takes 1 "
            "GB of disk, or several GB with a usable NVIDIA card. You can stop the download and continue "
            "later."
        )
        self._about = Label(about)
        self._said = Label("", "muted")
        self.get = Button(tr("Get the engine pack"), self.start, kind="primary", icon="download")
        self.take = Button(tr("Install from a folder"), self._take, icon="folder")
        self.stop = Button(tr("Stop"), self._stop, icon="stop")
        self.add(self._about, self._said, holding(Flow(self.get, self.take, self.stop)))
        self._looking = timer(self, _LOOK_MS, self._look)
        self._asking = timer(self, _LOOK_MS, self._heed)
        self._show()
        if installation.payload() is not None:  # otherwise there is nothing to exchange
            # In a thread, because the card's driver is slow; it touches no widget, so this card may be deleted
            # meanwhile.
            answers = self._answers
            threading.Thread(target=lambda: answers.put(other_engine()), name="card's driver", daemon=True).start()
            self._asking.start()

    def _heed(self) -> None:
        """Show the answer of the card's driver."""
        if self._answers.empty():
            return
        self._asking.stop()
        self._other = self._answers.get()
        if self._other is not None:
            about = tr(
                "This computer's graphics card or its driver changed, so another PyTorch fits now ({kind}). "
                "The download is several GB with a usable NVIDIA card, otherwise 200 MB. Until then the "
                "current one stays in use."
            )
            self._about.setText(about.format(kind=self._other))
            self._show()

    def start(self, source: str = "") -> None:
        """Install it, or continue; `source`: a folder to take it from."""
        line = [*processes.python_command("installers.engine_pack"), "install", str(installation.engine_folder())]
        line += ["--started"]  # it ends with us: nobody else could stop it
        line += ["--from", source] if source else []
        with open_log(self._log) as log:
            self._since = log.tell()
            self._process = subprocess.Popen(
                line,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=processes.python_environment({}),
                **processes.group_options(),
            )
        self._looking.start()
        self._show()

    def _take(self) -> None:
        if folder := ask_folder(self, tr("A folder filled by `sapo-desktop engine fetch`")):
            self.start(folder)

    def _stop(self) -> None:
        if self._process is not None:
            processes.kill_tree(self._process.pid)  # complete packages are kept

    def _look(self) -> None:
        if self._process is None:
            return
        code = self._process.poll()
        if code is None:
            self._said.setText(last_lines(self._log, self._since, lines=1))
            return
        self._looking.stop()
        self._process.communicate()  # closes its input
        self._process = None
        if code == 0:
            self._said.setText(
                tr("The engine pack is installed. Quit and start the app again, and this computer can learn.")
            )
        elif code < 0:
            self._said.setText(tr("Stopped. The downloaded part is kept."))
        else:
            self._said.setText(last_lines(self._log, self._since, lines=3))
        self._show(done=code == 0)

    def _show(self, done: bool = False) -> None:
        at_work = self._process is not None
        missing = installation.payload() is not None and (not installation.can_learn() or self._other is not None)
        self.setVisible(missing or at_work or done)
        for button in (self.get, self.take):
            button.setVisible(not at_work and not done)
        self.stop.setVisible(at_work)

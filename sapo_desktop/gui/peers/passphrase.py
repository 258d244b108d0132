"""Requests that may need a passphrase: first sent without one, then with the one that a person types."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from sapo_desktop.core.errors import IdentityError, PassphraseNeeded, SapoError
from sapo_desktop.core.link.requests import ReplyType, Request
from sapo_desktop.gui.link.bridge import Answer, Bridge, Failure
from sapo_desktop.gui.widgets.buttons import Button
from sapo_desktop.gui.widgets.dialog import Sheet
from sapo_desktop.gui.widgets.forms import labelled, line
from sapo_desktop.gui.widgets.notes import Banner
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words


class PassphraseSheet(Sheet):
    """Asks for a passphrase, a new one twice, and passes it on until it is accepted."""

    def __init__(self, parent: QWidget, title: str, about: str, send: Callable[[str], None], *, new: bool) -> None:
        super().__init__(parent, title, about)
        self._send, self._new = send, new
        self._trouble = Banner(tone="danger")
        self._first, self._second = line(secret=True, longest=500), line(secret=True, longest=500)
        self.add(self._trouble, labelled(tr("Passphrase"), self._first))
        if new:
            self.add(labelled(tr("Repeat it"), self._second))
        self.ok = Button(tr("Continue"), self._try, kind="primary")
        self.add_buttons(Button(tr("Cancel"), self.reject), self.ok)
        self._first.setFocus()

    def trouble(self, text: str) -> None:
        """It was refused; another one can be typed."""
        self._trouble.say(text)
        self.ok.setEnabled(True)
        self._first.selectAll()
        self._first.setFocus()

    def _try(self) -> None:
        text = self._first.text()
        if not text:
            self.trouble(tr("Enter the passphrase first."))
        elif self._new and text != self._second.text():
            self.trouble(tr("The two passphrases differ. Enter the same one twice."))
        else:
            self.ok.setEnabled(False)
            self._send(text)


def with_passphrase(
    owner: QWidget,
    bridge: Bridge,
    make: Callable[[str | None], Request[ReplyType]],
    then: Answer[ReplyType],
    failed: Failure,
    *,
    new: bool = False,
    given_up: Callable[[], object] | None = None,
) -> None:
    """Send the request; if it needs a passphrase, ask for one and send it again. `new`: it will protect something;
    `given_up`: called if none is typed."""
    sheet: PassphraseSheet | None = None

    def done(reply: ReplyType) -> None:
        if sheet is not None:
            sheet.accept()
        then(reply)

    def refused(error: SapoError) -> None:
        nonlocal sheet
        if sheet is not None and isinstance(error, IdentityError):
            sheet.trouble(in_words(error))
        elif sheet is not None:
            sheet.reject()  # the passphrase was right; the failure has another reason
            failed(error)
        elif isinstance(error, PassphraseNeeded):
            sheet = PassphraseSheet(owner, tr("A passphrase is needed"), in_words(error), send, new=new)
            if given_up is not None:
                sheet.rejected.connect(given_up)
            sheet.open()
        else:
            failed(error)

    def send(passphrase: str) -> None:
        assert sheet is not None
        bridge.ask(make(passphrase), done, refused, of=sheet)

    bridge.ask(make(None), done, refused, of=owner)

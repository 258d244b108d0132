"""How a worker names the error that it ends with before its channel answers: in the last lines of its log.

    told as data: {"kind":"ModelError","text":{"type":"Sentence",...}}
    ModelError: There is no model 'x': ...

Whoever started it reads the first line, so that the error can be said in another language too; the second one is for
people, and for where the first was cut off.
"""

from __future__ import annotations

import re

import msgspec

from sapo_desktop.core.errors import SapoError, error_class
from sapo_desktop.core.records import Record
from sapo_desktop.core.sentences import Text

_DATA = "told as data: "
_NAMED_ERROR = re.compile(r"^([A-Z]\w+): (.+)\Z", re.MULTILINE | re.DOTALL)


class _Told(Record, frozen=True, kw_only=True):
    kind: str
    text: Text


def last_words(error: SapoError) -> str:
    """Both lines."""
    kind = type(error).__name__
    told = msgspec.json.encode(_Told(kind=kind, text=error.text)).decode()
    return f"{_DATA}{told}\n{kind}: {error}"


def named_error(said: str) -> SapoError | None:
    """The error that the end of a log names; None where it names none of ours."""
    for line in reversed(said.splitlines()):
        if line.startswith(_DATA):
            try:
                told = msgspec.json.decode(line.removeprefix(_DATA), type=_Told)
            except msgspec.DecodeError:
                break  # cut off
            return error_class(told.kind)(told.text)
    named = _NAMED_ERROR.search(said)
    if named is not None and (named[1] == SapoError.__name__ or error_class(named[1]) is not SapoError):
        return error_class(named[1])(named[2].strip())
    return None

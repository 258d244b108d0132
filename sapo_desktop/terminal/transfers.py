"""How far a download or import is: the last line in a terminal, a line now and then in a pipe, JSON lines where asked
for."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator

from sapo_desktop.core.models import Stage, Transfer
from sapo_desktop.core.plain_text import one_line
from sapo_desktop.terminal.output import Output
from sapo_desktop.terminal.wording import duration, percent, size

_SECONDS_BETWEEN = 10.0
"""Between two plain lines of one stage."""
_STAGES: dict[Stage, str] = {
    "asking": "asking the hub",
    "checking": "checking existing files",
    "fetching": "downloading",
    "waiting": "waiting",
    "copying": "copying",
    "finishing": "checking the model",
}
Show = Callable[[Transfer], None]


@contextlib.contextmanager
def open_transfers(out: Output, model: str) -> Iterator[Show]:
    """What suits `out`, shown while the context is open."""
    if out.json_lines:
        yield _json(out, model)
    elif out.has_last_line:
        try:
            yield lambda transfer: out.passing(transfer_line(transfer))
        finally:
            out.wipe()
    else:
        yield _Lines(out)


def transfer_line(transfer: Transfer) -> str:
    """`downloading model.safetensors: 41%, 1.2 of 2.9 GB, 12 MB/s, 2m 10s left`."""
    if transfer.stage == "waiting":
        return one_line(str(transfer.text))
    words = f"{_STAGES[transfer.stage]} {transfer.file}".rstrip()
    if not transfer.total:
        return words
    parts = [percent(transfer.done / transfer.total), f"{size(transfer.done)} of {size(transfer.total)}"]
    if transfer.speed:
        parts.append(f"{size(transfer.speed)}/s")
    if transfer.left is not None:
        parts.append(f"{duration(transfer.left)} left")
    return f"{words}: {', '.join(parts)}"


def _json(out: Output, model: str) -> Show:
    def show(transfer: Transfer) -> None:
        out.emit(
            "download",
            model=model,
            stage=transfer.stage,
            file=transfer.file,
            done=transfer.done,
            total=transfer.total,
            speed=round(transfer.speed),
            left=None if transfer.left is None else round(transfer.left),
            text=str(transfer.text),
        )

    return show


class _Lines:
    """A line when the stage changes, and every few seconds."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._stage: Stage | None = None
        self._told = float("-inf")

    def __call__(self, transfer: Transfer) -> None:
        now = time.monotonic()
        if transfer.stage != self._stage or now - self._told >= _SECONDS_BETWEEN:
            self._stage, self._told = transfer.stage, now
            self._out.warn(transfer_line(transfer))

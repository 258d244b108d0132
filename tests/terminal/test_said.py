"""The worker's sentences are English in a terminal, and plain strings in JSON lines."""

import io
import json

from sapo_desktop.core.fitting import Available
from sapo_desktop.core.sentences import sentence
from sapo_desktop.terminal.output import Output
from sapo_desktop.terminal.views import emit_event
from sapo_desktop.view.fields import fields
from sapo_desktop.worker.control.messages.events import SwarmChanged
from sapo_desktop.worker.control.messages.facts import Notice

SAID = sentence("Linked to {count} peers.", count=1200)


def test_json_lines_have_the_english() -> None:
    out = Output(json_lines=True, stdout=io.StringIO(), stderr=io.StringIO())
    emit_event(out, Notice(level="info", text=SAID))
    emit_event(out, SwarmChanged(state="linked", reason=SAID, peers=1200))
    lines = [json.loads(line) for line in out.stdout.getvalue().splitlines()]  # type: ignore[attr-defined]
    assert [line.get("text") or line.get("reason") for line in lines] == ["Linked to 1,200 peers."] * 2


def test_notes_on_memory_are_strings_in_json() -> None:
    made = fields(Available(memory=1, memory_free=1, device="cpu", notes=(SAID, "as it is")))
    assert list(made["notes"]) == ["Linked to 1,200 peers.", "as it is"]  # type: ignore[arg-type]

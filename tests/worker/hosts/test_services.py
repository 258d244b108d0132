"""The table of kinds leads to real modules, and the worker can read their messages without their heavy
libraries."""

import subprocess
import sys

import pytest

from sapo_desktop.system.processes import python_environment
from sapo_desktop.worker.hosts.services import KINDS, decoder, find, kind_of_service

LIGHT = """
import sys
from sapo_desktop.worker.hosts.services import KINDS, decoder
for kind in KINDS.values():
    decoder(kind.request), decoder(kind.reply), decoder(kind.progress)
print([name for name in ("torch", "transformers", "peft", "reasoning_gym") if name in sys.modules])
"""


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_kinds_messages_exist(kind: str) -> None:
    assert KINDS[kind].name == kind
    for path in (KINDS[kind].request, KINDS[kind].reply):
        assert find(path) is not None


def test_messages_load_nothing_heavy() -> None:
    done = subprocess.run([sys.executable, "-c", LIGHT], env=python_environment({}), capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_a_kind_without_progress_reads_none() -> None:
    assert decoder(None).decode(b"\xc0") is None
    with pytest.raises(ValueError):
        decoder(None).decode(b"\x01")


def test_a_service_outside_the_table_names_its_messages() -> None:
    kind = kind_of_service("somewhere.tiny:create")
    assert (kind.name, kind.reply, kind.progress) == ("tiny", "somewhere.tiny:REPLY", "somewhere.tiny:PROGRESS")

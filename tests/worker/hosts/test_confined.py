"""A host that evaluates its input, confined like the product's: real processes, real attempts."""

import sys
from pathlib import Path

import pytest

from sapo_desktop.worker.hosts.protocol import KINDS
from tests.attack.node.escape import REACHING, READING, SERVICES, WRITING, escapes, services

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux forbids it below Python")


@LINUX
@pytest.mark.parametrize("landlock", [None, 2], ids=["as it is", "as on Debian 12"])
@pytest.mark.parametrize("card", [False, True], ids=["without a card", "with a card"])
async def test_nothing_gets_out_of_a_marker_that_evaluates_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, landlock: int | None, card: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    said = await escapes(tmp_path, landlock, card=card)
    assert [what for what, how in said.items() if how == "done"] == []
    assert not any("SyntaxError" in how or "NameError" in how for how in said.values()), "each was really tried"


def test_the_same_attempts_succeed_where_nothing_is_forbidden(tmp_path: Path) -> None:
    for name in ("a file", "more into a file that is there", "nothing in place of a file", "no file where one was"):
        (tmp_path / "kept").write_text("kept")
        eval(WRITING[name].format(outside=str(tmp_path)))
    assert [file.name for file in tmp_path.iterdir()] == ["left"]
    (tmp_path / "kept").write_text("kept")
    (tmp_path / "inside").mkdir()
    for text in [text for name, text in READING.items() if "secret" not in name and "open before" not in name]:
        eval(text.format(outside=str(tmp_path), inside=str(tmp_path / "inside")))


@LINUX
def test_the_services_that_it_tries_to_reach_can_be_reached() -> None:
    """Where nothing is forbidden; an attempt that fails raises."""
    reached = []
    with services() as addresses:
        for name, text in REACHING.items():
            if "service" in name:
                eval(text.format(**addresses))
                reached.append(name)
    assert len(reached) == len(SERVICES)


def test_only_what_needs_the_network_is_left_free() -> None:
    assert {name for name, kind in KINDS.items() if kind.network} == {"remote", "librarian"}
    assert {name for name, kind in KINDS.items() if kind.permissions} == {"engine"}, "it exports"

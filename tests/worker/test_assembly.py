"""A node put together: what it has to say before its first round."""

from __future__ import annotations

from pathlib import Path

from sapo_desktop.worker.assembly import _tell
from sapo_desktop.worker.checkpoints import Damaged, Newest
from tests.worker.test_node import SETTINGS, Scene


def test_what_was_damaged_is_said_in_whole_sentences(tmp_path: Path) -> None:
    scene = Scene(tmp_path, SETTINGS, 1e9)
    damaged = Damaged(number=3, reason="cut short", moved_to=tmp_path / "3.damaged")
    _tell(scene.node, "The settings file was damaged.", Newest(checkpoint=None, damaged=[damaged]))
    first, second = scene.notices()
    assert first == "The settings file was damaged."
    assert second.startswith("Checkpoint 3 was damaged (cut short)")
    _tell(scene.node, "", Newest(checkpoint=None, damaged=[]))
    assert len(scene.notices()) == 2
    scene.keeper.history.close()

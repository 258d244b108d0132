"""Settings that this computer cannot keep are refused, and limits without effect are reported."""

from pathlib import Path

import msgspec
import pytest

from sapo_desktop.core.settings import Settings
from sapo_desktop.system import beyond
from sapo_desktop.system.hardware import Gpu

CARD = Gpu("A card", 8 * 10**9, 8 * 10**9, "GPU-1")


@pytest.fixture(autouse=True)
def computer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two cores, 8 GB of memory, no card."""
    monkeypatch.setattr(beyond, "usable_cores", lambda: 2)
    monkeypatch.setattr(beyond, "_memory", lambda: 8 * 10**9)
    monkeypatch.setattr(beyond, "gpus", list)


@pytest.mark.parametrize(
    ("key", "kept", "refused"),
    [
        ("threads", (0, 1, 2), (3, 64)),
        ("device", ("auto", "cpu"), ("cuda",)),
    ],
)
def test_what_this_computer_has_not_is_refused(key: str, kept: tuple[object, ...], refused: tuple[object, ...]) -> None:
    for value in kept:
        assert beyond.beyond(msgspec.structs.replace(Settings(), **{key: value}), [key]) == {}
    for value in refused:
        wrong = msgspec.structs.replace(Settings(), **{key: value})
        assert list(beyond.beyond(wrong, [key])) == [key]
        assert beyond.beyond(wrong, ["theme"]) == {}, "only what is set now is looked at"


def test_a_card_that_is_there_may_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beyond, "gpus", lambda: [CARD])
    for takes in (True, False):
        monkeypatch.setattr(beyond, "torch_takes_cards", lambda takes=takes: takes)
        assert bool(beyond.beyond(Settings(device="cuda"), ["device"])) is not takes


@pytest.mark.parametrize(
    ("key", "fits", "vain"),
    [("memory_most", 4.0, 64.0), ("card_memory_most", 4.0, 64.0), ("disk_gigabytes", 0.001, 99_999.0)],
)
def test_a_limit_above_all_there_is_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, fits: float, vain: float
) -> None:
    monkeypatch.setattr(beyond, "gpus", lambda: [CARD])
    for value in (0.0, fits):
        assert beyond.idle_limits(msgspec.structs.replace(Settings(), **{key: value}), [key], tmp_path / "new") == []
    (said,) = beyond.idle_limits(msgspec.structs.replace(Settings(), **{key: vain}), [key], tmp_path / "new")
    assert key in str(said)

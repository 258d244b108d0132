"""A measurement counts more than a processor's own claims, and only on the computer where it was made."""

from pathlib import Path

import msgspec
import pytest

from sapo_desktop.core.fitting import PassSeconds, ProductTimes
from sapo_desktop.models.fit import formats
from sapo_desktop.models.fit.formats import FILE, bfloat16_computes_faster, remember, remembered, with_measured
from tests.builders import MACHINE


def times(hidden: int, gain: float) -> ProductTimes:
    """Bfloat16 is so many times as fast."""
    slow, fast = PassSeconds(generating=4e-9, learning=2e-9), PassSeconds(generating=4e-9 / gain, learning=2e-9 / gain)
    return ProductTimes(hidden=hidden, float32=slow, bfloat16=fast)


@pytest.mark.parametrize("says_fast", [True, False])
@pytest.mark.parametrize("gain", [0.5, 2.0])
def test_a_processor_that_misreports_itself(says_fast: bool, gain: float) -> None:
    here = msgspec.structs.replace(MACHINE, fast_bfloat16=says_fast)
    assert bfloat16_computes_faster(here, 896) is says_fast, "nothing else is known yet"
    measured = msgspec.structs.replace(here, products=[times(896, gain)])
    assert bfloat16_computes_faster(measured, 896) is (gain > 1)


def test_the_nearest_width_speaks_for_those_that_were_not_measured() -> None:
    here = msgspec.structs.replace(MACHINE, fast_bfloat16=True, products=[times(576, 2.0), times(4096, 0.5)])
    assert [bfloat16_computes_faster(here, hidden) for hidden in (64, 896, 1500, 2048, 8192)] == [
        *(True, True, True),
        *(False, False),
    ]


def test_each_width_is_remembered_once(tmp_path: Path) -> None:
    assert remembered(tmp_path) == []
    remember(tmp_path, times(576, 2.0))
    remember(tmp_path, times(896, 2.0))
    remember(tmp_path, times(576, 0.5))
    assert remembered(tmp_path) == [times(896, 2.0), times(576, 0.5)]
    assert with_measured(MACHINE, tmp_path).products == remembered(tmp_path)
    lately = with_measured(MACHINE, tmp_path / "full disk", [times(64, 2.0)])
    assert list(lately.products) == [times(64, 2.0)]


@pytest.mark.parametrize("changed", ["processor", "fast_bfloat16", "metadata"])
def test_it_holds_for_this_processor_and_this_torch(
    tmp_path: Path, changed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(tmp_path, times(896, 2.0))
    match changed:
        case "processor":
            monkeypatch.setattr(formats, "processor", lambda: "another")
        case "fast_bfloat16":  # the same name in another virtual machine
            says = not formats.fast_bfloat16()
            monkeypatch.setattr(formats, "fast_bfloat16", lambda: says)
        case "metadata":
            monkeypatch.setattr(formats.metadata, "version", lambda name: "0.0")
    assert remembered(tmp_path) == []
    remember(tmp_path, times(576, 2.0))
    assert [each.hidden for each in remembered(tmp_path)] == [576], "what was another's goes"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b'{"processor": "x"}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_what_cannot_be_read_is_measured_again(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    assert remembered(tmp_path) == []
    remember(tmp_path, times(896, 2.0))
    assert remembered(tmp_path) == [times(896, 2.0)]


@pytest.mark.parametrize("wrong", [{"hidden": 0}, {"float32": {"generating": 0.0, "learning": 1.0}}])
def test_figures_that_cannot_be_are_not_believed(tmp_path: Path, wrong: dict[str, object]) -> None:
    remember(tmp_path, times(896, 2.0))
    kept = msgspec.json.decode((tmp_path / FILE).read_bytes())
    kept["measured"][0] |= wrong
    (tmp_path / FILE).write_bytes(msgspec.json.encode(kept))
    assert remembered(tmp_path) == []

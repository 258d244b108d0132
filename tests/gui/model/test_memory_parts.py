import msgspec

from sapo_desktop.core.fitting import Available, Fit, Parts, Way
from sapo_desktop.gui.model.memory_parts import PART_NAMES, PIECES, Piece, bars, part_rows, pieces, scale
from tests.gui.staged_model import a_fit

_PARTS = Parts(weights=100, adapter=1, optimiser=2, gradients=3, activations=40, logits=5, runtime=20, reserve=50)


def _way(memory: Parts, card: Parts | None = None) -> Way:
    there = Parts() if card is None else card
    device = "cpu" if card is None else "cuda"
    return msgspec.structs.replace(a_fit().chosen, device=device, memory=memory, device_memory=there)


def _fit(*ways: Way) -> Fit:
    here = Available(memory=900, memory_free=400, device="cpu", device_memory=300, device_memory_free=250)
    return Fit(available=here, chosen=ways[-1], ways=list(ways), bigger=[])


def test_parts_are_put_together_and_none_is_lost() -> None:
    made = pieces(_PARTS)
    assert made == (
        Piece("weights", 100),
        Piece("learning", 6),
        Piece("work", 45),
        Piece("program", 20),
        Piece("reserve", 50),
    )
    everything = Parts(**dict.fromkeys(PART_NAMES, 7))
    assert sum(piece.bytes for piece in pieces(everything)) == everything.total
    assert [piece.name for piece in pieces(everything)] == list(PIECES)


def test_a_card_gets_a_bar_of_its_own() -> None:
    alone, with_card = _way(_PARTS), _way(Parts(runtime=9), Parts(weights=200))
    made = bars(_fit(alone, with_card))
    assert [(bar.on_card, bar.takes, bar.free) for bar in made] == [
        (False, 221, 400),
        (True, 200, 250),
        (False, 9, 400),
    ]
    assert scale(made) == 400


def test_what_is_too_big_sets_the_scale() -> None:
    assert scale(bars(_fit(_way(Parts(weights=5000))))) == 5000
    assert scale([]) == 1


def test_the_table_has_every_part_and_the_sum() -> None:
    rows = dict(part_rows(_fit(_way(_PARTS), _way(Parts(runtime=9), Parts(weights=200)))))
    assert rows["weights"] == [100, 200] and rows["runtime"] == [20, 9]
    assert rows["total"] == [221, 209]
    assert "kv_cache" not in rows

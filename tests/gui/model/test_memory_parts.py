import msgspec

from sapo_desktop.core.fitting import Available, Fit, Parts, Way
from sapo_desktop.gui.model.memory_parts import bars, pieces, scale
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
    assert list(pieces(_PARTS).items()) == [
        ("weights", 100), ("learning", 6), ("work", 45), ("program", 20), ("reserve", 50)
    ]  # fmt: skip
    everything = Parts(**dict.fromkeys(Parts.__struct_fields__, 7))
    assert sum(pieces(everything).values()) == everything.total


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

"""What `kills` and `faults` count."""

from tests.attack.node.kills import played_again


def test_rounds_that_come_again_are_kept_apart_from_those_that_had_no_checkpoint() -> None:
    events = [("round", 1), ("checkpoint", 1), ("round", 2), ("round", 2), ("checkpoint", 2), ("round", 3)]
    assert played_again({"event": kind, "round": number} for kind, number in events) == 0
    events += [("checkpoint", 3), ("round", 2), ("checkpoint", 2), ("round", 3), ("round", 4)]
    assert played_again({"event": kind, "round": number} for kind, number in events) == 2

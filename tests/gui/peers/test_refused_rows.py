from sapo_desktop.gui.peers.refused_rows import Refusal, refusals

_REFUSED = {
    "ignored": {"duplicate": 40, "too_old": 0},
    "invalid": {"malformed": 2, "bad_signature": 9},
    "unverifiable": {"other_question": 3},
}


def test_the_graver_kind_comes_first_and_in_it_the_more_frequent() -> None:
    assert refusals(_REFUSED) == [
        Refusal("invalid", "bad_signature", 9),
        Refusal("invalid", "malformed", 2),
        Refusal("unverifiable", "other_question", 3),
        Refusal("ignored", "duplicate", 40),
    ]


def test_kinds_and_reasons_of_a_newer_worker_are_shown_too() -> None:
    assert refusals({"odd": {"strange": 1}, "ignored": {"busy": 1}})[-1] == Refusal("odd", "strange", 1)

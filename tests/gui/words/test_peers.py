from sapo_desktop.gui.words import peers as peer_words
from sapo_desktop.worker.control.messages.replies import PosedQuestion


def test_keys_are_short_in_tables() -> None:
    assert peer_words.short_key("ab" * 32) == "abababab…"
    assert peer_words.short_key("") == "–"


def _posed(shared: bool) -> PosedQuestion:
    return PosedQuestion(
        id="1", task="gcd/easy", title="", question="", form="", shared=shared, where="", seconds=600.0
    )


def test_where_an_answer_goes_is_said_with_the_reason() -> None:
    assert "cannot be withdrawn" in peer_words.destination(_posed(True), silo=False, share=True)
    assert "In silo" in peer_words.destination(_posed(False), silo=True, share=True)
    assert "Sharing is off" in peer_words.destination(_posed(False), silo=False, share=False)
    assert "stays on this computer" in peer_words.destination(_posed(False), silo=False, share=True)

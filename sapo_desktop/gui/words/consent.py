"""What a person reads before answers are published, in its language; core/consent.py has the same in English."""

from __future__ import annotations

from sapo_desktop.gui.words.language import tr


def paragraphs() -> list[str]:
    """As WHAT_IS_PUBLISHED of core/consent.py, sentence by sentence; a test holds the two together."""
    return [
        tr(
            "Sharing publishes, under this node's key, the answers that its model gives, and those that you type "
            "where it asks you a question (it says so each time): a random number of this installation, the name of "
            "the task, the time in steps of ten minutes, the texts, and the setting `label` if you gave one. No "
            "question of yours, no file and no other name is among them."
        ),
        tr(
            "They are placed in the public domain (CC0), anybody may keep and pass them on, and they cannot be called "
            "back."
        ),
        tr(
            "Whoever this node links to sees its internet address beside its key, and is told its round, its mean "
            "reward, and how many of their answers it used."
        ),
        tr(
            "Sharing can be ended at any time. A new identity, with a new random number, cuts the tie to what was "
            "shared."
        ),
    ]

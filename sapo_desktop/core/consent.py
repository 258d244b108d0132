"""What it means to publish answers, for whoever asks a person to consent; how it is done, each client says itself."""

from __future__ import annotations

WHAT = (
    "Sharing publishes, under this node's key, the answers that its model gives, and those that you type where it asks "
    "you a question (it says so each time): a random number of this installation, the name of the task, the time in "
    "steps of ten minutes, the texts, and the setting `label` if you gave one. No question of yours, no file and no "
    "other name is among them."
)
FOR_GOOD = (
    "They are placed in the public domain (CC0), anybody may keep and pass them on, and they cannot be called back."
)
WHO_SEES = (
    "Whoever this node links to sees its internet address beside its key, and is told its round, its mean reward, and "
    "how many of their answers it used."
)
HOW_IT_ENDS = (
    "Sharing can be ended at any time. A new identity, with a new random number, cuts the tie to what was shared."
)
WHAT_IS_PUBLISHED = (WHAT, FOR_GOOD, WHO_SEES, HOW_IT_ENDS)
"""All that has to be read before consent is given, a paragraph each."""

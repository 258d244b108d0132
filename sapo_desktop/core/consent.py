"""What leaves a computer, and what it means to publish answers: one text for all who say it (docs/protocol.md has the
fields). How consent is given, each client says itself."""

from __future__ import annotations

IN_SILO = "In silo nothing leaves this computer."
SEEN = (
    "In the swarm, the computers to which this node links see its internet address, its key, the version of the "
    "program and the time of its clock. They are told which tasks it knows and wants answers for, its round, its mean "
    "reward, how many of their answers it used, and a label if you gave yourself one. If you announce an address "
    "(`announce`), others pass it on."
)
PUBLISHED = (
    "If you share, the node publishes the answers of its model under its key, and those that you type where it asks "
    "you a question (it says so each time). With them go the number of tokens, the name of the task, a hash and the "
    "number of the question, the time in steps of ten minutes, and a random number of this installation."
)
NEVER = "Never sent: the words of a question, the right answer, the mark of an answer, your name, your files."
FOR_GOOD = (
    "What is published is in the public domain (CC0): anybody may keep it and pass it on, and it cannot be called back."
)
HOW_IT_ENDS = (
    "Sharing can be ended at any time. A new identity, with a new random number, cuts the tie to what was shared."
)
SEEN_IN_SHORT = (
    "In the swarm, the computers to which this one links see its internet address and how far it has learned."
)
IN_SHORT = (SEEN_IN_SHORT, "If you share, the answers of its model are published, and cannot be called back.", NEVER)
"""Three lines for who is about to read all of it, or can with a click."""
WHAT_LEAVES = (IN_SILO, SEEN, PUBLISHED, NEVER)
WHAT_IS_PUBLISHED = (SEEN, PUBLISHED, NEVER, FOR_GOOD, HOW_IT_ENDS)
"""All that has to be read before consent is given, a paragraph each."""

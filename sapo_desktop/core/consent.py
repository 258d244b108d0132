"""What leaves a computer, and what it means to publish answers.

All clients show this one text (docs/protocol.md has the fields). How a user gives consent is up to each client.
"""

from __future__ import annotations

IN_SILO = "In silo, nothing leaves this computer."
SEEN = (
    "In the swarm, the computers that your node connects to see its internet address, its key (a public name), "
    "the app's version and its clock. They also see its round, its average reward, which tasks it knows and wants "
    "answers for, and how many of their answers it used. If you chose a label, they see it too. If you announce an "
    "address (`announce`), others pass it on."
)
PUBLISHED = (
    "If you share, the node publishes your model's answers under its key. It also publishes "
    "answers that you type when it asks you a question, and says so each time. Each answer comes "
    "with its number of tokens, the name of the task, a hash and the number of the question. The "
    "time in steps of ten minutes and a random number of this installation are included too."
)
NEVER = "Never sent: the text of a question, the right answer, the result of scoring, your name, your files."
FOR_GOOD = (
    "What is published is in the public domain (CC0): anyone may keep it and pass it on, and it cannot be withdrawn."
)
HOW_IT_ENDS = (
    "You can stop sharing at any time. A new identity, with a new random number, breaks the "
    "connection to what you shared before."
)
SEEN_IN_SHORT = (
    "In the swarm, the computers that this one links to see its internet address and how far it has learned."
)
IN_SHORT = (SEEN_IN_SHORT, "If you share, your model's answers are published and cannot be withdrawn.", NEVER)
"""Three lines for a reader who sees the full text next, or can open it with a click."""
WHAT_LEAVES = (IN_SILO, SEEN, PUBLISHED, NEVER)
WHAT_IS_PUBLISHED = (SEEN, PUBLISHED, NEVER, FOR_GOOD, HOW_IT_ENDS)
"""Everything to read before giving consent, a paragraph each."""

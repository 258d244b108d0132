"""What a volunteer reached: a few sentences, newest kinds last. No Qt."""

from __future__ import annotations

from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.view.viewmodel import View


def milestones(view: View) -> list[Text]:
    """Rounds and helped computers by the last power of ten, and the first hard question that was learned."""
    found: list[Text] = []
    rounds, helped = _reached(view.finished, 10), _reached(view.swarm.helped if view.swarm else 0, 1)
    if rounds:
        found.append(sentence("{count} rounds finished", count=rounds))
    if view.learned is not None and view.learned.task.endswith("/hard"):
        found.append(sentence("Your model learned to answer a hard question"))
    if helped and not view.silo:
        found.append(
            sentence("Your answers helped {count} computers", count=helped)
            if helped > 1
            else sentence("Your answers helped another computer")
        )
    return found


def _reached(count: int, least: int) -> int:
    """The largest power of ten up to `count`; 0 below `least`."""
    return 0 if count < least else 10 ** (len(str(count)) - 1)

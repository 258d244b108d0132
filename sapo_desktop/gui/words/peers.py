"""What the Peers page says: keys, directions, where the identity is kept."""

from __future__ import annotations

from sapo_desktop.core.plain_text import one_line
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.worker.control.messages.replies import PosedQuestion
from sapo_desktop.worker.control.messages.swarm import LinkInfo, SwarmInfo

KEY_SHOWN = 8
"""First digits of a key, which tell peers apart well enough to be read."""


def short_key(key: str) -> str:
    """A key as a table shows it."""
    shown = one_line(key, KEY_SHOWN)
    return f"{shown}…" if len(key) > KEY_SHOWN else shown or numbers.NOTHING


def thanks(swarm: SwarmInfo | None) -> tuple[str, str]:
    """Whom this node's answers helped, and that it is their word."""
    helped, used = (swarm.helped, swarm.used_total) if swarm is not None else (0, 0)
    if not helped:
        return numbers.NOTHING, tr("nobody has said so yet")
    groups = tr("by their own word: %n group(s) used", None, used)
    return tr("%n computer(s)", None, helped), groups


def direction(link: LinkInfo) -> str:
    """Who dialled whom."""
    return tr("I dialled") if link.dialled else tr("it dialled")


def per_second(rate: float | None) -> str:
    """`1.2 KB/s`."""
    return numbers.NOTHING if rate is None else tr("{size}/s").format(size=numbers.size(rate))


def milliseconds(value: float | None) -> str:
    """`38 ms`."""
    return numbers.NOTHING if value is None else tr("{number} ms").format(number=numbers.number(value, 0))


def kept_words(kept: str) -> str:
    """Where the secret half of this node's key is."""
    return {
        "keyring": tr("Its secret half is in this computer's keyring."),
        "file": tr("Its secret half is in a file that your passphrase closes."),
        "session": tr("Its secret half is kept nowhere: this identity ends with the node."),
    }.get(kept, tr("There is none yet. It is made when the node first joins the swarm."))


def destination(posed: PosedQuestion, *, silo: bool, share: bool) -> str:
    """Where a person's answer to this question goes; said before it is given."""
    if posed.shared:
        return tr(
            "Your answer is published with the model's beside it, under this node's key, in the public domain (CC0): "
            "anybody may keep it and pass it on, and it cannot be called back."
        )
    stays = tr("Your answer stays on this computer, where the model learns from it.")
    if silo:
        why = tr("In silo nothing leaves it.")
    elif not share:
        why = tr("Sharing is switched off.")
    else:
        why = tr("This one is not shared.")
    return f"{stays} {why}"

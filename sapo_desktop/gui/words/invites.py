"""What the window asks before it follows an invite link."""

from __future__ import annotations

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.network.invite import Invite, asks_first
from sapo_desktop.gui.words.sentences import in_words


def warning(link: str) -> str:
    """What a person is to know first; empty where there is nothing, or the link cannot be read."""
    try:
        invite = Invite.parse(link)
    except UsageError:
        return ""
    return in_words(asks_first(invite)) if invite.nearby else ""

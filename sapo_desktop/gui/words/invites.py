"""What the window asks before it follows an invite link."""

from __future__ import annotations

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.network.invite import Invite, asks_first
from sapo_desktop.gui.words import peers as peer_words
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words


def warning(link: str) -> str:
    """What a person is to know first; empty where there is nothing, or the link cannot be read."""
    try:
        invite = Invite.parse(link)
    except UsageError:
        return ""
    return in_words(asks_first(invite)) if invite.nearby else ""


def about(link: str) -> str:
    """What a link leads to, before it is followed."""
    try:
        invite = Invite.parse(link)
    except UsageError as error:
        return in_words(error)
    where = tr("It leads to the private swarm {key}, by %n address(es).", None, len(invite.peers)).format(
        key=peer_words.short_key(invite.swarm)
    )
    admits = (
        tr("It admits one key; this node's, if it was made for it.")
        if invite.admission
        else tr("Following it is not enough: the founder of that swarm has to let this node's key in.")
    )
    gives_up = tr("Addresses of the swarm that this node is in now are given up.")
    return f"{where} {admits} {gives_up}"

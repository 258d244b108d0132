"""What clients ask about the local server, which other programs on this computer ask for answers."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from sapo_desktop.core.sentences import Text
from sapo_desktop.worker.control.messages.base import Message, Request


class ServerIs(Message, frozen=True, kw_only=True):
    url: str
    """The base address for OpenAI's clients; empty: it does not run."""
    key: str
    kept: bool
    """Whether the key is the same at the next start."""
    error: Text = ""
    """Why it does not run though it should."""


# -- requests ----------------------------------------------------------------------------------------------


class Serve(Request[ServerIs], frozen=True):
    """Run the local server for as long as this request lasts: it is answered only where that cannot be."""

    port: Annotated[int, Meta(ge=0, le=65535)] = 0
    """0: as the settings say."""


class GetServer(Request[ServerIs], frozen=True):
    """Where the local server listens, and its key."""


class NewServerKey(Request[ServerIs], frozen=True):
    """Draw another key: who has the old one is no longer answered."""

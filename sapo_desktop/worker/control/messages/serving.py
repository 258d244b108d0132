"""Messages about the local server, which answers other programs on this computer."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from sapo_desktop.core.link.requests import Message, Request
from sapo_desktop.core.sentences import Text


class ServerIs(Message, frozen=True, kw_only=True):
    url: str
    """The base address for OpenAI's clients; empty: it is not running."""
    key: str
    kept: bool
    """Whether the key stays the same at the next start."""
    error: Text = ""
    """Why it is not running although it should."""


# -- requests ----------------------------------------------------------------------------------------------


class Serve(Request[ServerIs], frozen=True):
    """Run the local server as long as this request lasts; answered only if that is impossible."""

    port: Annotated[int, Meta(ge=0, le=65535)] = 0
    """0: as in the settings."""


class GetServer(Request[ServerIs], frozen=True):
    """The local server's address and key."""


class NewServerKey(Request[ServerIs], frozen=True):
    """Replace the key: the old one is no longer accepted."""

"""The swarm's side as replies and events carry it, and what a relay is told by whoever starts it."""

from __future__ import annotations

from typing import Literal

import msgspec

from sapo_desktop.core.sentences import Text

SwarmState = Literal["silo", "joining", "failed", "alone", "linked"]


class LinkInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One open link."""

    key: str
    dialled: str
    """The address, where this side dialled."""
    program: str
    """What the peer says it is; untrusted."""
    seconds: float
    groups_in: int
    groups_out: int
    bytes_in: int
    bytes_out: int
    refused: dict[str, dict[str, int]]
    """Kind -> reason -> count."""
    claim: Claim | None = None
    latency_ms: float | None = None
    """Of the last request that was answered over it; None before the first."""
    waiting: int = 0
    """Bytes on their way through this node over the link: not sent yet, or not looked at."""
    unsent: int = 0
    """Own groups that the peer was not offered yet."""
    draw_share: float = 0.0
    """Of the groups that were drawn lately, those that came over it. Links that peers dialled from one part of the
    internet count as one source, and each is given the share of all of them; so do visits, one after the other."""
    visit: bool = False
    """Whether it moves on soon, to a peer elsewhere."""


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """What the peer says of itself; untrusted, shown and used for nothing."""

    round: int
    reward: float
    label: str
    used: int
    """Groups of ours that it handed on or trained on."""


class SwarmInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The swarm as this node sees it."""

    state: SwarmState
    reason: Text
    """One sentence for a person."""
    key: str = ""
    swarm: str = ""
    """Admission key of the private swarm, in hex; empty in the public one."""
    kept: str = ""
    """Where the identity is: keyring, file, session."""
    address: str = ""
    """Under which others reach this node, where it listens."""
    sharing: bool = False
    links: list[LinkInfo] = []
    parted: Text = ""
    """Why a peer that this node dials sent it away; empty while none does."""
    partings: dict[str, Text] = {}
    """The same of every such peer, by its address as PeerAnswered has it."""
    silent: dict[str, float] = {}
    """Since when nobody answers at an address that a link is kept to, Unix time; addresses as above."""
    pool: int = 0
    """Groups of others that wait to be drawn; of a relay, those that it serves."""
    published: int = 0
    drawn: int = 0
    taken: int = 0
    one_source: bool = False
    refused: dict[str, dict[str, int]] = {}
    other_questions: dict[str, int] = {}
    """Of these, questions that came out otherwise here, by the fingerprint of the peer's library in hex."""
    clock_offset: float = 0.0
    clock_wrong: bool = False
    clock_contradicting: int = 0
    """How many networks that dial in have another clock than the one in use; 0 where most have the same."""
    notices: list[Text] = []
    """What a person should know about links and identities, a sentence each."""
    warnings: list[Text] = []
    """What keeps the draw from being a fair sample, a sentence each: one source for most of it."""
    used_total: int = 0
    """Groups of ours that peers say they handed on or trained on, over all history."""
    helped: int = 0
    """How many peers say so, of those that are remembered."""


class RelayOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the command line says of a relay. Files are full paths; what is empty is not wanted."""

    listen: str
    """HOST:PORT."""
    cert: str = ""
    """Certificate chain (PEM); without one there is a certificate of the relay's own."""
    key: str = ""
    """Its private key (PEM)."""
    peers: str = ""
    """Addresses to keep links to, by comma, as in the settings of a node (core/settings.py)."""
    invited: str = ""
    """Of these, those dialled only on the public internet."""
    announce: str = ""
    private_addresses: bool = False
    swarm: str = ""
    """With `admission`: as in the settings of a node."""
    admission: str = ""
    backbone: str = ""
    """NATS servers where other relays are met, by comma."""
    backbone_credentials: str = ""
    """File with nkey seed, USER:PASSWORD or token."""
    backbone_ca: str = ""
    """Certificates (PEM) that the servers' are signed with; without them those that this computer trusts."""
    backbone_shards: int | None = None
    """How many shards to listen to; None: all."""
    bans: str = ""
    """File with keys that nothing is taken from."""
    bans_from: str = ""
    """Keys of relays of the backbone whose bans hold here too, by comma."""
    metrics: str = ""
    """HOST:PORT, or PORT, of figures for Prometheus, and health."""
    log_json: bool = False
    """Whether the log has JSON lines."""
    log_addresses: bool = False
    """Whether the log names the address of each peer that was shut out."""


class BackboneInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A relay's connection to others over NATS."""

    state: Literal["connecting", "connected", "isolated", "refused"]
    """Refused: NATS did not take the credentials."""
    relays: int
    """Others that were heard in the last ten minutes."""
    connects: int
    groups_in: int
    groups_out: int
    lost_in: int
    """Messages that came faster than they could be looked into."""
    lost_out: int
    """Groups that waited too long to go out."""
    refused: dict[str, dict[str, int]]
    """Kind -> reason -> count, of messages and of groups that no author is to blame for."""

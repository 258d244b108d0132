"""The swarm's state in replies and events, and the options of a relay."""

from __future__ import annotations

from typing import Literal

import msgspec

from sapo_desktop.core.sentences import Text

SwarmState = Literal["silo", "joining", "failed", "alone", "linked"]


class LinkInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One open link."""

    key: str
    dialled: str
    """The address, if this side dialled."""
    program: str
    """The peer's program, as it says; untrusted."""
    seconds: float
    groups_in: int
    groups_out: int
    bytes_in: int
    bytes_out: int
    refused: dict[str, dict[str, int]]
    """Kind -> reason -> count."""
    claim: Claim | None = None
    latency_ms: float | None = None
    """Latency of the last answered request; None before the first."""
    waiting: int = 0
    """Bytes queued for or from the link in this node."""
    unsent: int = 0
    """Own groups that the peer was not offered yet."""
    draw_share: float = 0.0
    """Its share of the recently drawn groups. Links that peers dialled from one network count as one source, and
    each shows the share of all of them; so do consecutive visits."""
    visit: bool = False
    """Whether it soon moves on to a peer in another network."""


class JoinRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A newcomer that asks to join the private swarm that was founded here."""

    key: str
    label: str
    """The peer's own label, which may be made up."""
    seconds: float
    """For which it has waited."""


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """The peer's statistics about itself; untrusted, only shown."""

    round: int
    reward: float
    label: str
    used: int
    """Groups of ours that it forwarded or trained on."""


class SwarmInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The swarm as this node sees it."""

    state: SwarmState
    reason: Text
    """One sentence for a person."""
    key: str = ""
    swarm: str = ""
    """Admission key of the private swarm, in hex; empty in the public one."""
    kept: str = ""
    """Where the identity is stored: keyring, file, session."""
    address: str = ""
    """The address for others, if this node listens."""
    sharing: bool = False
    links: list[LinkInfo] = []
    asking: list[JoinRequest] = []
    """Who waits to be admitted, the first one first."""
    parted: Text = ""
    """Why a peer that this node dials sent it away; empty if none does."""
    partings: dict[str, Text] = {}
    """The same for every such peer, by its address as in PeerAnswered."""
    silent: dict[str, float] = {}
    """Since when nobody answers at an address whose link is kept, Unix time; addresses as above."""
    pool: int = 0
    """Groups from others that wait to be drawn; on a relay, those that it serves."""
    published: int = 0
    drawn: int = 0
    taken: int = 0
    one_source: bool = False
    refused: dict[str, dict[str, int]] = {}
    other_questions: dict[str, int] = {}
    """Among these, questions that differed here, by the fingerprint of the peer's library in hex."""
    clock_offset: float = 0.0
    clock_wrong: bool = False
    clock_contradicting: int = 0
    """How many networks that dial in have another clock than the one in use; 0 if most agree with it."""
    notices: list[Text] = []
    """Remarks about links and identities, a sentence each."""
    warnings: list[Text] = []
    """Why a draw is not a fair sample, a sentence each: one source for most of it."""
    used_total: int = 0
    """Groups of ours that peers say they forwarded or trained on, over the whole history."""
    helped: int = 0
    """Number of remembered peers that say so."""


class RelayOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A relay's command line. Files are full paths; empty means not wanted."""

    listen: str
    """HOST:PORT."""
    cert: str = ""
    """Certificate chain (PEM); without one, the relay makes its own."""
    key: str = ""
    """Its private key (PEM)."""
    peers: str = ""
    """Comma-separated addresses to keep links to, as in the settings of a node (core/settings.py)."""
    invited: str = ""
    """The peers among them that are dialled only on the public internet."""
    announce: str = ""
    private_addresses: bool = False
    swarm: str = ""
    """With `admission`: as in the settings of a node."""
    admission: str = ""
    backbone: str = ""
    """Comma-separated NATS servers that connect relays."""
    backbone_credentials: str = ""
    """File with nkey seed, USER:PASSWORD or token."""
    backbone_ca: str = ""
    """Certificates (PEM) of the servers' authority; empty: those that this computer trusts."""
    backbone_shards: int | None = None
    """How many shards to listen to; None: all."""
    bans: str = ""
    """File with banned keys."""
    bans_from: str = ""
    """Comma-separated keys of relays on the backbone whose bans also apply here."""
    metrics: str = ""
    """HOST:PORT, or PORT, of the metrics for Prometheus and of health checks."""
    log_json: bool = False
    """Whether the log has JSON lines."""
    log_addresses: bool = False
    """Whether the log contains the address of each peer that was shut out."""


class BackboneInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A relay's connection to others over NATS."""

    state: Literal["connecting", "connected", "isolated", "refused"]
    """`refused`: NATS did not accept the credentials."""
    relays: int
    """Others heard in the last ten minutes."""
    connects: int
    groups_in: int
    groups_out: int
    lost_in: int
    """Messages that arrived faster than they could be handled."""
    lost_out: int
    """Groups that waited too long to be sent."""
    refused: dict[str, dict[str, int]]
    """Kind -> reason -> count, of messages, and of groups that were refused without the author's fault."""

"""The swarm in words and in JSON fields: never a reward without its interval and the count of peers."""

from __future__ import annotations

import time

from sapo_desktop.terminal.wording import amount, duration
from sapo_desktop.view.fields import Fields, fields
from sapo_desktop.worker.control.messages.replies import RelayStatus
from sapo_desktop.worker.control.messages.swarm import BackboneInfo, LinkInfo, SwarmInfo


def swarm_line(swarm: SwarmInfo) -> Fields:
    """The swarm in `status --json`."""
    known = {name: getattr(swarm, name) or None for name in ("key", "swarm", "kept", "address")}
    return fields(swarm) | known | {"links": len(swarm.links)}


def link_line(link: LinkInfo) -> Fields:
    return fields(link) | {"dialled": link.dialled or None}


def swarm_lines(swarm: SwarmInfo) -> list[str]:
    """For a person, after the node's state."""
    lines = [f"Swarm     {swarm.reason}"]
    if swarm.swarm:
        lines.append(f"Private   swarm {swarm.swarm}")
    if swarm.address:
        lines.append(f"Address   {swarm.address}")
    if swarm.state not in ("alone", "linked"):
        return lines
    lines.append(
        f"Groups    {swarm.published:,} shared, {swarm.drawn:,} drawn, {swarm.taken:,} of them suitable; "
        f"{swarm.pool:,} in the pool"
    )
    if swarm.used_total:
        by = "1 peer" if swarm.helped == 1 else f"{swarm.helped:,} peers"
        lines.append(f"          {swarm.used_total:,} of ours were used by {by}, as they say")
    lines += _trouble_lines(swarm)
    return lines


def _trouble_lines(swarm: SwarmInfo) -> list[str]:
    """Unreachable peers, remarks, and refusals."""
    lines = [f"Address   {text}" for text in swarm.partings.values() if str(text) not in str(swarm.reason)]
    for address, since in swarm.silent.items():
        when = time.strftime("%A %H:%M", time.localtime(since))
        lines.append(f"Address   {address}: no answer since {when}")
    lines += [f"Note      {notice}" for notice in (*swarm.warnings, *swarm.notices)]
    for kind in ("invalid", "unverifiable", "ignored"):
        if reasons := swarm.refused.get(kind):
            counts = ", ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in sorted(reasons.items()))
            lines.append(f"{kind.capitalize():<13} {counts}")
    return lines


def relay_fields(found: RelayStatus) -> Fields:
    """`status --json` of a relay."""
    return {"running": True, **fields(found), "swarm": swarm_line(found.swarm)}


def relay_lines(found: RelayStatus) -> list[str]:
    backbone = [] if found.backbone is None else _backbone_lines(found.backbone)
    swarm = found.swarm
    dialled = sum(bool(link.dialled) for link in swarm.links)
    came, went = (sum(getattr(link, f"groups_{way}") for link in swarm.links) for way in ("in", "out"))
    if swarm.state not in ("alone", "linked"):
        return [f"Relay     {swarm.reason}", _process(found)]
    return [
        f"Relay     {swarm.reason}",
        *([f"Private   swarm {swarm.swarm}"] if swarm.swarm else []),
        *([f"Address   {swarm.address}"] if swarm.address else []),
        f"Links     {len(swarm.links) - dialled:,} dialled in, {dialled:,} dialled by this relay",
        f"Groups    {swarm.pool:,} served now; over the open links {came:,} came and {went:,} went",
        *_trouble_lines(swarm),
        *backbone,
        _process(found),
    ]


def _process(found: RelayStatus) -> str:
    return f"Process   {found.pid}, version {found.version}, up {duration(found.uptime)}"


def _backbone_lines(backbone: BackboneInfo) -> list[str]:
    states = {
        "connecting": "connecting",
        "connected": f"connected; {amount(backbone.relays, 'other relay')} heard",
        "isolated": "NATS is unreachable: this relay continues alone, and tries again automatically",
        "refused": "NATS refuses the credentials: this relay continues alone. Fix the file of --backbone-credentials, "
        "and start the relay again",
    }
    counts = f"          {backbone.groups_in:,} groups from there, {backbone.groups_out:,} to there"
    if backbone.lost_in or backbone.lost_out:
        counts += f"; lost: {backbone.lost_in:,} messages in, {backbone.lost_out:,} groups out"
    return [f"Backbone  {states[backbone.state]}", counts]

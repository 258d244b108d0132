"""The swarm in words and in JSON fields: never a reward without its interval and the count of peers."""

from __future__ import annotations

import time

import msgspec

from sapo_desktop.terminal.json_lines import Fields, share
from sapo_desktop.terminal.wording import amount, duration
from sapo_desktop.worker.control.messages.replies import RelayStatus
from sapo_desktop.worker.control.messages.swarm import BackboneInfo, Claim, LinkInfo, SwarmInfo


def swarm_line(swarm: SwarmInfo) -> Fields:
    """What `status --json` says of the swarm."""
    return {
        "state": swarm.state,
        "reason": str(swarm.reason),
        "key": swarm.key or None,
        "swarm": swarm.swarm or None,
        "kept": swarm.kept or None,
        "address": swarm.address or None,
        "sharing": swarm.sharing,
        "links": len(swarm.links),
        "partings": {address: str(text) for address, text in swarm.partings.items()},
        "silent": {address: round(since, 1) for address, since in swarm.silent.items()},
        "pool": swarm.pool,
        "published": swarm.published,
        "drawn": swarm.drawn,
        "taken": swarm.taken,
        "one_source": swarm.one_source,
        "refused": {kind: dict(reasons) for kind, reasons in swarm.refused.items()},
        "other_questions": dict(swarm.other_questions),
        "clock_offset": round(swarm.clock_offset, 1),
        "clock_wrong": swarm.clock_wrong,
        "clock_contradicting": swarm.clock_contradicting,
        "notices": [str(text) for text in swarm.notices],
        "warnings": [str(text) for text in swarm.warnings],
        "used_total": swarm.used_total,
        "helped": swarm.helped,
    }


def link_line(link: LinkInfo) -> Fields:
    return {
        "key": link.key,
        "dialled": link.dialled or None,
        "program": link.program,
        "seconds": round(link.seconds, 1),
        "groups_in": link.groups_in,
        "groups_out": link.groups_out,
        "bytes_in": link.bytes_in,
        "bytes_out": link.bytes_out,
        "refused": {kind: dict(reasons) for kind, reasons in link.refused.items()},
        "claim": None if link.claim is None else _claim_line(link.claim),
        "latency_ms": None if link.latency_ms is None else round(link.latency_ms, 1),
        "waiting": link.waiting,
        "unsent": link.unsent,
        "draw_share": share(link.draw_share),
        "visit": link.visit,
    }


def _claim_line(claim: Claim) -> Fields:
    return {"round": claim.round, "reward": share(claim.reward), "label": claim.label, "used": claim.used}


def swarm_lines(swarm: SwarmInfo) -> list[str]:
    """For a person, below what the node does."""
    lines = [f"Swarm     {swarm.reason}"]
    if swarm.swarm:
        lines.append(f"Private   swarm {swarm.swarm}")
    if swarm.address:
        lines.append(f"Address   {swarm.address}")
    if swarm.state not in ("alone", "linked"):
        return lines
    lines.append(
        f"Groups    {swarm.published:,} shared, {swarm.drawn:,} drawn, {swarm.taken:,} of them fit; "
        f"{swarm.pool:,} in the pool"
    )
    if swarm.used_total:
        by = "1 peer" if swarm.helped == 1 else f"{swarm.helped:,} peers"
        lines.append(f"          {swarm.used_total:,} of ours were used by {by}, as they say")
    lines += _trouble_lines(swarm)
    return lines


def _trouble_lines(swarm: SwarmInfo) -> list[str]:
    """Who is not reached, what to know, and what was refused."""
    lines = [f"Address   {text}" for text in swarm.partings.values() if str(text) not in str(swarm.reason)]
    for address, since in swarm.silent.items():
        when = time.strftime("%A %H:%M", time.localtime(since))
        lines.append(f"Address   {address}: nobody answers since {when}")
    lines += [f"Note      {notice}" for notice in (*swarm.warnings, *swarm.notices)]
    for kind in ("invalid", "unverifiable", "ignored"):
        if reasons := swarm.refused.get(kind):
            told = ", ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in sorted(reasons.items()))
            lines.append(f"{kind.capitalize():<13} {told}")
    return lines


def relay_fields(found: RelayStatus) -> Fields:
    """`status --json` of a relay."""
    return {
        "running": True,
        "pid": found.pid,
        "version": found.version,
        "uptime": round(found.uptime, 1),
        "swarm": swarm_line(found.swarm),
        "backbone": None if found.backbone is None else msgspec.to_builtins(found.backbone),
    }


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
        "isolated": "NATS is away: this relay serves on alone, and tries again by itself",
        "refused": "NATS refuses the credentials: this relay serves on alone. Fix the file of --backbone-credentials, "
        "and start the relay again",
    }
    counts = f"          {backbone.groups_in:,} groups from there, {backbone.groups_out:,} to there"
    if backbone.lost_in or backbone.lost_out:
        counts += f"; lost: {backbone.lost_in:,} messages in, {backbone.lost_out:,} groups out"
    return [f"Backbone  {states[backbone.state]}", counts]

"""peers: linked peers, addresses to keep, block or test; and private swarms."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable

from sapo_desktop.commands.line.context import Context, call, status_of
from sapo_desktop.commands.line.prompts import ask_with_passphrase
from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.network.invite import Invite, asks_first
from sapo_desktop.core.plain_text import one_line
from sapo_desktop.core.sentences import joined
from sapo_desktop.core.settings import listed, with_item, without_item
from sapo_desktop.terminal.swarm_words import link_line, relay_lines, swarm_line, swarm_lines
from sapo_desktop.terminal.wording import duration, percent, size
from sapo_desktop.view.fields import fields
from sapo_desktop.worker.control.client import Client
from sapo_desktop.worker.control.messages import requests
from sapo_desktop.worker.control.messages.replies import RelayStatus, StartingStatus
from sapo_desktop.worker.control.messages.swarm import LinkInfo

_SHOWN_DIGITS = 16
"""Digits of a key that people compare; with fewer, an attacker could find a matching key."""


async def show(context: Context, args: Namespace) -> None:
    async with context.running() as node:
        reply = await node.call(requests.GetStatus())
    assert not isinstance(reply, StartingStatus), "it was waited for"
    swarm = reply.swarm
    context.out.emit("swarm", **swarm_line(swarm))
    for link in swarm.links:
        context.out.emit("link", **link_line(link))
    if context.out.json_lines:
        return
    context.out.say("\n".join(relay_lines(reply) if isinstance(reply, RelayStatus) else swarm_lines(swarm)))
    headers = ["key", "by", "linked", "latency", "groups in", "out", "of draws", "traffic in", "out"]
    headers += ["refused", "used ours", "program"]
    if swarm.links:
        context.out.table(headers, [_row(link) for link in swarm.links], right=headers[2:11])


def _row(link: LinkInfo) -> list[str]:
    refused = sum(sum(reasons.values()) for kind, reasons in link.refused.items() if kind != "ignored")
    return [
        link.key[:16],
        "us" if link.dialled else "them",
        duration(link.seconds),
        "" if link.latency_ms is None else f"{link.latency_ms:,.0f} ms",
        f"{link.groups_in:,}",
        f"{link.groups_out:,}",
        percent(link.draw_share),
        size(link.bytes_in),
        size(link.bytes_out),
        f"{refused:,}",
        "" if link.claim is None else f"{link.claim.used:,}",
        one_line(link.program, 40),
    ]


async def add(context: Context, args: Namespace) -> None:
    address = args.address.strip()
    async with context.any_node() as node:
        kept, invited = await _kept(node, "peers"), await _kept(node, "invited")
        # Typed now, even if an invite named it before.
        values = {"peers": with_item(kept, address)}
        values |= {"invited": without_item(invited, address)} if address in listed(invited) else {}
        await _keep(context, node, values)


async def remove(context: Context, args: Namespace) -> None:
    address = args.address.strip()
    async with context.any_node() as node:
        kept = await _kept(node, "peers")
        if address not in listed(kept):
            raise UsageError(f"{address} is not among the saved peers: {', '.join(listed(kept)) or 'there are none'}.")
        await _keep(context, node, {"peers": without_item(kept, address)})


async def block(context: Context, args: Namespace) -> None:
    async with context.any_node() as node:
        kept = await _kept(node, "blocked")
        links = (await status_of(node)).swarm.links
        key = _whole_key(args.key, [link.key for link in links])
        await _keep(context, node, {"blocked": with_item(kept, key)})


async def unblock(context: Context, args: Namespace) -> None:
    async with context.any_node() as node:
        kept = await _kept(node, "blocked")
        key = _whole_key(args.key, listed(kept))
        if key not in listed(kept):
            raise UsageError(f"{args.key} is not blocked. To list blocked peers: sapo-desktop settings get blocked")
        await _keep(context, node, {"blocked": without_item(kept, key)})


async def test(context: Context, args: Namespace) -> None:
    async with context.running() as node:
        found = await call(node, requests.TestPeer(address=args.address))
    program = one_line(found.program, 60)
    context.out.emit("peer", key=found.key, program=program, milliseconds=round(found.milliseconds, 1))
    context.out.say(f"{program} answers there with key {found.key}, in {found.milliseconds:,.0f} ms.")


async def found(context: Context, args: Namespace) -> None:
    reply = await ask_with_passphrase(context, requests.CreateSwarm(), twice=True)
    context.out.done(str(reply.text))
    context.out.say("To admit someone: sapo-desktop peers admit KEY, with the key that `identity show` prints there.")


async def asking(context: Context, args: Namespace) -> None:
    async with context.running() as node:
        swarm = (await status_of(node)).swarm
    for one in swarm.asking:
        context.out.emit("asking", **fields(one))
    if not swarm.asking:
        context.out.say("Nobody asks to join.")
        return
    context.out.table(
        ["key", "label", "waits"], [[one.key, one_line(one.label, 64), duration(one.seconds)] for one in swarm.asking]
    )
    context.out.say("A label can be made up: compare the key with the person. Then: sapo-desktop peers admit KEY")


async def refuse(context: Context, args: Namespace) -> None:
    async with context.running() as node:
        key = _whole_key(args.key, [one.key for one in (await status_of(node)).swarm.asking])
        context.out.done(str((await call(node, requests.RefuseJoin(key=key))).text))


async def admit(context: Context, args: Namespace) -> None:
    key = args.key.strip().lower()
    async with context.if_running() as node:
        if node is not None:  # of one that asks, the digits that are shown will do
            asks = [one.key for one in (await status_of(node)).swarm.asking]
            key = next((one for one in asks if len(key) >= _SHOWN_DIGITS and one.startswith(key)), key)
    reply = await ask_with_passphrase(context, requests.AdmitPeer(key=key, days=args.days))
    if reply.waits:
        context.out.emit("admitted", key=key)
        context.out.say(f"Admitted {key}. It joins by itself within two minutes. If it does not, send it this link:")
    _print_link(context, reply.link, key=key)
    context.out.say(
        "The link admits only that key, so it is no secret. On the other computer: sapo-desktop peers join 'LINK'"
    )


async def invite(context: Context, args: Namespace) -> None:
    reply = await context.ask(requests.GetInvite())
    _print_link(context, reply.link)
    context.out.say(
        "The link shows a key to the person who follows it. The founder then admits it: sapo-desktop peers admit KEY"
    )


async def join(context: Context, args: Namespace) -> None:
    link = Invite.parse(args.link)  # refused before a node is started for it
    if link.nearby and not args.nearby:
        raise UsageError(joined([asks_first(link), "Then: sapo-desktop peers join --nearby 'LINK'"]))
    reply = await ask_with_passphrase(context, requests.JoinSwarm(link=args.link, nearby=args.nearby))
    context.out.done(str(reply.text))


def _print_link(context: Context, link: str, **more: str) -> None:
    context.out.emit("invite", link=link, **more)
    context.out.say(link)


async def _kept(node: Client, key: str) -> str:
    settings = (await call(node, requests.GetSettings())).settings
    return str(getattr(settings, key))


async def _keep(context: Context, node: Client, values: dict[str, str]) -> None:
    said = str((await call(node, requests.SetSettings(values=values))).text)
    silo = (await status_of(node)).silo
    context.out.done(f"{said} The node is in silo until `sapo-desktop silo off`." if silo else said)


def _whole_key(text: str, known: Iterable[str]) -> str:
    """The key with these first digits. UsageError for none or several."""
    text = text.strip().lower()
    if len(text) == 64:
        return text
    found = [key for key in known if len(text) >= 4 and key.startswith(text)]
    if len(found) != 1:
        raise UsageError(
            f"{text!r} matches {'several' if found else 'none'} of the peers here. Give the first digits of the key as "
            "`sapo-desktop peers` shows it, at least four."
        )
    return found[0]

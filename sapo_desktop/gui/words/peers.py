"""Texts of the Peers page: keys, directions, where the identity is stored, where an invite link leads, why something
was refused. The reasons are those of swarm/protocol/refusals.py, by name."""

from __future__ import annotations

from dataclasses import dataclass

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.network.invite import Invite, asks_first
from sapo_desktop.core.plain_text import one_line
from sapo_desktop.core.why import DAY_AND_CLOCK_FROM
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.view.plain import plain
from sapo_desktop.worker.control.messages.replies import PosedQuestion
from sapo_desktop.worker.control.messages.swarm import LinkInfo, SwarmInfo

KEY_SHOWN = 8
"""First digits of a key, which distinguish peers well enough for reading."""


def short_key(key: str) -> str:
    """A key for a table."""
    shown = one_line(key, KEY_SHOWN)
    return f"{shown}…" if len(key) > KEY_SHOWN else shown or numbers.NOTHING


def comparable(key: str) -> str:
    """The part of a key that people compare, in groups of four."""
    shown = one_line(key, 16)
    return " ".join(shown[at : at + 4] for at in range(0, len(shown), 4))


def thanks(swarm: SwarmInfo | None) -> tuple[str, str]:
    """The peers that this node's answers helped, according to those peers."""
    helped, used = (swarm.helped, swarm.used_total) if swarm is not None else (0, 0)
    if not helped:
        return numbers.NOTHING, tr("no reports yet")
    groups = tr("as they report: %n group(s) used", None, used)
    return tr("%n computer(s)", None, helped), groups


@dataclass(frozen=True)
class AddressSeen:
    """The last event at an address whose link is kept."""

    words: str
    icon: tuple[str, str] | None = None
    """Its name, and its colour's name in the theme."""
    why: str = ""
    """A whole sentence, if there is no link."""


def seen(address: str, swarm: SwarmInfo | None, now: float) -> AddressSeen:
    """`address`: as a person typed it; `swarm`: None if nobody is dialled; `now`: Unix time."""
    if swarm is None:
        return AddressSeen(numbers.NOTHING)
    wanted = _as_dialled(address)
    if any(link.dialled == wanted for link in swarm.links):
        return AddressSeen(tr("linked"), ("check", "accent"))
    if parting := swarm.partings.get(wanted):
        return AddressSeen(tr("no link"), ("warning", "danger"), in_words(plain(parting)))
    if (since := swarm.silent.get(wanted)) is not None:
        when = numbers.clock(since) if now - since < DAY_AND_CLOCK_FROM else numbers.day_and_clock(since)
        line = tr("{address} has not answered since {time}. This node keeps trying.")
        why = line.format(address=one_line(address.partition("#")[0], 100), time=when)
        return AddressSeen(tr("no answer since {time}").format(time=when), ("warning", "warning"), why)
    return AddressSeen(tr("not answered yet"))


def _as_dialled(address: str) -> str:
    """The node's form of an address: nothing after the port, keys and hosts in lower case."""
    where, mark, key = address.strip().partition("#")
    return f"{where.rstrip('/')}{mark}{key}".lower()


def direction(link: LinkInfo) -> str:
    """Who dialled whom."""
    return tr("by this node") if link.dialled else tr("by the peer")


def per_second(rate: float) -> str:
    """`1.2 KB/s`."""
    return tr("{size}/s").format(size=numbers.size(rate))


def milliseconds(value: float | None) -> str:
    """`38 ms`."""
    return numbers.NOTHING if value is None else tr("{number} ms").format(number=numbers.number(value, 0))


def kept_words(kept: str) -> str:
    """Where the secret half of this node's key is stored."""
    return {
        "keyring": tr("The secret key is in this computer's keyring."),
        "file": tr("The secret key is in a file protected by your passphrase."),
        "session": tr(
            "The secret key is not saved. When the node quits, it is lost, and the next start creates a new key."
        ),
    }.get(kept, tr("There is no key yet. It is made when the node first joins the swarm."))


def destination(posed: PosedQuestion, *, silo: bool, share: bool) -> str:
    """Where a person's answer to this question goes; shown before it is given."""
    if posed.shared:
        return tr(
            "Your answer is published together with the model's, under this node's key, in the public "
            "domain (CC0). Anyone may keep it and pass it on, and it cannot be withdrawn."
        )
    stays = tr("Your answer stays on this computer, where the model learns from it.")
    if silo:
        why = tr("In silo, nothing leaves this computer.")
    elif not share:
        why = tr("Sharing is off.")
    else:
        why = tr("This answer is not shared.")
    return f"{stays} {why}"


def invite_warning(link: str) -> str:
    """What a person must know first; empty if there is nothing, or the link is invalid."""
    try:
        invite = Invite.parse(link)
    except UsageError:
        return ""
    return in_words(asks_first(invite)) if invite.nearby else ""


def about_invite(link: str) -> str:
    """Where a link leads, before it is followed."""
    try:
        invite = Invite.parse(link)
    except UsageError as error:
        return in_words(error)
    where = tr("The link leads to the private swarm {key}, through %n address(es).", None, len(invite.peers)).format(
        key=short_key(invite.swarm)
    )
    admits = (
        tr("The invite admits only one key: this node's, if it was made for it.")
        if invite.admission
        else tr("The invite alone does not admit this node. The swarm's founder also has to admit its key.")
    )
    gives_up = tr("The addresses of your current swarm are deleted.")
    return f"{where} {admits} {gives_up}"


def kind_name(kind: str) -> str:
    """The kind of a refusal, in a word."""
    names = {"invalid": tr("Invalid"), "unverifiable": tr("Unverifiable"), "ignored": tr("Ignored")}
    return names.get(kind) or one_line(kind, 40)


def refusal_meaning(reason: str) -> str:
    """Why something was refused, in a sentence."""
    return {
        # of the link
        "oversize": tr("The message was larger than allowed."),
        "not_a_message": tr("It was not a message of this protocol."),
        "malformed": tr("A message had fields of the wrong kind."),
        "out_of_order": tr("A message came at the wrong time."),
        "too_often": tr("Messages came more often than agreed."),
        "overdrawn": tr("The peer sent more than this node had allowed."),
        "bad_batch": tr("A compressed batch could not be unpacked, or was too large."),
        "bad_signature": tr("The signature does not belong to the named author."),
        "unasked": tr("It answered a request that was never made."),
        "not_its_own": tr("A peer passed on someone else's signed work as its own."),
        # of the author
        "bad_body": tr("Its signature is right, but the signed text does not have the format of a group."),
        "other_network": tr("It was signed for another swarm."),
        "not_admitted": tr("Its author is not admitted to this private swarm."),
        "bad_text": tr("A text in it is too long, or contains characters that an answer may not have."),
        "second_body": tr("Its author signed two different groups with the same identifier."),
        "flooding": tr("Its author sent more than one identity may send."),
        # nobody's fault
        "other_question": tr("The question is different here than at the peer, whose library has another version."),
        "timed_out": tr("Checking it took too long and was stopped."),
        "too_old": tr("It came too late to be used."),
        "too_new": tr("It is dated in the future. A clock is wrong, here or there."),
        "duplicate": tr("It had already arrived."),
        "unknown_message": tr("This version does not know this kind of message."),
        "unknown_task": tr("It answers a task that this version does not have."),
        "unused_task": tr("Answers to this task are not accepted from peers: checking them is too slow."),
        "other_instance": tr("Its author uses one key in two places, and a group from the other place came first."),
        "own_echo": tr("It was this node's own group, sent back."),
        "shut_out": tr("Its author or the peer is banned for a while, after breaking the rules."),
        "pool_full": tr("There was no room left for its source."),
        "held_out": tr("Its question is held out for measuring and must never be used for training."),
        "unfit": tr("None of its answers has the form in which this model answers."),
        "private_address": tr("A peer outside the local network named an address of a private network."),
        "busy": tr("There was no time left to check it."),
    }.get(reason) or one_line(reason, 60).replace("_", " ")

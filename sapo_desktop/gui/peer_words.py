"""What the Peers page says: directions, kinds and reasons of refusal, where the identity is kept, verdicts."""

from __future__ import annotations

from sapo_desktop.core.records import Mark
from sapo_desktop.gui import numbers
from sapo_desktop.gui.language import tr
from sapo_desktop.worker.messages import LinkInfo, PosedQuestion

KEY_SHOWN = 8
"""First digits of a key, which tell peers apart well enough to be read."""


def short_key(key: str) -> str:
    """A key as a table shows it."""
    return f"{key[:KEY_SHOWN]}…" if len(key) > KEY_SHOWN else key or numbers.NOTHING


def direction(link: LinkInfo) -> str:
    """Who dialled whom."""
    return tr("I dialled") if link.dialled else tr("it dialled")


def per_second(rate: float | None) -> str:
    """`1.2 KB/s`."""
    return numbers.NOTHING if rate is None else tr("{size}/s").format(size=numbers.size(rate))


def milliseconds(value: float | None) -> str:
    """`38 ms`."""
    return numbers.NOTHING if value is None else tr("{number} ms").format(number=numbers.number(value, 0))


def kept_words(kept: str) -> str:
    """Where the secret half of this node's key is."""
    return {
        "keyring": tr("Its secret half is in this computer's keyring."),
        "file": tr("Its secret half is in a file that your passphrase closes."),
        "session": tr("Its secret half is kept nowhere: this identity ends with the node."),
    }.get(kept, tr("There is none yet. It is made when the node first joins the swarm."))


def kind_words(kind: str) -> str:
    """A kind of refusal, in a word."""
    return {
        "invalid": tr("Invalid"),
        "unverifiable": tr("Unverifiable"),
        "ignored": tr("Ignored"),
    }.get(kind, kind)


def reason_words(reason: str) -> str:
    """Why something was not taken, in a sentence."""
    return (_of_the_link() | _of_the_author() | _of_nobody()).get(reason, reason.replace("_", " "))


def _of_the_link() -> dict[str, str]:
    return {
        "oversize": tr("It was larger than any message may be."),
        "not_a_message": tr("It was no message of this protocol."),
        "malformed": tr("A message had fields of the wrong kind."),
        "out_of_order": tr("A message came at the wrong moment."),
        "too_often": tr("Messages came more often than agreed."),
        "overdrawn": tr("More was sent than this node had granted."),
        "bad_batch": tr("A packed batch could not be unpacked, or was too large."),
        "bad_signature": tr("The signature does not belong to the named author."),
        "unasked": tr("It answered a question that nobody had asked."),
        "not_its_own": tr("A peer handed on as its own what another had signed."),
    }


def _of_the_author() -> dict[str, str]:
    return {
        "bad_body": tr("It was signed, but what was signed is not well formed."),
        "other_network": tr("It was signed for another swarm."),
        "not_admitted": tr("Its author is not admitted to this private swarm."),
        "bad_text": tr("An answer had signs that no answer to this task needs."),
        "second_body": tr("Its author signed two different things for one place."),
        "flooding": tr("Its author sent more than one identity may."),
    }


def _of_nobody() -> dict[str, str]:
    return {
        "other_question": tr("The question came out differently here: the peer has another version of the tasks."),
        "timed_out": tr("Checking it took longer than strangers are given."),
        "too_old": tr("It came too late to be of use."),
        "too_new": tr("It is dated in the future: a clock is wrong, here or there."),
        "duplicate": tr("It was here already."),
        "unknown_message": tr("A message of a kind that this version does not know."),
        "unknown_task": tr("A task that this version does not know."),
        "unused_task": tr("A task that this node does not train on or share."),
        "own_echo": tr("It was this node's own, come back."),
        "shut_out": tr("Its author or the peer is shut out for a while, after breaking the rules."),
        "pool_full": tr("There was no more room for its source."),
        "held_out": tr("Its question is among the held-out ones, which are never trained on."),
        "unfit": tr("This model cannot learn from it: too long, or not of the form it is taught."),
        "private_address": tr("A stranger named an address of a private network."),
        "busy": tr("There was no time left to check it."),
    }


def destination(posed: PosedQuestion, *, silo: bool, share: bool) -> str:
    """Where a person's answer to this question goes; said before it is given."""
    if posed.shared:
        return tr(
            "Your answer is published with the model's beside it, under this node's key, in the public domain (CC0): "
            "anybody may keep it and pass it on, and it cannot be called back."
        )
    stays = tr("Your answer stays on this computer, where the model learns from it.")
    if silo:
        why = tr("In silo nothing leaves it.")
    elif not share:
        why = tr("Sharing is switched off.")
    else:
        why = tr("This one is not shared.")
    return f"{stays} {why}"


def verdict_words(mark: Mark) -> str:
    """How an answer was marked."""
    return {
        "solved": tr("Right"),
        "partial": tr("Partly right: {share}").format(share=numbers.percent(mark.partial)),
        "wrong": tr("Wrong"),
        "unparsed": tr("Not of the form that this task asks for"),
        "no_answer": tr("No answer"),
        "timeout": tr("Marking took too long"),
        "scorer_failed": tr("It could not be marked"),
    }.get(mark.verdict, mark.verdict)

"""Why something of a peer was not taken, in plain words. The reasons are those of swarm/protocol/refusals.py, by
name."""

from __future__ import annotations

from sapo_desktop.core.plain_text import one_line
from sapo_desktop.gui.words.language import tr


def kind_name(kind: str) -> str:
    """What a refusal says about whom it befell, in a word."""
    names = {"invalid": tr("Invalid"), "unverifiable": tr("Unverifiable"), "ignored": tr("Ignored")}
    return names.get(kind) or one_line(kind, 40)


def refusal_meaning(reason: str) -> str:
    """Why something was not taken, in a sentence."""
    return (_of_the_link() | _of_the_author() | _of_nobody()).get(reason) or one_line(reason, 60).replace("_", " ")


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
        "bad_body": tr("It was signed, but what was signed is not written as a group of answers has to be."),
        "other_network": tr("It was signed for another swarm."),
        "not_admitted": tr("Its author is not admitted to this private swarm."),
        "bad_text": tr("A text in it is too long, or holds signs that an answer may not have."),
        "second_body": tr("Its author signed two different groups under one name."),
        "flooding": tr("Its author sent more than one identity may."),
    }


def _of_nobody() -> dict[str, str]:
    return {
        "other_question": tr(
            "The question came out otherwise here than at the peer's: its library has another version."
        ),
        "timed_out": tr("Checking it took too long and was given up."),
        "too_old": tr("It came too late to be of use."),
        "too_new": tr("It is dated in the future: a clock is wrong, here or there."),
        "duplicate": tr("It was here already."),
        "unknown_message": tr("A message of a kind that this version does not know."),
        "unknown_task": tr("It answers a task that this version does not have."),
        "unused_task": tr("Answers to this task are not taken from peers: they are slow to check."),
        "other_instance": tr("Its author sends from two places under one key, and the other one was heard first."),
        "own_echo": tr("It was this node's own, come back."),
        "shut_out": tr("Its author or the peer is shut out for a while, after breaking the rules."),
        "pool_full": tr("There was no more room for its source."),
        "held_out": tr("Its question is kept for measuring and must never be trained on."),
        "unfit": tr("No answer in it has the form in which this model answers."),
        "private_address": tr("A stranger named an address of a private network."),
        "busy": tr("There was no time left to check it."),
    }

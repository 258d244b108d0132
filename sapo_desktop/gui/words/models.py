"""Texts of the Model page: ways, parts of the memory, badges, numbers of parameters, stages of a download."""

from __future__ import annotations

from sapo_desktop.core.fitting import Estimate, Way
from sapo_desktop.core.models import Transfer
from sapo_desktop.core.plain_text import one_line
from sapo_desktop.gui.model.model_list import ModelRow
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import catalogued, tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.view.words import STAGE_WORDS
from sapo_desktop.worker.control.messages.facts import ModelInfo
from sapo_desktop.worker.control.messages.replies import CheckpointInfo


def parameters(count: int) -> str:
    """`494 million`, `1.5 billion`."""
    if count >= 1_000_000_000:
        return tr("{number} billion").format(number=numbers.number(count / 1e9, 1))
    return tr("{number} million").format(number=numbers.number(count / 1e6, 0 if count >= 10_000_000 else 1))


def way_words(way: Way) -> str:
    """Which engines answer and learn, and where."""
    words = in_words(way.words)
    return words[:1].upper() + words[1:]


def at_work_words(info: ModelInfo) -> str:
    """Which engines answer and learn now."""
    if info.generator == info.trainer == "torch":
        return tr("Answers and learns with PyTorch")
    answers = {
        "torch": tr("Answers with PyTorch"),
        "llama.cpp": tr("Answers with llama.cpp"),
        "remote": tr("Answers through a server"),
    }.get(info.generator, info.generator)
    learns = tr("learns with PyTorch") if info.trainer == "torch" else tr("learns nothing")
    return f"{answers}, {learns}"


def device_words(device: str) -> str:
    return {
        "cpu": tr("on the processor"),
        "cuda": tr("on the card"),
        "mps": tr("on the Mac's GPU"),
    }.get(device, device)


def fact_words(name: str) -> str:
    """Facts of the catalogue that may be unverified."""
    return {
        "shape": tr("shape"),
        "context": tr("longest text"),
        "licence": tr("licence"),
        "gate": tr("whether it needs an account"),
        "parameters": tr("number of parameters"),
        "vocabulary": tr("vocabulary"),
    }.get(name, name)


def badge_words(badge: Estimate) -> str:
    return {"fits": tr("Fits"), "tight": tr("Tight"), "too big": tr("Too big")}[badge.badge]


BADGE_TONES = {"fits": "accent", "tight": "warning", "too big": "danger"}
BADGE_ICONS = {"fits": "check", "tight": "warning", "too big": "cross"}


def needs_words(badge: Estimate, *, only_answers: bool = False) -> str:
    """The badge in numbers."""
    needs, free = numbers.size(badge.estimate), numbers.size(badge.free)
    if only_answers:
        return tr("To answer it takes {needs}; {free} are free.").format(needs=needs, free=free)
    if badge.badge == "too big" and badge.way:
        return tr("It needs {needs} to learn; {free} are free. It can answer here.").format(needs=needs, free=free)
    said = tr("It needs {needs} to learn; {free} are free.").format(needs=needs, free=free)
    return " ".join([said, tr("This is tight: hardly any is left.")]) if badge.badge == "tight" else said


def state_words(row: ModelRow) -> str:
    """Where a model is, and the progress of its download."""
    if row.transfer is not None:
        share = f" {numbers.percent(row.transfer.done / row.transfer.total)}" if row.transfer.total else ""
        return f"{stage_words(row.transfer)}{share}"
    return {
        "at work": tr("In use"),
        "next": tr("After this round"),
        "here": tr("On this computer"),
        "unfinished": tr("Unfinished"),
        "damaged": tr("Damaged"),
        "not here": tr("Not downloaded"),
    }[row.state]


def stage_words(transfer: Transfer) -> str:
    """The current stage of a download or import."""
    said = one_line(in_words(transfer.text)) if transfer.stage == "waiting" else ""
    return said or catalogued(STAGE_WORDS[transfer.stage])


def transfer_words(transfer: Transfer) -> str:
    """`512 MB of 988 MB, 12.3 MB/s, 40 s left`."""
    said = []
    if transfer.total:
        said.append(
            tr("{done} of {total}").format(done=numbers.size(transfer.done), total=numbers.size(transfer.total))
        )
    if transfer.speed > 0:
        said.append(tr("{size}/s").format(size=numbers.size(transfer.speed)))
    if transfer.left is not None:
        said.append(tr("{span} left").format(span=numbers.span(transfer.left)))
    return ", ".join(said)


def checkpoint_words(number: int) -> str:
    return tr("Base") if number == 0 else tr("Checkpoint {number}").format(number=numbers.count(number))


def checkpoint_badges(item: CheckpointInfo) -> str:
    """`Best, last`."""
    if item.other_model:
        return tr("from another model")
    said = [tr("best")] if item.best else []
    said += [tr("last")] if item.last else []
    return ", ".join(said)

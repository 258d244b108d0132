"""Remarks on stored settings that will not do what was meant. If no node runs, a separate process answers (`python -m
sapo_desktop.worker.control.keepable --data DIR KEY...`), because catalogue and models load slowly.

Nothing is refused here: while no node runs, a person may set several interdependent settings one by one.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec

from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import ModelError, SapoError, TooBig, UsageError
from sapo_desktop.core.files.gguf import is_gguf, parts_of
from sapo_desktop.core.fitting import TrainerKind
from sapo_desktop.core.sentences import Size, Text, sentence
from sapo_desktop.core.settings import Settings, between_commas
from sapo_desktop.models.describe import describe
from sapo_desktop.models.files.gguf_file import check_gguf
from sapo_desktop.models.files.locate import locate
from sapo_desktop.models.fit import ways
from sapo_desktop.system.beyond import idle_limits
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.hardware import Hardware, probe
from sapo_desktop.system.presence import programs
from sapo_desktop.tasks.catalogue import parse_tasks
from sapo_desktop.tasks.own.folder import load_tasks
from sapo_desktop.worker.hosts.choice import BaseModel, choose_engine
from sapo_desktop.worker.hosts.librarian import models_folder
from sapo_desktop.worker.membership.entering import check_port
from sapo_desktop.worker.membership.settings import check
from sapo_desktop.worker.store.keeper import bytes_in

_OF_MODEL = frozenset(
    {
        *("model", "models_folder", "generator", "trainer", "max_tokens", "memory_most", "card_memory_most"),
        *("remote_url", "remote_adapters"),
    }
)
"""Settings that are checked against the model, and the model against them."""


def before_a_start(folder: DataFolder, settings: Settings, keys: Collection[str]) -> list[Text]:
    """What would prevent a node's start with these settings, of which `keys` changed; then other remarks."""
    said: list[Text] = []
    try:
        if "tasks" in keys:
            parse_tasks(load_tasks(folder.tasks), settings.tasks)
        check(settings)
    except SapoError as error:
        said.append(_no_start(error))
    if "listen" in keys and settings.listen and not said:
        try:
            check_port(settings.listen)
        except UsageError as error:
            said.append(error.text)
    return [*said, *doubts(settings, keys)]


def doubts(settings: Settings, keys: Collection[str], held: int = 0) -> list[Text]:
    """Valid settings that may not be what was meant. `held`: bytes of a running node's model."""
    said = _unknown_programs(settings) if "pause_for" in keys else []
    if _OF_MODEL.intersection(keys) or ("silo" in keys and settings.generator == "remote"):
        said += _by_model(settings, keys, held)
    if "disk_gigabytes" in keys and settings.disk_gigabytes:
        models = bytes_in([models_folder(settings)])
        if models > settings.disk_gigabytes * 1e9:
            text = sentence(
                "The models alone take {size}, and models are never deleted automatically. Remove one "
                "yourself, or allow more space.",
                in_terminal="sapo-desktop models",
                size=Size(bytes=models),
            )
            said.append(text)
    return [*said, *idle_limits(settings, keys, models_folder(settings))]


def _no_start(error: SapoError) -> Text:
    return sentence("A node cannot start with these settings. {reason}", reason=error.text)


def _by_model(settings: Settings, keys: Collection[str], held: int) -> list[Text]:
    """The effect of the model on these settings: which engines answer and learn, and which settings have no effect."""

    def look(folder: Path) -> Hardware:
        here = probe(folder)
        return msgspec.structs.replace(here, memory_free=here.memory_free + held)

    try:
        path = locate(settings.model, models_folder(settings))
        only_answers = check_gguf(parts_of(path)).only_answers if is_gguf(path) else ""
        choice = choose_engine(settings, BaseModel(path, "", 0, only_answers), look)
    except SapoError as error:
        return [_no_start(error)]
    said = [choice.note] if choice.note else []
    try:
        model = describe(path)
    except ModelError:  # a file that can only answer need not say
        return said
    try:
        trainer: TrainerKind = "torch" if choice.trains else "none"
        ways.plan(model, look(path.parent), settings, 0, choice.generator, trainer, choice.device)
    except TooBig as error:
        said.append(error.text)
    if {"max_tokens", "model"}.intersection(keys) and model.context < settings.max_tokens:
        said.append(
            sentence(
                "This model has a context of {context} tokens, including the question, so its answers end "
                "there instead of at {value}.",
                context=str(model.context),
                value=str(settings.max_tokens),
            )
        )
    return said


def _unknown_programs(settings: Settings) -> list[Text]:
    """A remark on programs to pause for that do not exist on this computer."""
    said: list[Text] = []
    for name, near in programs.nearest_to_unknown(between_commas(settings.pause_for)).items():
        if near:
            said.append(
                sentence("No program {name} is running or found here. Did you mean {near}?", name=name, near=near)
            )
        else:
            said.append(
                sentence(
                    "No program {name} is running or found here. Start it, and look up its name "
                    "in a list of processes.",
                    name=name,
                )
            )
    return said


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the remarks to standard output, as a JSON list; returns the exit code."""
    parser = argparse.ArgumentParser(prog="sapo_desktop.worker.control.keepable", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("keys", nargs="+")
    given = parser.parse_args(arguments)
    folder = DataFolder.at(given.data)
    said = before_a_start(folder, settings_file.read(folder.settings).settings, given.keys)
    sys.stdout.buffer.write(msgspec.json.encode(said))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

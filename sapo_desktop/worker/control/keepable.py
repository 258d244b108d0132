"""What to say of settings that are kept and will not do what was meant. Where no node runs that is asked of a process
of its own (`python -m sapo_desktop.worker.control.keepable --data DIR KEY...`), as catalogue and models load slowly.

Nothing is refused here. Of a node that does not run a person may set several things that only go together, one by one.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec

from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.sentences import Size, Text, sentence
from sapo_desktop.core.settings import Settings, between_commas
from sapo_desktop.models.files.locate import locate
from sapo_desktop.system.beyond import idle_limits
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.presence import programs
from sapo_desktop.tasks.catalogue import parse_tasks
from sapo_desktop.tasks.own.folder import load_tasks
from sapo_desktop.worker.hosts.choice import REFUSED_IN_SILO
from sapo_desktop.worker.hosts.librarian import models_folder
from sapo_desktop.worker.membership.settings import check
from sapo_desktop.worker.store.keeper import bytes_in


def before_a_start(folder: DataFolder, settings: Settings, keys: Collection[str]) -> list[Text]:
    """What would keep a node from starting by these settings, of which `keys` were changed; then the doubts."""
    said: list[Text] = []
    try:
        if "tasks" in keys:
            parse_tasks(load_tasks(folder.tasks), settings.tasks)
        if "model" in keys or "models_folder" in keys:
            locate(settings.model, models_folder(settings))
        check(settings)
        if {"generator", "silo"}.intersection(keys) and settings.generator == "remote" and settings.silo:
            said.append(REFUSED_IN_SILO)
    except SapoError as error:
        said.append(error.text)
    if said:
        said = [sentence("A node does not start by these settings. {reason}", reason=said[0])]
    return [*said, *doubts(settings, keys)]


def doubts(settings: Settings, keys: Collection[str]) -> list[Text]:
    """What is taken, but is maybe not what was meant."""
    said = _unknown_programs(settings) if "pause_for" in keys else []
    if "disk_gigabytes" in keys and settings.disk_gigabytes:
        models = bytes_in([models_folder(settings)])
        if models > settings.disk_gigabytes * 1e9:
            text = sentence(
                "The models alone take {size}, and no model is deleted: remove one yourself, or allow more.",
                in_terminal="sapo-desktop models",
                size=Size(bytes=models),
            )
            said.append(text)
    return [*said, *idle_limits(settings, keys, models_folder(settings))]


def _unknown_programs(settings: Settings) -> list[Text]:
    """What to say of programs to pause for that this computer does not know."""
    said: list[Text] = []
    for name, near in programs.nearest_to_unknown(between_commas(settings.pause_for)).items():
        if near:
            said.append(sentence("No program {name} runs or is found here: did you mean {near}?", name=name, near=near))
        else:
            said.append(
                sentence(
                    "No program {name} runs or is found here. Start it, and look for its name in a list of processes.",
                    name=name,
                )
            )
    return said


def main(arguments: Sequence[str] | None = None) -> int:
    """Write to standard output what is to be said, as a JSON list; returns the exit code."""
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

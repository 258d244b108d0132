"""The conditions of a run: everything that must be equal for a resumed run to equal an unbroken one, bit for bit.

History stores one manifest per start of training; `differs` says in words what changed since. Facts that only an engine
knows (torch's version, device, dtype) are arguments: nothing here imports it.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from importlib import metadata
from typing import Any

import msgspec

import sapo_desktop
from sapo_desktop.core.records import Record
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.system.hardware import processor

_HASH = re.compile("[0-9a-f]{64}")
_PACKAGES = ("transformers", "peft", "reasoning_gym", "numpy", "tokenizers")
_WITHOUT_EFFECT = {
    # the window's appearance and notifications
    "label", "language", "look_for_updates", "notify", "start_at_login", "text_size", "theme", "when_window_closes",
    # when a node computes, not what
    "hottest", "keep_awake", "low_priority", "on_battery", "on_metered", "pause_for", "price_per_kwh",
    "processor_percent", "round_most", "schedule", "when_in_use",
    # what is stored, and where
    "disk_gigabytes", "models_folder",
    # how others are reached; a proxy's login must not be in a log
    "announce", "download_kilobytes", "listen", "proxy", "serve", "serve_port", "upload_kilobytes",
}  # fmt: skip
"""Settings that change no number of a run."""


class RunManifest(Record, frozen=True):
    """The conditions of a run."""

    settings: dict[str, Any]
    """The settings of that time: a value that no longer exists is still part of what was played."""
    seed: int
    """The one drawn if the setting is 0."""
    versions: dict[str, str]
    model_sha256: str
    catalogue: str
    """Id of the task catalogue, which decides what questions a seed means."""
    processor: str
    cores: int
    system: str
    """Operating system and architecture, as in `Linux x86_64`."""
    threads: int
    micro_batch: int
    device: str
    dtype: str


def manifest_of(
    settings: Settings,
    *,
    seed: int,
    model_sha256: str,
    catalogue: str,
    engine_versions: Mapping[str, str],
    threads: int,
    micro_batch: int,
    device: str,
    dtype: str,
) -> RunManifest:
    """The manifest of a run that starts now on this computer."""
    return RunManifest(
        settings=msgspec.to_builtins(settings),
        seed=seed,
        versions=_versions() | dict(engine_versions),
        model_sha256=model_sha256,
        catalogue=catalogue,
        processor=processor(),
        cores=os.cpu_count() or 1,
        system=f"{platform.system()} {platform.machine()}",
        threads=threads,
        micro_batch=micro_batch,
        device=device,
        dtype=dtype,
    )


def differs(before: RunManifest, after: RunManifest) -> list[Text]:
    """What differs, in words, one entry each; empty if the run continues exactly."""
    changed = [
        _change(name.replace("_", " "), getattr(before, name), getattr(after, name))
        for name in before.__struct_fields__
        if name not in ("settings", "versions") and getattr(before, name) != getattr(after, name)
    ]
    for name in sorted(before.versions.keys() | after.versions.keys()):
        old, new = before.versions.get(name, "none"), after.versions.get(name, "none")
        if old != new:
            changed.append(_change(sentence("version of {name}", name=name), old, new))
    for key, old in before.settings.items():
        if key not in _WITHOUT_EFFECT and after.settings.get(key, old) != old:
            changed.append(_change(sentence("setting {name}", name=key), old, after.settings[key]))
    return changed


def _versions() -> dict[str, str]:
    found = {"sapo_desktop": sapo_desktop.__version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "none"
    return found


def _change(what: Text, old: object, new: object) -> Text:
    return sentence("{what}: {now} instead of {before}", what=what, now=_said(new), before=_said(old))


def _said(value: object) -> Text:
    """The value as it is typed, with a word for an empty value. The beginning of a hash or key is enough."""
    if isinstance(value, str) and _HASH.fullmatch(value):
        return value[:8]
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value) or sentence("nothing")

"""Settings whose value is beyond this computer: more threads than cores, more memory than there is, no such card."""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path

import psutil

from sapo_desktop.core.sentences import Size, Text, sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.system.folders import existing
from sapo_desktop.system.hardware import gpus, memory_quota, torch_takes_cards, usable_cores
from sapo_desktop.system.presence.battery import power

_LEAST_MEMORY = 600_000_000
"""Bytes that a node of the smallest model takes."""


def beyond(settings: Settings, keys: Collection[str]) -> dict[str, Text]:
    """Why, for those of these settings that this computer cannot keep."""
    found: dict[str, Text] = {}
    cores = usable_cores()
    for key in ("threads", "threads_away"):
        if key in keys and getattr(settings, key) > cores:
            found[key] = sentence(
                "{key} cannot be {value}: a node may use {cores} cores here, and more threads than cores make each "
                "round many times slower. Choose at most {cores}, or 0.",
                key=key,
                value=str(getattr(settings, key)),
                cores=str(cores),
            )
    memory = _memory()
    if "memory_reserve" in keys and settings.memory_reserve * 1e9 > memory - _LEAST_MEMORY:
        found["memory_reserve"] = sentence(
            "memory_reserve cannot be {value} GB: this computer has {memory}, and no model would have room in what is "
            "left. Choose less.",
            value=f"{settings.memory_reserve:g}",
            memory=Size(bytes=memory),
        )
    if "device" in keys and (reason := _no_device(settings.device)):
        found["device"] = reason
    return found


def idle_limits(settings: Settings, keys: Collection[str], places: Path) -> list[Text]:
    """What to say of those of these settings that limit nothing here. `places`: where node and models are kept."""
    card = max((one.memory for one in gpus()), default=0) if "card_memory_most" in keys else 0
    disk = psutil.disk_usage(str(existing(places))).total if "disk_gigabytes" in keys else 0
    said: list[Text] = [
        sentence("{key} limits nothing: this computer has {size} of it. Choose less.", key=key, size=Size(bytes=there))
        for key, there in (("memory_most", _memory()), ("card_memory_most", card), ("disk_gigabytes", disk))
        if key in keys and there and getattr(settings, key) * 1e9 > there
    ]
    now = power()
    if "battery_least" in keys and not now.battery and now.charge is None:
        said.append(sentence("This computer shows no battery now: battery_least does nothing without one."))
    return said


def _memory() -> int:
    total, limit = int(psutil.virtual_memory().total), memory_quota()
    return min(total, limit) if limit else total


def _no_device(device: str) -> Text:
    if device == "cuda" and not (gpus() and torch_takes_cards()):
        return sentence(
            "device cannot be cuda: PyTorch finds no NVIDIA card with its driver here. With auto it takes one once "
            "there is one."
        )
    if device == "mps" and sys.platform != "darwin":
        return sentence("device cannot be mps: only Macs have it. Choose auto.")
    return ""

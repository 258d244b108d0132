"""Settings whose value exceeds this computer: more threads than cores, more memory than installed, a missing card."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from pathlib import Path

import psutil

from sapo_desktop.core.sentences import Size, Text, sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.system.folders import existing
from sapo_desktop.system.hardware import gpus, memory_quota, torch_takes_cards, usable_cores
from sapo_desktop.system.presence.sensors import degrees


def beyond(settings: Settings, keys: Collection[str]) -> dict[str, Text]:
    """The reason for each of these settings that this computer cannot keep."""
    found: dict[str, Text] = {}
    cores = usable_cores()
    if "threads" in keys and settings.threads > cores:
        found["threads"] = sentence(
            "threads cannot be {value}: a node may use {cores} cores here, and more threads than cores make each "
            "round many times slower. Choose at most {cores}, or 0.",
            value=str(settings.threads),
            cores=str(cores),
        )
    if "device" in keys and (reason := _no_device(settings.device)):
        found["device"] = reason
    return found


def idle_limits(settings: Settings, keys: Collection[str], places: Path) -> list[Text]:
    """A remark for each of these settings that limits nothing here. `places`: where node and models are stored."""
    card = max((one.memory for one in gpus()), default=0) if "card_memory_most" in keys else 0
    disk = psutil.disk_usage(str(existing(places))).total if "disk_gigabytes" in keys else 0
    said: list[Text] = [
        sentence(
            "{key} limits nothing, because this computer has {size}. Choose less.", key=key, size=Size(bytes=there)
        )
        for key, there in (("memory_most", _memory()), ("card_memory_most", card), ("disk_gigabytes", disk))
        if key in keys and there and getattr(settings, key) * 1e9 > there
    ]
    heat = degrees() if "hottest" in keys and settings.hottest else None
    if heat is not None and heat >= settings.hottest:
        said.append(sentence("It is {degrees} °C now, so the node pauses immediately.", degrees=f"{heat:.0f}"))
    for key, named in (("models_folder", str(places)), ("remote_adapters", settings.remote_adapters)):
        folder = existing(Path(named).expanduser())
        if key in keys and named and not os.access(folder, os.W_OK):
            said.append(
                sentence("This node cannot write to {folder}. Choose another {key}.", folder=str(folder), key=key)
            )
    return said


def _memory() -> int:
    total, limit = int(psutil.virtual_memory().total), memory_quota()
    return min(total, limit) if limit else total


def _no_device(device: str) -> Text:
    if device == "cuda" and not (gpus() and torch_takes_cards()):
        return sentence(
            "device cannot be cuda: PyTorch finds no NVIDIA card with a driver here. With auto, a card "
            "is used once there is one."
        )
    if device == "mps" and sys.platform != "darwin":
        return sentence("device cannot be mps, which only Macs have. Choose auto.")
    return ""

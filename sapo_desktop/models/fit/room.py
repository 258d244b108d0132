"""The memory available to a model: the computer's or its card's, and how much of it is free.

system/hardware.py reads the hardware again before each load.
"""

from __future__ import annotations

import msgspec

from sapo_desktop.core.fitting import Available
from sapo_desktop.core.sentences import Size, Text, sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.system.hardware import Gpu, Hardware

ASSUMED_FREE, ASSUMED_FREE_CARD = 0.75, 0.9
"""For a computer that is only described: what its system and other programs leave."""
CARD_IN_USE = 0.85
"""With less than this free, another program is using the card."""
OTHER_PROCESSES = 450_000_000
"""Bytes that worker and examiners use in addition to an engine, within the limit for all processes."""


def described(ram: float | None, vram: float | None, here: Hardware) -> Hardware:
    """The hardware here with a different amount of memory (GiB); how much is free is assumed."""
    changed = here
    if ram is not None:
        total = int(ram * 2**30)
        changed = msgspec.structs.replace(
            changed, memory=total, memory_free=int(ASSUMED_FREE * total), memory_limited=False, swap=0
        )
    if vram is not None:
        total = int(vram * 2**30)
        card = Gpu(f"a card of {vram:g} GiB", total, int(ASSUMED_FREE_CARD * total))
        changed = msgspec.structs.replace(changed, gpus=[card] if total else [], unified=False)
    return changed


def available(hardware: Hardware, settings: Settings) -> Available:
    """The available memory. One card only: the one with the most free memory."""
    notes: list[Text] = []
    if hardware.memory_limited:
        notes.append(sentence("A container limits memory to {size}.", size=Size(bytes=hardware.memory)))
    if hardware.idle_gpus:
        idle = ", ".join(hardware.idle_gpus)
        notes.append(sentence("{names}: not used, this installation computes on the processor only.", names=idle))
    if hardware.swap:
        swap = Size(bytes=hardware.swap)
        notes.append(sentence("{size} of swap are not counted: a model in swap is too slow to use.", size=swap))
    cards = sorted(hardware.gpus, key=lambda card: card.free, reverse=True)
    if cards and settings.device in ("auto", "cuda"):
        card = cards[0]
        if len(cards) > 1:
            notes.append(
                sentence("Of {count} graphics cards, the one with the most free memory is used.", count=len(cards))
            )
        if card.free < CARD_IN_USE * card.memory:
            taken, whole = Size(bytes=card.memory - card.free), Size(bytes=card.memory)
            notes.append(sentence("The graphics card is in use: {taken} of {size} are taken.", taken=taken, size=whole))
        most = int(settings.card_memory_most * 1e9) or card.free
        return Available(
            memory=hardware.memory,
            memory_free=hardware.memory_free,
            device="cuda",
            device_name=card.name,
            device_memory=card.memory,
            device_memory_free=min(card.free, most),
            card_allowed=most if most < card.free else None,
            allowed=_allowed(settings),
            unmeasured=True,
            notes=tuple(notes),
        )
    if hardware.unified:
        notes.append(sentence("Graphics and processor share one memory, which is counted once."))
    return Available(
        memory=hardware.memory,
        memory_free=hardware.memory_free,
        device="mps" if hardware.unified and settings.device == "mps" else "cpu",
        allowed=_allowed(settings),
        unified=hardware.unified,
        unmeasured=hardware.unified or not hardware.system.startswith("Linux"),
        notes=tuple(notes),
    )


def places(hardware: Hardware, settings: Settings) -> list[Available]:
    """Where torch may compute here, the faster place first: if a card is too small or in use, the processor remains."""
    here = available(hardware, settings)
    if here.device == "cuda" and settings.device == "auto":
        return [here, available(hardware, msgspec.structs.replace(settings, device="cpu"))]
    return [here]


def _allowed(settings: Settings) -> int | None:
    """Bytes for the engine, out of the limit for all processes."""
    return max(0, int(settings.memory_most * 1e9) - OTHER_PROCESSES) if settings.memory_most else None

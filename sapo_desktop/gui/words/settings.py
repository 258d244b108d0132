"""Titles of the groups of settings, and the meaning of choices and numbers, in the window's language. A setting's
own title and sentence are in core/settings.py; packaging/translations.py collects them."""

from __future__ import annotations

from sapo_desktop.core import settings_file
from sapo_desktop.core.settings import GroupName
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import LANGUAGES, catalogued, tr
from sapo_desktop.gui.words.learning import WEIGHTINGS, weighting_name
from sapo_desktop.worker.control.messages.facts import Usage


def group_titles() -> dict[GroupName, str]:
    return {
        "window": tr("Window"),
        "gentle": tr("What it may use"),
        "when": tr("When it runs"),
        "network": tr("Network"),
        "learning": tr("Learning"),
        "model": tr("Model"),
        "remote": tr("Remote server"),
        "storage": tr("Storage"),
    }


def group_sentences() -> dict[GroupName, str]:
    return {
        "window": tr("How this window looks, and what closing it does."),
        "gentle": tr("How much of this computer the node may use."),
        "when": tr("When the node may compute. If a condition is not met, the node pauses and shows which one."),
        "network": tr("Who the node talks to, and what it sends."),
        "learning": tr(
            "Which questions are asked, what counts, and how the model changes. The defaults are best tested."
        ),
        "model": tr("Which model learns, and which engine runs it."),
        "remote": tr(
            "Answers come from your own server if you choose it under Model. Training stays on this computer."
        ),
        "storage": tr("Where models come from, where they are stored, and how much disk is used."),
    }


def titles() -> dict[str, str]:
    """A setting's display name."""
    return {key: catalogued(settings_file.describe(key).title) for key in settings_file.known_keys()}


def sentence(key: str) -> str:
    """What a setting does."""
    return catalogued(settings_file.describe(key).description)


def choices(key: str) -> dict[str, str]:
    """Labels of a setting's values, without those that are names themselves."""
    words: dict[str, dict[str, str]] = {
        "language": {"auto": tr("Same as system"), **LANGUAGES},
        "theme": {"system": tr("Same as system"), "light": tr("Light"), "dark": tr("Dark")},
        "when_window_closes": {"end": tr("Quit"), "continue": tr("Continue")},
        "on_battery": {"pause": tr("Pause"), "continue": tr("Continue")},
        "notify": {
            "none": tr("None"),
            "problems": tr("Problems"),
            "pauses": tr("Problems and pauses"),
            "all": tr("All"),
        },
        "when_in_use": {"pause": tr("Pause"), "limits": tr("Apply the limits"), "continue": tr("Continue")},
        "on_metered": {"pause": tr("Pause"), "continue": tr("Continue")},
        "weighting": {name: weighting_name(name) for name in WEIGHTINGS},
        "reward": {
            "auto": tr("Right, or readable at first"),
            "strict": tr("Right or not"),
            "partial": tr("Partial score"),
        },
        "shots": {"auto": tr("chosen by the app")},
        "generator": {"auto": tr("chosen by the app"), "torch": "PyTorch", "remote": tr("remote server")},
        "trainer": {"auto": tr("chosen by the app"), "torch": "PyTorch", "none": tr("nothing")},
        "device": {
            "auto": tr("chosen by the app"),
            "cpu": tr("processor"),
            "cuda": "NVIDIA (CUDA)",
            "mps": "Apple (MPS)",
        },
    }
    return words.get(key, {})


def zero(key: str) -> str:
    """The meaning of 0, if it is not an ordinary number."""
    return {
        "threads": tr("half the cores"),
        "memory_most": tr("no limit"),
        "disk_gigabytes": tr("no limit"),
        "upload_kilobytes": tr("no limit"),
        "download_kilobytes": tr("no limit"),
        "card_memory_most": tr("all free memory"),
        "hottest": tr("never"),
        "max_tokens": tr("as the model needs"),
        "seed": tr("random"),
        "validate_every": tr("never"),
    }.get(key, "")


def measured(usage: Usage, price: float) -> dict[str, str]:
    """The measured use, for the settings that limit it."""
    now = tr("Now: {value}")
    kwh = usage.joules / 3.6e6
    energy = tr("So far: {energy}").format(energy=numbers.energy(usage.joules))
    if price:
        energy = tr("{energy}, cost {cost}").format(energy=energy, cost=numbers.number(price * kwh, 2))
    sent = now.format(value=tr("{size}/s").format(size=numbers.size(usage.sent)))
    received = now.format(value=tr("{size}/s").format(size=numbers.size(usage.received)))
    cores = now.format(value=tr("{count} cores").format(count=numbers.number(usage.cores, 2 if usage.cores else 0)))
    return {
        "threads": cores,
        "processor_percent": cores,
        "memory_most": now.format(value=numbers.size(usage.memory)),
        "card_memory_most": now.format(value=numbers.size(usage.card_memory)) if usage.card_memory else "",
        "upload_kilobytes": sent,
        "download_kilobytes": received,
        "disk_gigabytes": now.format(value=numbers.size(usage.disk)) if usage.disk else "",
        "price_per_kwh": energy,
    }


def unit(key: str) -> str:
    """The unit of a number."""
    return {
        "text_size": " %",
        **dict.fromkeys(("upload_kilobytes", "download_kilobytes"), tr(" KB/s")),
        "processor_percent": " %",
        "hottest": " °C",
        "round_most": tr(" s"),
        "memory_most": " GB",
        "disk_gigabytes": " GB",
        "card_memory_most": " GB",
        "max_tokens": tr(" tokens"),
        "validate_every": tr(" rounds"),
    }.get(key, "")

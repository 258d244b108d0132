"""What the settings are called and what their choices mean, in the window's language; what each does is said in
core/settings.py, whose sentences packaging/translations.py collects."""

from __future__ import annotations

from sapo_desktop.core import settings_file
from sapo_desktop.gui.settings.groups import GroupName
from sapo_desktop.gui.words.language import LANGUAGES, tr
from sapo_desktop.gui.words.learning import WEIGHTINGS, weighting_name
from sapo_desktop.gui.words.sentences import catalogued


def group_titles() -> dict[GroupName, str]:
    return {
        "window": tr("Window"),
        "gentle": tr("Gentle"),
        "network": tr("Network"),
        "learning": tr("Learning"),
        "model": tr("Model"),
        "remote": tr("Server elsewhere"),
        "storage": tr("Storage"),
    }


def group_sentences() -> dict[GroupName, str]:
    return {
        "window": tr("How this window looks, and what closing it means."),
        "gentle": tr("How much of this computer the node takes."),
        "network": tr("Who the node talks to, and what it says."),
        "learning": tr("What is asked, what counts, and how the model changes. The defaults are what was tried most."),
        "model": tr("Which model learns, and what computes."),
        "remote": tr("Answers from a server of yours, with `generator` set to it. Training stays here."),
        "storage": tr("Where models come from and are kept, and how much is written."),
    }


def titles() -> dict[str, str]:
    """A setting's name for a person."""
    return {
        "language": tr("Language"),
        "theme": tr("Colours"),
        "text_size": tr("Text size"),
        "close_to_tray": tr("Close to the tray"),
        "when_window_closes": tr("When the window goes away"),
        "threads": tr("Threads"),
        "low_priority": tr("Low priority"),
        "on_battery": tr("On battery"),
        "memory_reserve": tr("Memory left free"),
        "silo": tr("Silo"),
        "share": tr("Share answers"),
        "label": tr("Label"),
        "use_seed_list": tr("Seed list"),
        "lan": tr("Local network"),
        "private_addresses": tr("Private addresses"),
        "peers": tr("Peers"),
        "invited": tr("Peers by invite"),
        "blocked": tr("Blocked peers"),
        "listen": tr("Listen at"),
        "announce": tr("Announced address"),
        "proxy": tr("Proxy"),
        "swarm": tr("Private swarm"),
        "admission": tr("Admission"),
        "tasks": tr("Tasks"),
        "curriculum": tr("Curriculum"),
        "mix": tr("Own and peers' answers"),
        "weighting": tr("Weight of peers' answers"),
        "answers": tr("Answers to a question"),
        "questions": tr("Questions in a step"),
        "max_tokens": tr("Longest answer"),
        "temperature": tr("Temperature"),
        "reward": tr("Reward"),
        "validate_every": tr("Held-out questions every"),
        "method": tr("What is trained"),
        "lora_rank": tr("Adapter's rank"),
        "learning_rate": tr("Learning rate"),
        "learning_rate_decay": tr("Learning rate's half-life"),
        "updates": tr("Steps in a round"),
        "micro_batch": tr("Answers at once"),
        "seed": tr("Seed"),
        "model": tr("Model"),
        "generator": tr("What answers"),
        "generator_weights": tr("Weights for answering"),
        "trainer": tr("What learns"),
        "device": tr("Device"),
        "remote_url": tr("Server's address"),
        "remote_model": tr("Server's model"),
        "remote_adapters": tr("Folder for what is learned"),
        "remote_key_in_clear": tr("Key over plain http"),
        "models_folder": tr("Models folder"),
        "hub_endpoint": tr("Source of models"),
        "keep_checkpoints": tr("Checkpoints kept"),
        "write_gigabytes_a_day": tr("Written in a day"),
    }


def sentence(key: str) -> str:
    """What a setting does."""
    return catalogued(settings_file.describe(key).description)


def choices(key: str) -> dict[str, str]:
    """What a setting's values are called; those that are names themselves are missing."""
    words: dict[str, dict[str, str]] = {
        "language": {"auto": tr("As the system"), **LANGUAGES},
        "theme": {"system": tr("As the system"), "light": tr("Light"), "dark": tr("Dark")},
        "when_window_closes": {"end": tr("End"), "continue": tr("Go on")},
        "on_battery": {"pause": tr("Pause"), "continue": tr("Go on")},
        "mix": {"adaptive": tr("adaptive")},
        "weighting": {name: weighting_name(name) for name in WEIGHTINGS},
        "reward": {"strict": tr("Right or not"), "partial": tr("The marker's score")},
        "method": {"lora": tr("LoRA adapter"), "full": tr("All weights")},
        "generator": {"auto": tr("automatic"), "remote": tr("server elsewhere")},
        "trainer": {"auto": tr("automatic"), "none": tr("nothing")},
        "generator_weights": {"auto": tr("automatic")},
        "device": {"auto": tr("automatic"), "cpu": tr("processor"), "cuda": "NVIDIA (CUDA)", "mps": "Apple (MPS)"},
    }
    return words.get(key, {})


def zero(key: str) -> str:
    """What 0 stands for, where it is no number of anything."""
    return {
        "threads": tr("half the cores"),
        "questions": tr("as the model's"),
        "max_tokens": tr("as the model's"),
        "learning_rate_decay": tr("as the model's"),
        "seed": tr("drawn"),
        "validate_every": tr("never"),
    }.get(key, "")


def unit(key: str) -> str:
    """What stands behind a number."""
    return {
        "text_size": " %",
        "memory_reserve": " GB",
        "write_gigabytes_a_day": " GB",
        "max_tokens": tr(" tokens"),
        "validate_every": tr(" rounds"),
        "learning_rate_decay": tr(" steps"),
    }.get(key, "")

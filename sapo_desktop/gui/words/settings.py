"""What the settings are called and what their choices mean, in the window's language.

The sentences are core/settings.py's descriptions, word by word: they stand here once more so that they are translated,
and a test holds the two together.
"""

from __future__ import annotations

from sapo_desktop.gui.settings.groups import GroupName
from sapo_desktop.gui.words.language import LANGUAGES, tr


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
        "treatment": tr("Weight of peers' answers"),
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


def sentences() -> dict[str, str]:
    """What a setting does."""
    return {
        "language": tr("The window's language; auto: the system's, where it has it."),
        "theme": tr("The window's colours; system: as the desktop's."),
        "text_size": tr("The window's text size in percent."),
        "close_to_tray": tr("Closing the window leaves it in the tray, where there is one; else it is minimised."),
        "when_window_closes": tr("What the worker does when the window or terminal that started it goes away."),
        "threads": tr("Threads for computing; 0: half the cores."),
        "low_priority": tr("Give way to every other program."),
        "on_battery": tr("What a working node does when the computer loses its power supply."),
        "memory_reserve": tr("GB of free memory that this node leaves to other programs."),
        "silo": tr("No network at all."),
        "share": tr("Publish own answers to the swarm: under CC0, for everybody, not to be called back."),
        "label": tr("A name that stands beside shared answers; no secret."),
        "use_seed_list": tr("Begin with the seed list of this release, in the swarm."),
        "lan": tr("Find nodes on the local network, and show this one there."),
        "private_addresses": tr("Take loopback and home addresses for as good as public ones: a swarm in one house."),
        "peers": tr("Peers to keep links to, by comma: wss://HOST:PORT#KEY."),
        "invited": tr("Peers that an invite named: dialled only on the public internet. Set by peers join."),
        "blocked": tr("Keys of peers to have nothing to do with, by comma."),
        "listen": tr("HOST:PORT to take links at; empty: this node only dials."),
        "announce": tr("Address to tell other peers, wss://HOST:PORT, so that they dial this node."),
        "proxy": tr("Proxy for links to peers: http:// or socks5h://; empty: the environment's; off: none."),
        "swarm": tr("Admission key of the private swarm to be in; empty: the public one. Set by peers join, found."),
        "admission": tr("What admits this node's key to the private swarm. Set by peers join."),
        "tasks": tr("Families to train on, with or without a level, by comma; 'all' for every family."),
        "curriculum": tr("Move each task up above 70% solved and down below 20%."),
        "mix": tr("Own groups / external groups per step, scaled to its size; in silo all are own."),
        "treatment": tr("How external groups are weighed: guarded learns from right answers only, paper from all."),
        "answers": tr("Answers per question (L)."),
        "questions": tr("Groups in a training step (I + J); 0: the model's recommended number."),
        "max_tokens": tr("Longest answer in tokens; 0: the model's recommended number."),
        "temperature": tr("Sampling temperature while training."),
        "reward": tr("strict: 1 if solved, else 0. partial: the marker's own score."),
        "validate_every": tr("Rounds between validation scores; 0: none (no guard, no best checkpoint)."),
        "method": tr("Train a LoRA adapter, or all weights (tiny models)."),
        "lora_rank": tr("Rank of the adapter."),
        "learning_rate": tr("Adam's learning rate; 0: the model's recommended one."),
        "learning_rate_decay": tr(
            "Steps until the learning rate is half; a tenth is the least. 0: the model's recommended."
        ),
        "updates": tr("Optimiser steps per round."),
        "micro_batch": tr("Answers per forward pass; memory and time only."),
        "seed": tr("Repeats a silo run exactly; 0 draws one at first start."),
        "model": tr("'starter', an installed model's name, a transformers folder, or a GGUF file (only answers)."),
        "generator": tr(
            "What answers: torch, as it learns; llama.cpp beside it; remote: the server at remote_url; auto: "
            "torch where it learns, else llama.cpp."
        ),
        "generator_weights": tr(
            "Number format of the weights that llama.cpp answers with, where they are converted here; auto: "
            "q8_0, from a billion parameters on q4_k_m."
        ),
        "trainer": tr(
            "What learns. none: answers only; auto: torch, and none of a GGUF file or where only answering fits "
            "into memory."
        ),
        "device": tr("Where torch computes."),
        "remote_url": tr("A server with OpenAI's protocol that answers, not in silo: http://HOST:PORT."),
        "remote_model": tr("That server's name of the model; empty: the one it has."),
        "remote_adapters": tr(
            "A folder that the server sees under the same path, for what is learned; empty: answers only."
        ),
        "remote_key_in_clear": tr(
            "Send the server's key over plain http:// to another machine too, where it can be read."
        ),
        "models_folder": tr(
            "Where models are kept: a folder's full path; empty: one that all this user's nodes share."
        ),
        "hub_endpoint": tr("Where models come from: a mirror's address; empty: HF_ENDPOINT's, else the public hub."),
        "keep_checkpoints": tr("Checkpoints kept beside base and best."),
        "write_gigabytes_a_day": tr("Most that checkpoints may write a day, in GB."),
    }


def choices(key: str) -> dict[str, str]:
    """What a setting's values are called; those that are names themselves are missing."""
    match key:
        case "language":
            return {"auto": tr("As the system"), **LANGUAGES}
        case "theme":
            return {"system": tr("As the system"), "light": tr("Light"), "dark": tr("Dark")}
        case "when_window_closes":
            return {"end": tr("End"), "continue": tr("Go on")}
        case "on_battery":
            return {"pause": tr("Pause"), "continue": tr("Go on")}
        case "mix":
            return {"adaptive": tr("adaptive")}
        case "treatment":
            return {
                "guarded": tr("Guarded"),
                "positive": tr("Positive"),
                "shaped": tr("Shaped"),
                "capable": tr("Capable"),
                "paper": tr("As in the paper"),
            }
        case "reward":
            return {"strict": tr("Right or not"), "partial": tr("The marker's score")}
        case "method":
            return {"lora": tr("LoRA adapter"), "full": tr("All weights")}
        case "generator":
            return {"auto": tr("automatic"), "remote": tr("server elsewhere")}
        case "trainer":
            return {"auto": tr("automatic"), "none": tr("nothing")}
        case "generator_weights":
            return {"auto": tr("automatic")}
        case "device":
            return {"auto": tr("automatic"), "cpu": tr("processor"), "cuda": "NVIDIA (CUDA)", "mps": "Apple (MPS)"}
    return {}


def zero(key: str) -> str:
    """What 0 stands for, where it is no number of anything."""
    match key:
        case "threads":
            return tr("half the cores")
        case "questions" | "max_tokens" | "learning_rate_decay":
            return tr("as the model's")
        case "seed":
            return tr("drawn")
        case "validate_every":
            return tr("never")
    return ""


def unit(key: str) -> str:
    """What stands behind a number."""
    match key:
        case "text_size":
            return " %"
        case "memory_reserve" | "write_gigabytes_a_day":
            return " GB"
        case "max_tokens":
            return tr(" tokens")
        case "validate_every":
            return tr(" rounds")
        case "learning_rate_decay":
            return tr(" steps")
    return ""

"""Every setting of a node: type, default, its name and place on the settings page, and the sentence a user reads.

One flat frozen struct, so that `settings set KEY VALUE`, the settings file and the window's page share one list.
`core/settings_file.py` reads and writes the file. Ranges are checked here, once, wherever a value comes from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from sapo_desktop.core.records import WeightingName

SETTINGS_VERSION = 6

RENEWS = Meta(extra={"renews": True})
"""Marks a field that a node is built from: a change rebuilds the node after the current round."""

GroupName = Literal["window", "gentle", "when", "network", "learning", "model", "remote", "storage", "kept", "lab"]
"""The groups of the settings page, in its order; fields within a group keep their order. The last two are on no
page: `kept` holds what commands like `peers add` store, `lab` what only the lab varies."""


def _in_group(name: GroupName) -> Callable[[str, str], Meta]:
    def said(title: str, description: str) -> Meta:
        """Marks a field with its name on the settings page and the sentence that explains it."""
        return Meta(title=title, description=description, extra={"group": name})

    return said


in_model = _in_group("model")
in_learning = _in_group("learning")
in_remote = _in_group("remote")
in_network = _in_group("network")
in_gentle = _in_group("gentle")
in_when = _in_group("when")
in_storage = _in_group("storage")
in_window = _in_group("window")
in_kept = _in_group("kept")
in_lab = _in_group("lab")

MOST_KILOBYTES = 10**7
"""Maximum of a traffic limit in KB per second: more than any home connection."""
Mix = Literal["auto", "8/0", "6/2", "4/4", "2/6"]


class Parameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters that the lab varies in addition to the settings. A node always uses these values, which runs in the
    lab chose."""

    method: Annotated[
        Literal["lora", "full"], in_lab("What is trained", "Train a LoRA adapter, or all weights (tiny models).")
    ] = "lora"
    lora_rank: Annotated[int, Meta(ge=1, le=256), in_lab("Adapter's rank", "Rank of the adapter.")] = 8
    learning_rate_decay: Annotated[
        int,
        Meta(ge=0, le=10**9),
        in_lab(
            "Learning rate's half-life",
            "Steps until the learning rate is half; a tenth is the least. 0: the model's recommended.",
        ),
    ] = 0
    updates: Annotated[int, Meta(ge=1, le=16), in_lab("Steps in a round", "Optimiser steps per round.")] = 1
    # Sampling and training use one temperature; at 1, the log-probabilities are the model's own.
    temperature: Annotated[float, Meta(gt=0, le=5), in_lab("Temperature", "Sampling temperature while training.")] = 1.0
    # Affects memory and time only. It shrinks by itself if memory is short; above 16 no processor was faster.
    micro_batch: Annotated[
        int, Meta(ge=1, le=1024), in_lab("Answers at once", "Answers per forward pass; memory and time only.")
    ] = 16
    overlap: Annotated[
        bool,
        in_lab(
            "Answer during training",
            "In silo, answer the next round's questions while this round trains. Needs a processor with two threads or "
            "more, and enough memory.",
        ),
    ] = True


class Settings(Parameters, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of one data folder."""

    # model
    model: Annotated[
        str,
        in_model("Model", "starter, an installed model's name, a model folder, or a GGUF file."),
        RENEWS,
    ] = "starter"
    generator: Annotated[
        Literal["auto", "torch", "llama.cpp", "remote"],
        in_model(
            "Engine for answers",
            "Engine that answers. Auto: PyTorch if it also trains, otherwise llama.cpp. Remote: the "
            "server at remote_url.",
        ),
        RENEWS,
    ] = "auto"
    trainer: Annotated[
        Literal["auto", "torch", "none"],
        in_model(
            "Engine for training",
            "Engine that trains. Auto: PyTorch, or none if memory or the GGUF file allows answering only.",
        ),
        RENEWS,
    ] = "auto"
    device: Annotated[Literal["auto", "cpu", "cuda", "mps"], in_model("Device", "Where PyTorch computes."), RENEWS] = (
        "auto"
    )
    # learning
    tasks: Annotated[
        str,
        Meta(max_length=2000),
        in_learning(
            "Tasks", "Families to train on, with or without a level, separated by commas; 'all' for every family."
        ),
        RENEWS,
    ] = "all"
    curriculum: Annotated[
        bool,
        in_learning(
            "Curriculum",
            "Prefer questions that teach: levels that are sometimes solved, and questions that got right "
            "and wrong answers.",
        ),
    ] = True
    mix: Annotated[
        Mix,
        in_learning(
            "Own and peers' answers",
            "Own groups / external groups per step, scaled to its size; in silo all are own. Auto: 4/4, and 2/6 while "
            "few own groups teach.",
        ),
    ] = "4/4"
    weighting: Annotated[
        WeightingName,
        in_learning(
            "Weighting of peers' answers",
            "How peers' answers are weighted. Guarded: only right answers count. Paper: all count.",
        ),
    ] = "guarded"
    answers: Annotated[int, Meta(ge=2, le=64), in_learning("Answers per question", "Answers per question (L).")] = 8
    questions: Annotated[
        int, Meta(ge=1, le=256), in_learning("Questions per step", "Groups in a training step (I + J).")
    ] = 8
    max_tokens: Annotated[
        int,
        Meta(ge=0, le=8192),
        in_learning("Maximum answer length", "Maximum tokens per answer; 0: adapts to what the model needs."),
    ] = 0
    reward: Annotated[
        Literal["auto", "strict", "partial"],
        in_learning(
            "Reward",
            "Reward of an answer. Strict: 1 if right, otherwise 0. Auto: also 0.1 if readable, until nine in "
            "ten are. Partial: the examiner's own score.",
        ),
    ] = "auto"
    shots: Annotated[
        Literal["auto", "0", "1", "2"],
        in_learning(
            "Worked examples",
            "Examples shown to the model before each question. Auto: the number that helped it most at the start.",
        ),
    ] = "auto"
    validate_every: Annotated[
        int,
        Meta(ge=0, le=100000),
        in_learning("Held-out score every", "Rounds between held-out scores; 0: none (no guard, no best checkpoint)."),
    ] = 200
    learning_rate: Annotated[
        float, Meta(ge=0, le=0.1), in_learning("Learning rate", "Adam's learning rate; 0: the model's recommended one.")
    ] = 0.0
    seed: Annotated[
        int,
        Meta(ge=0, le=2**31 - 1),
        in_learning("Seed", "Repeats a silo run exactly; 0 draws a seed at the first start."),
        RENEWS,
    ] = 0
    # remote
    remote_url: Annotated[
        str,
        Meta(max_length=1000, pattern=r"^(https?://[^\s/?#@]+[^\s?#@]*(#\S+)?)?$"),
        in_remote(
            "Server's address",
            "A server with OpenAI's protocol that gives the answers (not in silo): http://HOST:PORT, or "
            "http://HOST:PORT#MODEL if it has several models.",
        ),
        RENEWS,
    ] = ""
    remote_adapters: Annotated[
        str,
        Meta(max_length=1000),
        in_remote(
            "Adapter folder for the server",
            "Folder for the adapter; the server must see it under the same path. Empty: the server only answers.",
        ),
        RENEWS,
    ] = ""
    # network
    silo: Annotated[bool, in_network("Silo", "No network at all.")] = True
    share: Annotated[
        bool,
        in_network(
            "Share answers",
            "Publish your model's answers to the swarm, in the public domain (CC0). This cannot be undone.",
        ),
    ] = False
    label: Annotated[
        str,
        Meta(pattern=r"^[A-Za-z0-9._/-]{0,64}$"),
        in_network("Label", "A name shown with shared answers. It is not secret."),
    ] = ""
    look_for_updates: Annotated[
        bool,
        in_network("Check for updates", "Check once a day for a newer version, except in silo. Nothing is installed."),
    ] = True
    serve: Annotated[
        bool,
        in_kept(
            "Answer other programs",
            "Programs on this computer may ask the model, by OpenAI's protocol. Switched on the page Try it.",
        ),
    ] = False
    serve_port: Annotated[
        int,
        Meta(ge=1024, le=65535),
        in_kept("Port for other programs", "Where programs find the model while serve is on."),
    ] = 8766
    lan: Annotated[bool, in_network("Local network", "Find nodes on the local network, and show this one there.")] = (
        False
    )
    upload_kilobytes: Annotated[
        int,
        Meta(ge=0, le=MOST_KILOBYTES),
        in_network("Maximum upload", "Maximum KB per second sent to peers over all links; 0: no limit."),
    ] = 0
    download_kilobytes: Annotated[
        int,
        Meta(ge=0, le=MOST_KILOBYTES),
        in_network("Maximum download", "Maximum KB per second received from peers and for models; 0: no limit."),
    ] = 0
    peers: Annotated[
        str, Meta(max_length=4000), in_kept("Peers", "Peers to keep links to, by comma: wss://HOST:PORT#KEY.")
    ] = ""
    invited: Annotated[
        str,
        Meta(max_length=4000),
        in_kept(
            "Peers by invite", "Peers that an invite named: dialled only on the public internet. Set by peers join."
        ),
    ] = ""
    blocked: Annotated[
        str,
        Meta(max_length=7000),
        in_kept(
            "Blocked peers", "Keys of blocked peers, by comma: this node neither links to them nor learns from them."
        ),
    ] = ""
    listen: Annotated[
        str,
        Meta(max_length=255),
        in_network("Accept links at", "HOST:PORT at which to accept links. Empty: this node only links to others."),
    ] = ""
    announce: Annotated[
        str,
        Meta(max_length=255),
        in_network("Public address", "Address at which other peers reach this node: wss://HOST:PORT."),
    ] = ""
    proxy: Annotated[
        str,
        Meta(max_length=1000, extra={"secret": True}),
        in_network(
            "Proxy",
            "Proxy for links, downloads and a remote server: http:// or socks5h://. Empty: the "
            "environment's; off: none.",
        ),
    ] = ""
    swarm: Annotated[
        str,
        Meta(pattern=r"^([0-9a-f]{64})?$"),
        in_kept(
            "Private swarm",
            "Admission key of the private swarm to be in; empty: the public one. Set by peers join, found.",
        ),
    ] = ""
    admission: Annotated[
        str,
        Meta(pattern=r"^([0-9a-f]{144})?$"),
        in_kept("Admission", "What admits this node's key to the private swarm. Set by peers join."),
    ] = ""
    # gentle
    round_most: Annotated[
        int,
        Meta(ge=5, le=86400),
        in_gentle(
            "Maximum round time", "In seconds. Models whose rounds take longer on this computer are not recommended."
        ),
    ] = 60
    threads: Annotated[int, Meta(ge=0, le=1024), in_gentle("Threads", "Threads for computing; 0: half the cores.")] = 0
    processor_percent: Annotated[
        int,
        Meta(ge=5, le=100),
        in_gentle("Share of the threads' time", "Percentage of time in which the threads compute."),
    ] = 100
    low_priority: Annotated[bool, in_gentle("Low priority", "Let every other program go first.")] = True
    memory_most: Annotated[
        float,
        Meta(ge=0, le=10_000),
        in_gentle(
            "Memory limit",
            "Maximum memory in GB for all processes of this node together; 0: no limit. Above it, the "
            "model is reloaded with smaller batches.",
        ),
    ] = 0.0
    card_memory_most: Annotated[
        float,
        Meta(ge=0, le=10_000),
        in_gentle(
            "Card memory limit",
            "Maximum GB of the graphics card's memory, a hard limit for PyTorch; 0: all free memory.",
        ),
        RENEWS,
    ] = 0.0
    price_per_kwh: Annotated[
        float,
        Meta(ge=0, le=10**6),
        in_gentle("Price of a kilowatt-hour", "Price of a kilowatt-hour in your currency; 0: no cost is shown."),
    ] = 0.0
    # when
    when_in_use: Annotated[
        Literal["pause", "limits", "continue"],
        in_when(
            "While you use the computer",
            "What a working node does while you use keyboard or mouse. Pause: it waits until 10 minutes "
            "after you stop. Limits: the limits on threads, processor and traffic apply only while you "
            "use it. Continue: they always apply.",
        ),
    ] = "continue"
    schedule: Annotated[
        str,
        Meta(max_length=1000),
        in_when(
            "Schedule", "Hours of the week in which to compute, like mon-fri 18-8; sat,sun 0-24. Empty: at any time."
        ),
    ] = ""
    on_battery: Annotated[
        Literal["pause", "continue"],
        in_when("On battery", "What a working node does while the computer runs on battery."),
    ] = "pause"
    on_metered: Annotated[
        Literal["pause", "continue"],
        in_when(
            "On a metered connection",
            "What a node in the swarm does on a metered connection. Pause also leaves the swarm.",
        ),
    ] = "pause"
    pause_for: Annotated[
        str,
        Meta(max_length=2000),
        in_when(
            "Pause for these programs",
            "The node pauses while one of these programs runs. Separate them with commas: blender, steam.exe.",
        ),
    ] = ""
    hottest: Annotated[
        int,
        Meta(ge=0, le=120),
        in_when("Maximum temperature", "Pause above this temperature of processor or card, in °C; 0: never."),
    ] = 0
    keep_awake: Annotated[
        bool, in_when("Keep awake", "Keep the computer from going to sleep while it computes on mains power.")
    ] = False
    # storage
    models_folder: Annotated[
        str,
        Meta(max_length=1000, pattern=r"^$|^[~/]|^[A-Za-z]:[\\/]"),
        in_storage(
            "Models folder", "Full path of the models folder. Empty: the folder shared by all nodes of this user."
        ),
    ] = ""
    disk_gigabytes: Annotated[
        float,
        Meta(ge=0, le=100_000),
        in_storage(
            "Disk limit",
            "Maximum disk space in GB for this node's folder and the models; 0: no limit. Above it, "
            "older checkpoints are deleted, then the oldest answers. The best checkpoint is kept.",
        ),
    ] = 0.0
    # window
    language: Annotated[
        Literal["auto", "en", "de"],
        in_window(
            "Language", "Language of the window: the system's (English if there is no translation), or one of these."
        ),
    ] = "auto"
    theme: Annotated[
        Literal["system", "light", "dark"],
        in_window("Colours", "Colours of the window: the desktop's, or always light or dark."),
    ] = "system"
    text_size: Annotated[int, Meta(ge=80, le=200), in_window("Text size", "The window's text size in percent.")] = 100
    when_window_closes: Annotated[
        Literal["end", "continue"],
        in_window(
            "When you close the window", "What the node does when you close the window or terminal that started it."
        ),
    ] = "end"
    start_at_login: Annotated[
        bool,
        in_window("Start at login", "Start in the tray when you log in, and continue what the node was doing."),
    ] = False
    notify: Annotated[
        Literal["none", "problems", "pauses", "all"],
        in_window(
            "Notifications",
            "Which notifications to show while the window is closed. At most one per hour; problems immediately.",
        ),
    ] = "problems"


def listed(text: str) -> list[str]:
    """The items of a list setting (`peers`, `blocked`), between commas or blanks, in order."""
    return text.replace(",", " ").split()


def between_commas(text: str) -> list[str]:
    """The items of a setting whose names may contain blanks (`pause_for`), in order."""
    return [name.strip() for name in text.split(",") if name.strip()]


def with_item(text: str, item: str) -> str:
    """Add the item to the list unless it is there."""
    kept = listed(text)
    return ", ".join([*kept, *([] if item in kept else [item])])


def without_item(text: str, item: str) -> str:
    """Remove the item from the list."""
    return ", ".join(one for one in listed(text) if one != item)

"""Every setting of a node: type, default, and the sentence a user reads.

One frozen struct, flat, so that `settings set KEY VALUE`, the settings file and the window's page are the
same list. Reading and writing the file is `core/settings_file.py`; ranges are checked here, once, wherever a
value comes from.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from sapo_desktop.core.records import WeightingName

SETTINGS_VERSION = 2

RENEWS = Meta(extra={"renews": True})
"""On a field: a node is put together by it, so a changed one puts it together anew, once the round in hand is done."""

Mix = Literal["8/0", "6/2", "4/4", "2/6", "adaptive"]


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of one data folder."""

    # learning
    model: Annotated[
        str,
        Meta(description="'starter', an installed model's name, a transformers folder, or a GGUF file (only answers)."),
        RENEWS,
    ] = "starter"
    generator: Annotated[
        Literal["auto", "torch", "llama.cpp", "remote"],
        Meta(
            description="What answers: torch, as it learns; llama.cpp beside it; remote: the server at remote_url; "
            "auto: torch where it learns, else llama.cpp."
        ),
        RENEWS,
    ] = "auto"
    generator_weights: Annotated[
        Literal["auto", "f32", "f16", "q8_0", "q4_0", "q4_k_m"],
        Meta(
            description="Number format of the weights that llama.cpp answers with, where they are converted here; "
            "auto: q8_0, from a billion parameters on q4_k_m."
        ),
        RENEWS,
    ] = "auto"
    trainer: Annotated[
        Literal["auto", "torch", "none"],
        Meta(
            description="What learns. none: answers only; auto: torch, and none of a GGUF file or where only answering "
            "fits into memory."
        ),
        RENEWS,
    ] = "auto"
    remote_url: Annotated[
        str,
        Meta(
            max_length=1000, description="A server with OpenAI's protocol that answers, not in silo: http://HOST:PORT."
        ),
        RENEWS,
    ] = ""
    remote_model: Annotated[
        str, Meta(max_length=300, description="That server's name of the model; empty: the one it has."), RENEWS
    ] = ""
    remote_adapters: Annotated[
        str,
        Meta(
            max_length=1000,
            description="A folder that the server sees under the same path, for what is learned; empty: answers only.",
        ),
        RENEWS,
    ] = ""
    remote_key_in_clear: Annotated[
        bool,
        Meta(description="Send the server's key over plain http:// to another machine too, where it can be read."),
        RENEWS,
    ] = False
    seed: Annotated[
        int, Meta(ge=0, le=2**31 - 1, description="Repeats a silo run exactly; 0 draws one at first start."), RENEWS
    ] = 0
    tasks: Annotated[
        str,
        Meta(
            max_length=2000,
            description="Families to train on, with or without a level, by comma; 'all' for every family.",
        ),
        RENEWS,
    ] = "all"
    curriculum: Annotated[bool, Meta(description="Move each task up above 70% solved and down below 20%.")] = True
    answers: Annotated[int, Meta(ge=2, le=64, description="Answers per question (L).")] = 8
    questions: Annotated[
        int, Meta(ge=0, le=256, description="Groups in a training step (I + J); 0: the model's recommended number.")
    ] = 0
    max_tokens: Annotated[
        int, Meta(ge=0, le=8192, description="Longest answer in tokens; 0: the model's recommended number.")
    ] = 0
    # It waits with the trainer's other settings, for sampling and training must use one temperature.
    temperature: Annotated[float, Meta(gt=0, le=5, description="Sampling temperature while training."), RENEWS] = 1.0
    reward: Annotated[
        Literal["strict", "partial"],
        Meta(description="strict: 1 if solved, else 0. partial: the marker's own score."),
    ] = "strict"
    mix: Annotated[
        Mix, Meta(description="Own groups / external groups per step, scaled to its size; in silo all are own.")
    ] = "4/4"
    weighting: Annotated[
        WeightingName,
        Meta(description="How external groups are weighed: guarded learns from right answers only, paper from all."),
    ] = "guarded"
    method: Annotated[
        Literal["lora", "full"], Meta(description="Train a LoRA adapter, or all weights (tiny models)."), RENEWS
    ] = "lora"
    lora_rank: Annotated[int, Meta(ge=1, le=256, description="Rank of the adapter."), RENEWS] = 8
    learning_rate: Annotated[
        float, Meta(ge=0, le=0.1, description="Adam's learning rate; 0: the model's recommended one.")
    ] = 0.0
    learning_rate_decay: Annotated[
        int,
        Meta(
            ge=0,
            le=10**9,
            description="Steps until the learning rate is half; a tenth is the least. 0: the model's recommended.",
        ),
    ] = 0
    updates: Annotated[int, Meta(ge=1, le=16, description="Optimiser steps per round."), RENEWS] = 1
    micro_batch: Annotated[
        int, Meta(ge=1, le=1024, description="Answers per forward pass; memory and time only."), RENEWS
    ] = 16
    validate_every: Annotated[
        int,
        Meta(
            ge=0,
            le=100000,
            description="Rounds between validation scores; 0: none (no guard, no best checkpoint).",
        ),
    ] = 40
    # being a good guest
    silo: Annotated[bool, Meta(description="No network at all.")] = True
    share: Annotated[
        bool, Meta(description="Publish own answers to the swarm: under CC0, for everybody, not to be called back.")
    ] = False
    peers: Annotated[
        str, Meta(max_length=4000, description="Peers to keep links to, by comma: wss://HOST:PORT#KEY.")
    ] = ""
    invited: Annotated[
        str,
        Meta(
            max_length=4000,
            description="Peers that an invite named: dialled only on the public internet. Set by peers join.",
        ),
    ] = ""
    swarm: Annotated[
        str,
        Meta(
            pattern=r"^([0-9a-f]{64})?$",
            description="Admission key of the private swarm to be in; empty: the public one. Set by peers join, found.",
        ),
    ] = ""
    admission: Annotated[
        str,
        Meta(
            pattern=r"^([0-9a-f]{144})?$",
            description="What admits this node's key to the private swarm. Set by peers join.",
        ),
    ] = ""
    listen: Annotated[
        str, Meta(max_length=255, description="HOST:PORT to take links at; empty: this node only dials.")
    ] = ""
    announce: Annotated[
        str,
        Meta(max_length=255, description="Address to tell other peers, wss://HOST:PORT, so that they dial this node."),
    ] = ""
    blocked: Annotated[
        str, Meta(max_length=7000, description="Keys of peers to have nothing to do with, by comma.")
    ] = ""
    private_addresses: Annotated[
        bool, Meta(description="Take loopback and home addresses for as good as public ones: a swarm in one house.")
    ] = False
    lan: Annotated[bool, Meta(description="Find nodes on the local network, and show this one there.")] = False
    proxy: Annotated[
        str,
        Meta(
            max_length=1000,
            description="Proxy for links to peers: http:// or socks5h://; empty: the environment's; off: none.",
            extra={"secret": True},
        ),
    ] = ""
    hub_endpoint: Annotated[
        str,
        Meta(
            max_length=500,
            pattern=r"^(https?://[^\s@]+)?$",
            description="Where models come from: a mirror's address; empty: HF_ENDPOINT's, else the public hub.",
        ),
    ] = ""
    models_folder: Annotated[
        str,
        Meta(
            max_length=1000,
            pattern=r"^$|^[~/]|^[A-Za-z]:[\\/]",
            description="Where models are kept: a folder's full path; empty: one that all this user's nodes share.",
        ),
    ] = ""
    use_seed_list: Annotated[bool, Meta(description="Begin with the seed list of this release, in the swarm.")] = True
    label: Annotated[
        str,
        Meta(pattern=r"^[A-Za-z0-9._/-]{0,64}$", description="A name that stands beside shared answers; no secret."),
    ] = ""
    threads: Annotated[int, Meta(ge=0, le=1024, description="Threads for computing; 0: half the cores.")] = 0
    low_priority: Annotated[bool, Meta(description="Give way to every other program.")] = True
    on_battery: Annotated[
        Literal["pause", "continue"],
        Meta(description="What a working node does when the computer loses its power supply."),
    ] = "pause"
    when_window_closes: Annotated[
        Literal["end", "continue"],
        Meta(description="What the worker does when the window or terminal that started it goes away."),
    ] = "end"
    theme: Annotated[
        Literal["system", "light", "dark"], Meta(description="The window's colours; system: as the desktop's.")
    ] = "system"
    language: Annotated[
        Literal["auto", "en", "de"], Meta(description="The window's language; auto: the system's, where it has it.")
    ] = "auto"
    text_size: Annotated[int, Meta(ge=80, le=200, description="The window's text size in percent.")] = 100
    close_to_tray: Annotated[
        bool, Meta(description="Closing the window leaves it in the tray, where there is one; else it is minimised.")
    ] = True
    memory_reserve: Annotated[
        float, Meta(ge=0, le=1000, description="GB of free memory that this node leaves to other programs."), RENEWS
    ] = 0.5
    keep_checkpoints: Annotated[
        int, Meta(ge=2, le=1000, description="Checkpoints kept beside base and best."), RENEWS
    ] = 5
    write_gigabytes_a_day: Annotated[
        float, Meta(gt=0, le=1000, description="Most that checkpoints may write a day, in GB."), RENEWS
    ] = 10.0
    device: Annotated[Literal["auto", "cpu", "cuda", "mps"], Meta(description="Where torch computes."), RENEWS] = "auto"


def listed(text: str) -> list[str]:
    """The words of a setting that holds a list (`peers`, `blocked`), between commas or blanks, in order."""
    return text.replace(",", " ").split()


def with_item(text: str, item: str) -> str:
    """The list with this item, which is there once."""
    kept = listed(text)
    return ", ".join([*kept, *([] if item in kept else [item])])


def without_item(text: str, item: str) -> str:
    """The list without this item."""
    return ", ".join(one for one in listed(text) if one != item)

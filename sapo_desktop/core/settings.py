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

SETTINGS_VERSION = 5

RENEWS = Meta(extra={"renews": True})
"""On a field: a node is put together by it, so a changed one puts it together anew, once the round in hand is done."""

MOST_KILOBYTES = 10**7
"""A second, that a cap of traffic can name: more than any link of a home carries, so it stands for no limit too."""
Mix = Literal["8/0", "6/2", "4/4", "2/6"]


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of one data folder."""

    # learning
    model: Annotated[
        str,
        Meta(description="starter, an installed model's name, a model folder, or a GGUF file (which only answers)."),
        RENEWS,
    ] = "starter"
    generator: Annotated[
        Literal["auto", "torch", "llama.cpp", "remote"],
        Meta(
            description="What answers. Left to the program: PyTorch where it learns, else llama.cpp. A server "
            "elsewhere is the one at remote_url."
        ),
        RENEWS,
    ] = "auto"
    generator_weights: Annotated[
        Literal["auto", "f32", "f16", "q8_0", "q4_0", "q4_k_m"],
        Meta(
            description="Number format of llama.cpp's weights, where they are converted here. Left to the "
            "program: q8_0, or q4_k_m from a billion parameters on."
        ),
        RENEWS,
    ] = "auto"
    trainer: Annotated[
        Literal["auto", "torch", "none"],
        Meta(
            description="What learns. Left to the program: PyTorch, and nothing with a GGUF file or where only "
            "answering fits into memory."
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
        str, Meta(max_length=300, description="The model's name on that server; empty: the only one there."), RENEWS
    ] = ""
    remote_adapters: Annotated[
        str,
        Meta(
            max_length=1000,
            description="Folder for what is learned; the server must see it under the same path. Empty: answers only.",
        ),
        RENEWS,
    ] = ""
    remote_key_in_clear: Annotated[
        bool,
        Meta(description="Send the server's key over plain http:// to another computer too, where it can be read."),
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
    curriculum: Annotated[
        bool,
        Meta(
            description="Prefer questions that teach: levels solved now and then, and questions with right and wrong "
            "answers again."
        ),
    ] = True
    answers: Annotated[int, Meta(ge=2, le=64, description="Answers per question (L).")] = 8
    questions: Annotated[int, Meta(ge=1, le=256, description="Groups in a training step (I + J).")] = 8
    max_tokens: Annotated[
        int, Meta(ge=0, le=8192, description="Longest answer in tokens; 0: the model's recommended number.")
    ] = 0
    # It waits with the trainer's other settings, for sampling and training must use one temperature.
    temperature: Annotated[float, Meta(gt=0, le=5, description="Sampling temperature while training."), RENEWS] = 1.0
    reward: Annotated[
        Literal["strict", "partial"],
        Meta(description="What an answer earns: 1 if solved, else 0; or the marker's own score."),
    ] = "strict"
    mix: Annotated[
        Mix, Meta(description="Own groups / external groups per step, scaled to its size; in silo all are own.")
    ] = "4/4"
    weighting: Annotated[
        WeightingName,
        Meta(
            description="How peers' groups are weighed: guarded learns from their right answers only, the paper's way "
            "from all."
        ),
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
    overlap: Annotated[
        bool,
        Meta(
            description="In silo, answer the next round beside this one's step, on two threads or more, with PyTorch. "
            "Takes more memory."
        ),
        RENEWS,
    ] = False
    micro_batch: Annotated[
        int, Meta(ge=1, le=1024, description="Answers per forward pass; memory and time only."), RENEWS
    ] = 16
    validate_every: Annotated[
        int,
        Meta(
            ge=0,
            le=100000,
            description="Rounds between held-out scores; 0: none (no guard, no best checkpoint).",
        ),
    ] = 160
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
        str,
        Meta(
            max_length=7000,
            description="Keys of blocked peers, by comma: this node neither links to them nor learns from them.",
        ),
    ] = ""
    private_addresses: Annotated[
        bool, Meta(description="Use loopback and home addresses like public ones: for a swarm in one house.")
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
    upload_kilobytes: Annotated[
        int,
        Meta(ge=0, le=MOST_KILOBYTES, description="KB a second that go to peers at most, over all links; 0: no limit."),
    ] = 0
    download_kilobytes: Annotated[
        int,
        Meta(
            ge=0, le=MOST_KILOBYTES, description="KB a second that come from peers at most, and of models; 0: no limit."
        ),
    ] = 0
    # In these two 0 says what it does in every setting for "away". Who wants no limit then names the highest number:
    # one below 0 would need a word of its own in the file, the window and the command line, for the same effect.
    upload_kilobytes_away: Annotated[
        int,
        Meta(
            ge=0,
            le=MOST_KILOBYTES,
            description="KB a second to peers while nobody uses the computer; 0: the same as otherwise, 10000000: no "
            "limit.",
        ),
    ] = 0
    download_kilobytes_away: Annotated[
        int,
        Meta(
            ge=0,
            le=MOST_KILOBYTES,
            description="KB a second from peers, and of models, while nobody uses the computer; 0: the same as "
            "otherwise, 10000000: no limit.",
        ),
    ] = 0
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
            description="Full path of the folder for models; empty: the folder that all nodes of this user share.",
        ),
    ] = ""
    use_seed_list: Annotated[bool, Meta(description="Begin with the seed list of this release, in the swarm.")] = True
    look_for_updates: Annotated[
        bool, Meta(description="Ask once a day, never in silo, whether a newer version is there. None is installed.")
    ] = True
    label: Annotated[
        str,
        Meta(pattern=r"^[A-Za-z0-9._/-]{0,64}$", description="A name that stands beside shared answers; no secret."),
    ] = ""
    threads: Annotated[int, Meta(ge=0, le=1024, description="Threads for computing; 0: half the cores.")] = 0
    threads_away: Annotated[
        int, Meta(ge=0, le=1024, description="Threads while nobody uses the computer; 0: the same as otherwise.")
    ] = 0
    processor_percent: Annotated[
        int, Meta(ge=5, le=100, description="Share of the threads' time in which the node computes, in percent.")
    ] = 100
    processor_percent_away: Annotated[
        int,
        Meta(
            ge=0,
            le=100,
            description="Share of the threads' time while nobody uses the computer, in percent; 0: the same as "
            "otherwise.",
        ),
    ] = 0
    low_priority: Annotated[bool, Meta(description="Give way to every other program.")] = True
    when_in_use: Annotated[
        Literal["pause", "continue"],
        Meta(description="What a working node does while somebody uses the computer's keyboard or mouse."),
    ] = "continue"
    away_after: Annotated[
        int,
        Meta(
            ge=1, le=1440, description="After so many minutes without keyboard and mouse the computer counts as unused."
        ),
    ] = 10
    schedule: Annotated[
        str,
        Meta(
            max_length=1000,
            description="Hours of the week to compute in, like mon-fri 18-8; sat,sun 0-24. Empty: at any time.",
        ),
    ] = ""
    on_battery: Annotated[
        Literal["pause", "continue"],
        Meta(description="What a working node does when the computer loses its power supply."),
    ] = "pause"
    battery_least: Annotated[
        int,
        Meta(ge=0, le=100, description="Pause below this charge in percent, if the node goes on computing on battery."),
    ] = 30
    on_metered: Annotated[
        Literal["pause", "continue"],
        Meta(description="What a node in the swarm does on a link that is paid by volume: pause leaves the swarm too."),
    ] = "pause"
    pause_for: Annotated[
        str, Meta(max_length=2000, description="Programs during which the node pauses, by comma: blender, steam.exe.")
    ] = ""
    card_share: Annotated[
        int,
        Meta(
            ge=0,
            le=100,
            description="Pause while other programs hold more of the graphics card's memory, in percent; 0: never.",
        ),
    ] = 50
    hottest: Annotated[
        int,
        Meta(ge=0, le=120, description="Pause above this temperature of processor or card, in degrees; 0: never."),
    ] = 0
    memory_back_after: Annotated[
        int, Meta(ge=0, le=1440, description="Minutes of a pause after which its memory is given back too; 0: never.")
    ] = 15
    core_watts: Annotated[
        float,
        Meta(ge=0, le=1000, description="Watts of a computing core, where the processor does not tell its energy."),
    ] = 10.0
    price_per_kwh: Annotated[
        float,
        Meta(ge=0, le=10**6, description="What a kilowatt-hour costs, in your currency; 0: no cost is shown."),
    ] = 0.0
    keep_awake: Annotated[
        bool, Meta(description="Keep the computer from falling asleep by itself while it computes on mains power.")
    ] = False
    when_window_closes: Annotated[
        Literal["end", "continue"],
        Meta(description="What the node does when the window or terminal that started it goes away."),
    ] = "end"
    notify: Annotated[
        Literal["none", "problems", "pauses", "all"],
        Meta(description="What the desktop tells while the window is closed: at most one an hour, problems at once."),
    ] = "problems"
    quiet_hours: Annotated[
        str, Meta(max_length=1000, description="Hours of the week in which it tells nothing, like mon-sun 22-7.")
    ] = ""
    start_at_login: Annotated[
        bool, Meta(description="Start the window in the tray when you log in, and go on with what the node did.")
    ] = False
    theme: Annotated[
        Literal["system", "light", "dark"],
        Meta(description="The window's colours: the desktop's, or always light or dark."),
    ] = "system"
    language: Annotated[
        Literal["auto", "en", "de"],
        Meta(
            description="The window's language: the system's (English where there is no translation), or one of these."
        ),
    ] = "auto"
    text_size: Annotated[int, Meta(ge=80, le=200, description="The window's text size in percent.")] = 100
    close_to_tray: Annotated[
        bool, Meta(description="Closing the window leaves it in the tray, where there is one; else it is minimised.")
    ] = True
    memory_reserve: Annotated[
        float, Meta(ge=0, le=1000, description="GB of free memory that this node leaves to other programs."), RENEWS
    ] = 0.5
    memory_most: Annotated[
        float,
        Meta(
            ge=0,
            le=10_000,
            description="GB of memory that all of this node's processes may hold together; 0: no limit. "
            "Above it the model is loaded anew, with less at once.",
        ),
    ] = 0.0
    card_memory_most: Annotated[
        float,
        Meta(
            ge=0,
            le=10_000,
            description="GB of the graphics card's memory to plan with, above which PyTorch gets no more; 0: what is "
            "free there.",
        ),
        RENEWS,
    ] = 0.0
    keep_checkpoints: Annotated[
        int, Meta(ge=2, le=1000, description="Checkpoints kept beside base and best."), RENEWS
    ] = 5
    disk_gigabytes: Annotated[
        float,
        Meta(
            ge=0,
            le=100_000,
            description="GB of disk for this node's folder and the models; 0: no limit. Above it older checkpoints go, "
            "never the best, then the oldest kept answers.",
        ),
    ] = 0.0
    write_gigabytes_a_day: Annotated[
        float, Meta(gt=0, le=1000, description="Most that checkpoints may write a day, in GB.")
    ] = 10.0
    device: Annotated[Literal["auto", "cpu", "cuda", "mps"], Meta(description="Where PyTorch computes."), RENEWS] = (
        "auto"
    )


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

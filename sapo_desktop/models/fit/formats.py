"""In which number format a processor computes a model faster: measured once for each width, kept in a node's cache.

What a processor says of itself (flags) is believed only while nothing was measured: virtual machines hide instructions
or run them slowly. The measuring is the engine's (engines/torch/products.py), asked for before memory is planned
(worker/hosts/loading.py), and holds for this processor and this torch. Left out: other processors' figures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import msgspec

from sapo_desktop.core.files.durable import write_atomically
from sapo_desktop.core.files.reading import read_json
from sapo_desktop.core.fitting import ProductTimes
from sapo_desktop.core.records import Record
from sapo_desktop.system.hardware import Hardware, fast_bfloat16, probe, processor

FILE = "number-formats.json"


class _Kept(Record, frozen=True):
    processor: str
    says_fast: bool
    """Its flag: of two computers with one name in a virtual machine only one may have the instructions."""
    torch: str
    measured: list[ProductTimes]


def remembered(cache: Path) -> list[ProductTimes]:
    """What was measured on this processor with this torch, a width once."""
    try:
        kept = read_json(cache / FILE, _Kept)
    except (OSError, msgspec.DecodeError):
        return []  # there is none, or none that can be read: it is measured anew
    return kept.measured if msgspec.structs.replace(kept, measured=[]) == _here([]) else []


def remember(cache: Path, times: ProductTimes) -> None:
    """Keep a measurement, in place of an earlier one at that width; OSError where the disk takes nothing."""
    others = [each for each in remembered(cache) if each.hidden != times.hidden]
    write_atomically(cache / FILE, msgspec.json.encode(_here([*others, times])))


def _here(measured: list[ProductTimes]) -> _Kept:
    try:
        torch = metadata.version("torch")
    except metadata.PackageNotFoundError:
        torch = ""  # before the engine pack is there
    return _Kept(processor=processor(), says_fast=fast_bfloat16(), torch=torch, measured=measured)


def with_measured(hardware: Hardware, cache: Path, lately: Sequence[ProductTimes] = ()) -> Hardware:
    """The hardware, and what this node has measured of it. `lately`: what its cache may not have taken."""
    return msgspec.structs.replace(hardware, products=[*remembered(cache), *lately])


def probe_with(cache: Path, folder: Path) -> Hardware:
    """As `probe(folder)`, with what this node has measured."""
    return with_measured(probe(folder), cache)


def bfloat16_computes_faster(hardware: Hardware, hidden: int) -> bool:
    """Whether the processor does, for a model of that width: by a measurement there, else at the nearest width, else
    by what the processor says of itself."""
    if not hardware.products:
        return hardware.fast_bfloat16
    return min(hardware.products, key=lambda times: abs(math.log(times.hidden / hidden))).bfloat16_pays

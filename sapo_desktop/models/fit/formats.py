"""Which number format is faster on this processor: measured once per width and kept in the node's cache.

The processor's own flags count only until a measurement, because virtual machines hide instructions or run them slowly.
The engine measures (engines/torch/products.py) before memory is planned (worker/hosts/loading.py); a measurement is
valid for this processor and this torch.
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
    """The processor's flag: of two computers with the same name in a virtual machine, only one may have the
    instructions."""
    torch: str
    measured: list[ProductTimes]


def remembered(cache: Path) -> list[ProductTimes]:
    """The measurements on this processor with this torch, one per width."""
    try:
        kept = read_json(cache / FILE, _Kept)
    except (OSError, msgspec.DecodeError):
        return []  # missing or unreadable: it is measured again
    return kept.measured if msgspec.structs.replace(kept, measured=[]) == _here([]) else []


def remember(cache: Path, times: ProductTimes) -> None:
    """Store a measurement and replace an earlier one of that width. Raises OSError if the disk refuses."""
    others = [each for each in remembered(cache) if each.hidden != times.hidden]
    write_atomically(cache / FILE, msgspec.json.encode(_here([*others, times])))


def _here(measured: list[ProductTimes]) -> _Kept:
    try:
        torch = metadata.version("torch")
    except metadata.PackageNotFoundError:
        torch = ""  # before the engine pack is installed
    return _Kept(processor=processor(), says_fast=fast_bfloat16(), torch=torch, measured=measured)


def with_measured(hardware: Hardware, cache: Path, lately: Sequence[ProductTimes] = ()) -> Hardware:
    """The hardware with this node's measurements. `lately`: ones that the cache may lack."""
    return msgspec.structs.replace(hardware, products=[*remembered(cache), *lately])


def probe_with(cache: Path, folder: Path) -> Hardware:
    """Like `probe(folder)`, with this node's measurements."""
    return with_measured(probe(folder), cache)


def bfloat16_computes_faster(hardware: Hardware, hidden: int) -> bool:
    """Whether bfloat16 is faster for a model of that width: by its measurement, otherwise the nearest width's,
    otherwise by the processor's flag."""
    if not hardware.products:
        return hardware.fast_bfloat16
    return min(hardware.products, key=lambda times: abs(math.log(times.hidden / hidden))).bfloat16_pays

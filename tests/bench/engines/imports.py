"""What does a process hold for having imported torch, before any model? The floor of the starter's engine.

    python -m tests.bench.engines.imports [--quick] [--json] [--seed N]

Each figure from its own process, on Linux: resident memory once torch is imported, the part of it that is pages of
files (which processes share), what loading torch's library alone adds (its tables of operators), and the same where the
registrations of torch's compiler are hidden from it, which nothing here needs, with the CPU seconds of both.
"""

import subprocess
import sys

import msgspec

from tests.bench.figure import Figure, arguments, show

CHILD = """
import json, sys, time, types
def held():
    with open("/proc/self/status") as file:
        return {line.split(":")[0]: 1024 * int(line.split()[1]) for line in file if line.startswith(("VmRSS", "Rss"))}
import numpy
if sys.argv[1] == "library":
    import importlib.util, ctypes, glob, os
    folder = os.path.join(os.path.dirname(importlib.util.find_spec("torch").origin), "lib")
    before, began = held(), time.process_time()
    ctypes.CDLL(os.path.join(folder, "libtorch_cpu.so"), ctypes.RTLD_GLOBAL)
else:
    if sys.argv[1] == "hidden":
        sys.modules["torch._meta_registrations"] = types.ModuleType("torch._meta_registrations")
    before, began = held(), time.process_time()
    import torch
after = held()
print(json.dumps({"seconds": time.process_time() - began, "modules": len(sys.modules), "resident": after["VmRSS"],
                  "files": after["RssFile"], "gained": after["RssAnon"] - before["RssAnon"]}))
"""


class Held(msgspec.Struct):
    """Bytes and CPU seconds."""

    seconds: float
    modules: int
    resident: int
    files: int
    gained: int
    """Not pages of files, since before."""


def main() -> None:
    options = arguments(__doc__).parse_args()
    whole, library, hidden = (of_import(way) for way in ("whole", "library", "hidden"))
    found = (
        ("resident", whole.resident / 1e6, "MB"),
        ("pages of files", whole.files / 1e6, "MB"),
        ("operators of its library", library.gained / 1e6, "MB"),
        ("modules", whole.modules, "modules"),
        ("time", whole.seconds, "CPU-s"),
        ("compiler hidden, less memory", (whole.resident - hidden.resident) / 1e6, "MB"),
        ("compiler hidden, less time", whole.seconds - hidden.seconds, "CPU-s"),
    )
    show((Figure(f"torch, {name}", value, unit) for name, value, unit in found), options)


def of_import(way: str) -> Held:
    done = subprocess.run([sys.executable, "-c", CHILD, way], stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout, type=Held)


if __name__ == "__main__":
    main()

"""Where the window's memory and the time of a frame go.

    python -m tests.bench.window.profile [--quick] [--json]

Memory by what is imported, in this order, in a process of its own. A frame as in cost.py, while no node
computes: the whole chart of 100,000 points, then without its curves, then without axes and grid too, in turns.
"""

import statistics
import tempfile
from collections.abc import Sequence

from tests.bench.figure import Figure, arguments, show
from tests.bench.window.cost import child
from tests.display import a_display


def main() -> None:
    given = arguments(__doc__).parse_args()
    with a_display(tray=True) as screen, tempfile.TemporaryDirectory() as scratch:
        (grown,) = child(["imports"], screen)
        (frames,) = child(["frames", scratch, "2" if given.quick else "20"], screen)
    for figure in [*memory(grown), *parts(frames)]:
        show(figure, given.json)


def memory(grown: dict[str, float]) -> list[Figure]:
    """What each import adds to the resident memory [bytes]."""
    return [Figure(name=f"memory of {name}", value=grew / 1e6, unit="MB") for name, grew in grown.items()]


def parts(frames: dict[str, Sequence[float]]) -> list[Figure]:
    """The medians [s], and what a part of the picture is of the whole."""
    whole, bare, empty = (statistics.median(frames[kind]) for kind in ("whole", "without curves", "empty"))
    shares = {"curves and band": whole - bare, "axes and grid": bare - empty, "what is left with nothing in it": empty}
    return [
        Figure(name="median of a frame", value=1000 * whole, unit="ms"),
        *(Figure(name=f"a frame: {name}", value=took / whole, unit="of its time") for name, took in shares.items()),
    ]


if __name__ == "__main__":
    main()

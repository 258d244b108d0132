"""Where the window's memory and the time of a frame go.

    python -m tests.bench.window.profile [--quick] [--json]

Memory by what is imported, in this order, in a process of its own. Frames and clicks as in cost.py, without a node and
in CPU time: the whole chart of 100,000 points, then without its curves, then without axes and grid too, in turns.
"""

from collections.abc import Sequence

from tests.bench.figure import Figure, arguments, show
from tests.bench.window.cost import child, quantile
from tests.display import a_display


def main() -> None:
    given = arguments(__doc__).parse_args()
    with a_display(tray=True) as screen:
        (grown,) = child(["imports"], screen)
        (frames,) = child(["frames", "2" if given.quick else "20"], screen)
    show([*memory(grown), *parts(frames)], given)


def memory(grown: dict[str, float]) -> list[Figure]:
    """What each import adds to the resident memory [bytes]."""
    return [Figure(f"memory of {name}", grew / 1e6, "MB") for name, grew in grown.items()]


def parts(frames: dict[str, Sequence[Sequence[float]]]) -> list[Figure]:
    """Frames and clicks, and what a part of the picture is of a frame."""
    cpu = {kind: [computed for _, computed in taken] for kind, taken in frames.items()}
    whole, bare, empty = (quantile(cpu[kind], 0.5) for kind in ("whole", "without curves", "empty"))
    shares = {"curves and band": whole - bare, "axes and grid": bare - empty, "what is left with nothing in it": empty}
    return [
        *(
            Figure(
                f"CPU of a {name}, median",
                quantile(cpu[kind], 0.5),
                "ms",
                note=f"p99 {quantile(cpu[kind], 0.99):.1f} ms of {len(cpu[kind])}",
            )
            for name, kind in (("frame", "whole"), ("click", "clicks"))
        ),
        *(Figure(f"a frame: {name}", took / whole, "of its time") for name, took in shares.items()),
    ]


if __name__ == "__main__":
    main()

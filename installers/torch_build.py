"""Where torch comes from: the configured sources, otherwise PyTorch's own index, otherwise the package index's plain
build."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from installers.flavour import FLAVOURS, Flavour
from installers.progress import Progress
from installers.trouble import HERE, NETWORK, CommandFailed, explain


def get_torch(
    flavour: Flavour,
    command: Sequence[str],
    asking: Sequence[str],
    progress: Progress,
    env: Mapping[str, str],
    keep_open: Sequence[int] = (),
) -> Flavour:
    """Run `command`, which installs or downloads the build of `flavour`; returns the flavour whose lock comes next.

    If the configured sources fail for any reason, `command` runs again with `asking`, the options that name PyTorch's
    own index (none: it is not tried). If that fails too, the plain flavour is returned, whose lock has torch.

    Raises:
        CommandFailed: the fault lies with this computer or its network, or there is no plain flavour.
    """
    try:
        progress.run(command, env, keep_open)
        return flavour
    except CommandFailed as error:
        if not asking or explain(error.output) in {*HERE, *NETWORK}:
            raise
    progress.note("The configured package sources do not have this build: asking PyTorch's own index.")
    try:
        progress.run([*command, *asking], env, keep_open)
        return flavour
    except CommandFailed as error:
        if flavour.plain is None or explain(error.output) in HERE:
            raise
    plain = FLAVOURS[flavour.plain]
    progress.note("PyTorch's own index could not provide it either. The plain build of the package index follows:")
    progress.note(f"{plain.cost}. It runs on this computer. Ctrl-C stops it.")
    return plain

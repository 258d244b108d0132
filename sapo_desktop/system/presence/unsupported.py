"""Which settings this computer cannot keep, and why: something is not reported here, or not possible for a program.

Checked at each call, because a desktop session, a service or a driver may start after the node.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection

from sapo_desktop.core import settings_file
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.system.desktop import awake
from sapo_desktop.system.hardware import gpus
from sapo_desktop.system.presence import sensors
from sapo_desktop.system.presence.idle import CannotTell, Idle


def unsupported(keys: Collection[str]) -> dict[str, Text]:
    """The reason for each of these settings that cannot be kept here. May take seconds if a service does not answer."""
    found: dict[str, Text] = {}
    for bound, look in _LOOKS.items():
        asked = [key for key in bound if key in keys]
        if asked and (reason := look()):
            found |= dict.fromkeys(asked, reason)
    return found


def asked_in_vain(settings: Settings, keys: Collection[str]) -> dict[str, Text]:
    """Like `unsupported`, only for settings that ask something of the computer; defaults and "off" do not."""
    nothing = {key: (settings_file.describe(key).default, 0, "continue") for key in LOOKED_AT.intersection(keys)}
    return unsupported([key for key, values in nothing.items() if getattr(settings, key) not in values])


def _idle() -> Text:
    with contextlib.closing(Idle()) as idle:
        try:
            idle.seconds()
        except CannotTell as error:
            return error.text
    return ""


def _heat() -> Text:
    if sensors.degrees() is not None:
        return ""
    return sentence(
        "This computer reports no temperature of its processor or card, so the node cannot pause for "
        "it. Fewer threads, or a smaller share of their time, keep it cooler."
    )


def _card() -> Text:
    if gpus():
        return ""
    return sentence(
        "No NVIDIA graphics card with a driver was found, and other cards cannot be checked. If "
        "there is one, install its driver."
    )


def _link() -> Text:
    if sensors.is_metered() is not None:
        return ""
    return sentence("This computer cannot detect a metered connection, so no connection counts as metered.")


def _awake() -> Text:
    if awake.can_hold():
        return ""
    return sentence(
        "The app cannot keep this computer awake, so it may go to sleep, unless its power settings prevent that."
    )


_LOOKS: dict[tuple[str, ...], Callable[[], Text]] = {
    ("when_in_use",): _idle,
    ("hottest",): _heat,
    ("card_memory_most",): _card,
    ("on_metered",): _link,
    ("keep_awake",): _awake,
}
LOOKED_AT = frozenset(key for keys in _LOOKS for key in keys)
"""Settings that some computer cannot keep."""

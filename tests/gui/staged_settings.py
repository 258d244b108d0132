"""Settings in every state that a row can show, and a worker that checks them as the real one does."""

from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import SettingsError
from sapo_desktop.core.settings import Settings
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.replies import SettingsAre
from sapo_desktop.worker.control.messages.requests import ResetSettings, SetSettings, SetSilo
from tests.gui import scenes
from tests.gui.stage import StageBridge

WAITING = {"model", "temperature", "seed"}


def are(
    settings: Settings,
    waiting: tuple[str, ...] = (),
    overridden: tuple[str, ...] = (),
    wanted: Settings | None = None,
) -> SettingsAre:
    return SettingsAre(
        settings=settings,
        changed=settings_file.changed_keys(settings),
        overridden=list(overridden),
        waiting=list(waiting),
        wanted=wanted,
    )


def a_view() -> View:
    """Four that are changed, one that waits, one that the command line holds."""
    view = scenes.a_view(
        scenes.silo_curve(), share=True, threads=3, proxy="socks5h://me:secret@host:1080", model="smollm2-135m"
    )
    view.take_settings(are(view.settings, ("model",), ("silo",)))
    return view


def stage(bridge: StageBridge) -> None:
    """A worker that takes what it is given, tells at once, and keeps some of it for the next round."""

    def take(settings: Settings, keys: set[str]) -> Ok:
        before = bridge.view.settings
        late = {key for key in keys & WAITING if getattr(settings, key) != getattr(before, key)}
        in_force = settings_file.apply(settings, {key: str(getattr(before, key)) for key in late})
        overridden = bridge.view.settings_are.overridden if bridge.view.settings_are else []
        bridge.changed.emit(bridge.view.take_settings(are(in_force, tuple(sorted(late)), tuple(overridden), settings)))
        return Ok(text="Saved.")

    def change(request: SetSettings) -> Ok | SettingsError:
        try:
            return take(settings_file.apply(bridge.view.settings, request.values), set(request.values))
        except SettingsError as error:
            return error

    def reset(request: ResetSettings) -> Ok:
        keys = request.keys or settings_file.known_keys()
        return take(settings_file.reset(bridge.view.settings, keys), set(keys))

    def silo(request: SetSilo) -> Ok | SettingsError:
        return change(SetSettings(values={"silo": "on" if request.on else "off"}))

    bridge.replies |= {SetSettings: change, ResetSettings: reset, SetSilo: silo}

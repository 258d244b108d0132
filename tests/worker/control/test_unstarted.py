"""Requests to a node that does not run."""

from pathlib import Path

import pytest

from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import NotRunning, SettingsError, UsageError
from sapo_desktop.core.models import Contents, Look
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.worker.control import unstarted
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.models import GetModels, ModelsAre
from sapo_desktop.worker.control.messages.replies import SettingsAre
from sapo_desktop.worker.control.messages.requests import GetSettings, Pause, ResetSettings, SetSettings, SetSilo


async def test_settings_are_kept_for_the_next_start(tmp_path: Path) -> None:
    folder = DataFolder.open(tmp_path)
    await unstarted.answer(folder, SetSettings(values={"model": "other", "threads": "2"}))
    await unstarted.answer(folder, SetSilo(on=False))
    await unstarted.answer(folder, ResetSettings(keys=["threads"]))
    found = await unstarted.answer(folder, GetSettings())
    assert isinstance(found, SettingsAre) and found.changed == ["model", "silo"]
    assert (found.settings.model, found.settings.silo, found.overridden, found.waiting) == ("other", False, [], [])


async def test_a_wrong_value_changes_nothing(tmp_path: Path) -> None:
    with pytest.raises(SettingsError):
        await unstarted.answer(DataFolder.open(tmp_path), SetSettings(values={"threads": "many", "model": "other"}))
    assert unstarted.settings(DataFolder.open(tmp_path)).changed == []


@pytest.mark.parametrize("text", ["colour = 'red'\n", "threads = 'many'\n", "version = 99\n", "seed = = 1\n"])
async def test_a_file_that_is_refused_is_set_aside_for_the_defaults_of_all(tmp_path: Path, text: str) -> None:
    folder = DataFolder.open(tmp_path)
    folder.settings.write_text(text)
    with pytest.raises(SettingsError):
        await unstarted.answer(folder, ResetSettings(keys=["threads"]))
    assert folder.settings.read_text() == text
    reply = await unstarted.answer(folder, ResetSettings(keys=[]))
    (aside,) = tmp_path.glob("settings.damaged-*.toml")
    assert aside.read_text() == text and isinstance(reply, Ok) and aside.name in str(reply.text)
    assert unstarted.settings(folder).changed == []


async def test_models_are_looked_up_where_the_settings_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Look] = []

    async def look(request: Look, *args: object) -> Contents:
        asked.append(request)
        return Contents()

    monkeypatch.setattr(unstarted.librarian, "ask", look)
    folder = DataFolder.open(tmp_path)
    await unstarted.answer(folder, SetSettings(values={"models_folder": str(tmp_path / "elsewhere")}))
    place = str(tmp_path / "elsewhere")
    assert await unstarted.answer(folder, GetModels()) == ModelsAre(folder=place, contents=Contents())
    assert asked == [Look(folder=place)]


async def test_what_only_a_node_can_do_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotRunning):
        await unstarted.answer(DataFolder.open(tmp_path), Pause())


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (SetSettings(values={"theme": "dark"}), False),
        (SetSettings(values={"theme": "dark", "model": "starter"}), True),
        (ResetSettings(keys=["theme"]), False),
        (ResetSettings(keys=[]), True),
        (SetSilo(on=True), True),
        *((SetSettings(values={key: ""}), True) for key in ("models_folder", "peers", "listen", "proxy", "blocked")),
    ],
)
def test_a_start_is_tried_for_what_may_help(request_: SetSettings | ResetSettings | SetSilo, expected: bool) -> None:
    assert unstarted.may_help(request_) == expected


def test_what_is_never_at_fault_are_settings() -> None:
    assert set(settings_file.known_keys()) >= unstarted.NEVER_AT_FAULT


async def test_what_this_computer_or_this_node_cannot_keep_is_refused_or_said(tmp_path: Path) -> None:
    folder = DataFolder.open(tmp_path)
    with pytest.raises(UsageError, match="threads cannot be 1024"):
        await unstarted.answer(folder, SetSettings(values={"threads": "1024"}))
    with pytest.raises(SettingsError, match="model cannot be empty"):
        await unstarted.answer(folder, SetSettings(values={"model": ""}))
    assert unstarted.settings(folder).changed == []
    for key, value in (("model", "nowhere"), ("tasks", "no-such-family"), ("generator", "remote")):
        reply = await unstarted.answer(folder, SetSettings(values={key: value}))
        assert isinstance(reply, Ok) and "A node cannot start with these settings" in str(reply.advice), key
        await unstarted.answer(folder, ResetSettings(keys=[key]))
